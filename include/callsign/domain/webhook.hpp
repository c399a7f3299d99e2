#pragma once
// A webhook: a URL to which an account's changes are posted in order (docs/api.md, Webhooks).

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/feed_place.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

// Why a webhook is disabled.
enum class webhook_end : std::uint8_t {
    by_request = 1,
    failures = 2,        // too many in a row
    gone = 3,            // the receiver returned 410
    cursor_expired = 4,  // its next change is older than the history that is retained
    cursor_unknown = 5,  // the store was restored from a backup
    unreadable = 6,      // its filter or its secret cannot be read any more
};

struct webhook {
    webhook_id id;
    account_id account;
    bool is_closed = false;  // the account is not active; a store leaves it false
    callsign::uuid uuid{};   // its ID in the API
    std::string url;
    std::string filter;  // query parameters as of a feed; empty: all changes
    // Its secrets (seal/webhook_signature.hpp), encrypted with the master key (seal/at_rest.hpp).
    std::string sealed_secret;
    std::optional<time_point> former_until{};  // until then the former secret signs, too
    feed_place after{};                        // delivered up to here
    std::string mark;                          // of the version of `after`
    std::optional<webhook_end> disabled{};
    std::int64_t failures = 0;  // failed attempts since the last successful one
    // Number of edits by the owner. The result of an attempt begun before an edit is ignored.
    std::int64_t edits = 0;
    time_point created_at;
};

// One attempt, as in the delivery log.
struct webhook_delivery {
    std::string id;  // the webhook-id that was sent
    time_point at;
    std::int64_t changes = 0;
    std::int64_t status = 0;  // of the response; 0: none
    std::string error{};      // why there was no response
    bool delivered = false;
    milliseconds took{0};
};

// Attempts retained for each webhook.
inline constexpr std::int64_t webhook_deliveries_kept = 100;

std::string_view to_string(webhook_end why) noexcept;

}  // namespace callsign
