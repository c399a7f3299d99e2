#pragma once
// Outcomes of requests with an idempotency key (domain/request_key.hpp).

#include <callsign/domain/request_key.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace callsign::requests {

std::optional<kept_request> find(read_tx& tx, account_id account, std::string_view key);
// Requires: the account has no request with this key.
void put(write_tx& tx, kept_request made);
// Removes up to `limit` requests from before `before`; returns how many.
std::int64_t forget_before(write_tx& tx, time_point before, std::int64_t limit);

}  // namespace callsign::requests
