#pragma once
// Slots, by their keys and as operators see them.

#include <callsign/domain/claim.hpp>
#include <callsign/domain/queries/page.hpp>
#include <callsign/domain/retry_times.hpp>
#include <callsign/domain/slot.hpp>
#include <callsign/domain/task.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace callsign {

// What became of a creation.
struct find_slot {
    account_id account;
    std::string key;

    struct found {
        callsign::slot slot;
        std::optional<callsign::receipt> receipt;  // once committed
    };
    using answer = std::optional<found>;
};
claim claim_of(const find_slot& q);

struct listed_slot {
    slot_id id;
    callsign::slot slot;
    std::optional<callsign::receipt> receipt;  // once committed
    std::string account;                       // its name
};

struct list_slots {
    page_request page;
    std::optional<slot_state> state;
    std::optional<std::string> account;  // by name; none: of all

    using answer = std::optional<page_of<listed_slot>>;  // none: no such account
};
claim claim_of(const list_slots& q);

struct count_pending_slots {
    static constexpr std::int64_t counted_max = 10'000;

    struct answer {
        std::int64_t count = 0;  // no more than the above
        std::optional<time_point> oldest;
    };
};
claim claim_of(const count_pending_slots& q);

// What was kept of a class's retries.
struct find_retry_times {
    account_class accounts = account_class::here;

    using answer = std::optional<retry_record>;  // none: nothing was kept yet
};
claim claim_of(const find_retry_times& q);

}  // namespace callsign
