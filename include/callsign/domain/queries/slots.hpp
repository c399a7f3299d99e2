#pragma once
// Slots, by key and in lists for operators.

#include <callsign/domain/queries/page.hpp>
#include <callsign/domain/retry_times.hpp>
#include <callsign/domain/slot.hpp>
#include <callsign/domain/task.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace callsign {

// The outcome of a creation.
struct find_slot {
    account_id account;
    std::string key;

    struct found {
        callsign::slot slot;
        std::optional<callsign::receipt> receipt;  // set once committed
    };
    using answer = std::optional<found>;
};

struct listed_slot {
    slot_id id;
    callsign::slot slot;
    std::optional<callsign::receipt> receipt;  // set once committed
    std::string account;                       // name of the account
};

struct list_slots {
    page_request page;
    std::optional<slot_state> state;
    std::optional<std::string> account;  // by name; none: all accounts

    using answer = std::optional<page_of<listed_slot>>;  // none: no such account
};

struct count_pending_slots {
    static constexpr std::int64_t counted_max = 10'000;

    struct answer {
        std::int64_t count = 0;  // at most counted_max
        std::optional<time_point> oldest;
    };
};

// The stored observations of a class's retries.
struct find_retry_times {
    account_class accounts = account_class::local;

    using answer = std::optional<retry_record>;  // none: nothing stored yet
};

}  // namespace callsign
