#pragma once
// Keys that a lost or another store assigned and that return with their tasks, in the key
// attribute.

#include <callsign/rules/rules.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace callsign::rules {

// Maximum distance of a brought number from the series' last one. A larger one is a mistake, and
// would skip all numbers in between.
inline constexpr std::int64_t brought_ahead_max = 1'000'000;

struct brought_number {
    series of;
    std::string prefix;  // from the key; the series may have been renamed
    std::string period;
    std::int64_t number = 0;
};

// Returns the number in `key` if its prefix and period are the account's. Does not check whether a
// task may have it.
std::variant<brought_number, import_tasks::key_fault_kind> number_of_key(write_tx& tx,
                                                                         account_id account,
                                                                         const task_key& key,
                                                                         const moment& m);

// Returns the number in the task's key attribute, if the task may have it. In a held series this is
// any unused number. In other series `imported` is required, and no number may be skipped unless
// gaps are allowed.
std::optional<brought_number> find_brought_number(write_tx& tx, account_id account,
                                                  const attributes& all, bool imported,
                                                  const moment& m);

// Returns the series that would number a new task without a brought key, if it is held.
std::optional<series_held> held_series_for(read_tx& tx, account_id account, const attributes& all);

// Assigns the brought number to the task and skips those before it. The caller fills in the
// receipt's `seq`.
void take_brought_number(write_tx& tx, task& t, const attributes& all, const brought_number& its,
                         const moment& m);

}  // namespace callsign::rules
