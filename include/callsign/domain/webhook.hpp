#pragma once
// A URL that an account's changes are posted to, in their order (product.md section 8).

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/feed_place.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

// Why nothing is posted any more.
enum class webhook_end : std::uint8_t {
    by_request = 1,
    failures = 2,        // too many in a row
    gone = 3,            // its server said so (410)
    cursor_expired = 4,  // it was behind for longer than it is kept how tasks stood
    cursor_unknown = 5,  // the store is a restored one
    unreadable = 6,      // its filter or its secret cannot be read any more
};

struct webhook {
    webhook_id id;
    account_id account;
    bool is_closed = false;  // its account is not active; a store leaves it false
    callsign::uuid uuid{};   // what the API calls it
    std::string url;
    std::string filter;         // as the parameters of a feed; empty: all changes
    std::string sealed_secret;  // at rest (seal/at_rest.hpp)
    feed_place after{};         // everything up to here was delivered
    std::string mark;           // of its version
    std::optional<webhook_end> disabled{};
    std::int64_t failures = 0;  // attempts since the last that did not fail
    // Counts its owner's edits: what an attempt that was begun before one has to say is not heard.
    std::int64_t edits = 0;
    time_point created_at;
};

// One attempt, as the delivery log has it.
struct webhook_delivery {
    std::string id;  // what was sent as its id
    time_point at;
    std::int64_t changes = 0;
    std::int64_t status = 0;  // of the answer; 0: there was none
    std::string error{};      // why there was none
    bool delivered = false;
    milliseconds took{0};
};

// Of each webhook so many attempts are remembered.
inline constexpr std::int64_t webhook_deliveries_kept = 100;

std::string_view to_string(webhook_end why) noexcept;

}  // namespace callsign
