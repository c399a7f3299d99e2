#pragma once
// Reads what a request's header says: its route, the forms of its body and answer, and what
// TaskChampion's clients say there.

#include "request_context.hpp"

#include <callsign/api/sync_options.hpp>

namespace callsign::api {

request_head read_head(const net::http_header& header, const sync_options& sync);

}  // namespace callsign::api
