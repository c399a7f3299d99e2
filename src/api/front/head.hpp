#pragma once
// Reads a request's header: its route, the formats of body and response, and the IDs of
// TaskChampion's clients.

#include "shared/request_context.hpp"

#include <callsign/api/sync_options.hpp>

namespace callsign::api {

std::shared_ptr<const request_head> read_head(const net::http_header& header,
                                              const sync_options& sync);

}  // namespace callsign::api
