#pragma once
// Tasks that arrived by a sync while their series was held: the sync is not rejected. They have no
// number and no key until the series is resumed, and stay in that series.

#include <callsign/rules/rules.hpp>

#include <cstddef>

namespace callsign::rules {

// Returns whether the task has no number because its series is held.
bool is_held(read_tx& tx, const task& t);

// Returns whether tasks of the series have no number yet.
bool has_unnumbered(read_tx& tx, const series& s);

// Resumes the series. Its unnumbered tasks get the first numbers, in order of arrival, as many as
// `work_left` allows; the sweep (number_tasks) numbers the rest.
void resume(write_tx& tx, series& s, std::size_t& work_left, const moment& m);

// Stores a number that was assigned late. `numbered`: the task with its receipt, as the receipt's
// version leaves it. Commits the slots that wait for the task.
void put_number(write_tx& tx, const task& before, const task& numbered, series_id from,
                const moment& m);

// Returns the receipt of a slot's existing task, or numbers the task if it has none. Commits the
// slot. Requires: the task is not held.
receipt settle_with_existing(write_tx& tx, const slot& pending, const task& existing,
                             const moment& m);

}  // namespace callsign::rules
