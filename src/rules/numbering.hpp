#pragma once
// The one place where a task gets its number.

#include <callsign/rules/rules.hpp>

#include <span>
#include <string_view>

namespace callsign::rules {

// Takes the next number of the series and appends the version that carries `operations`; the
// receipt says which number and which seq these were. Series that never reset have one period, the
// empty one.
receipt take_receipt(write_tx& tx, const series& series, const uuid& task,
                     std::span<const operation> operations, const moment& m);

// A pending slot whose task is there already: the slot is committed, and a task without a number
// gets one now. Returns the receipt this slot gives from now on.
receipt settle_with_existing(write_tx& tx, const slot& pending, const task& existing,
                             const moment& m);

}  // namespace callsign::rules
