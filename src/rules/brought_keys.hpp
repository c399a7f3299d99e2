#pragma once
// Keys that were given by a store that is lost, or by another, and come back with their tasks: in
// the attribute that Callsign itself wrote them to.

#include <callsign/rules/rules.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace callsign::rules {

// How far before a series one may be: what says more than that is a mistake, and would take all
// numbers between from everybody.
inline constexpr std::int64_t brought_ahead_max = 1'000'000;

struct brought_number {
    series of;
    std::string prefix;  // as the key has it: the series may have another by now
    std::string period;
    std::int64_t number = 0;
};

// The number that the key says, of the account's series and its periods. Whether a task may have it
// is not looked at.
std::variant<brought_number, import_tasks::key_fault_kind> number_of_key(write_tx& tx,
                                                                         account_id account,
                                                                         const task_key& key,
                                                                         const moment& m);

// The number that the task's key says, if the task may have it: of a held series, whose numbers are
// not all known, any that is nobody's. `imported`: somebody says that those of other series are to
// be kept, too, who allow it: where no number is left out, or may be.
std::optional<brought_number> find_brought_number(write_tx& tx, account_id account,
                                                  const attributes& all, bool imported,
                                                  const moment& m);

// The series that would number a new task that brings no key, and is held.
std::optional<series_held> held_series_for(read_tx& tx, account_id account, const attributes& all);

// Numbers the task with it. Those left out on the way are nobody's. The receipt's `seq` is the
// caller's to fill in.
void take_brought_number(write_tx& tx, task& t, const attributes& all, const brought_number& its,
                         const moment& m);

}  // namespace callsign::rules
