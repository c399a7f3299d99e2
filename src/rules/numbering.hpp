#pragma once
// How a task comes to its number and its key.

#include <callsign/rules/rules.hpp>

#include <optional>

namespace callsign::rules {

// The next number of the series, as the receipt of `task`; its `seq` is the caller's to fill in.
receipt take_receipt(write_tx& tx, const series& series, const uuid& task, const moment& m);

// An instant as clients write it in attributes: seconds since the epoch.
std::string epoch_text(time_point at);

// The attribute `project`; empty: it has none.
std::string_view project_of(const attributes& all);

// A task's key as people say it today.
std::string current_key(const task& numbered);

// What makes the key attribute of a task hold its key; none: it does, or there is to be none.
std::optional<operation> key_correction(const task& numbered, const attributes& now,
                                        const moment& m);

// The answer of a slot whose task exists already: its receipt as it was given, or a number taken
// now if it has none. The slot is committed.
receipt settle_with_existing(write_tx& tx, const slot& pending, const task& existing,
                             const moment& m);

}  // namespace callsign::rules
