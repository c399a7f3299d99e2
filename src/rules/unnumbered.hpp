#pragma once
// Tasks that came by a sync while their series was held: what a device sends is not refused for
// that. They have no number and no key until the series is resumed, and keep that series.

#include <callsign/rules/rules.hpp>

#include <cstddef>

namespace callsign::rules {

// The task has no number, and its series gives none.
bool is_held(read_tx& tx, const task& t);

// Tasks of the series have no number yet.
bool has_unnumbered(read_tx& tx, const series& s);

// The series gives numbers again: first to its unnumbered tasks, in the order in which they came.
// Of them it numbers what `work_left` is for; the rest is the sweep's (number_tasks).
void resume(write_tx& tx, series& s, std::size_t& work_left, const moment& m);

// A task that came without a number has one: `numbered` is it with its receipt, and as the version
// that this names has it. Slots that wait for it hold it.
void put_number(write_tx& tx, const task& before, const task& numbered, series_id from,
                const moment& m);

// The answer of a slot whose task exists already: its receipt as it was given, or a number taken
// now if it has none. The slot is committed. Requires: the task is not held.
receipt settle_with_existing(write_tx& tx, const slot& pending, const task& existing,
                             const moment& m);

}  // namespace callsign::rules
