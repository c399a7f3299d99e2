#pragma once
// The promise, proved on a store: I1, I2, I3, I4 and I6, and that each account has what opens it.
// Pure: asks the port alone, so it holds for any backend; and that every row can be read, and the
// totals are what there is. What a backend keeps beside that (sums, indexes) it proves itself.
//
// Everything is read twice at most, in order: the time is linear in the rows. Kept in memory are a
// few dozen bytes a task of one account, 32 a slot, 56 a sealed version; and the tasks that one
// chain makes, unless it is longer than memory should hold.

#include <callsign/domain/findings.hpp>
#include <callsign/ports/store.hpp>

namespace callsign::rules {

// Throws nothing of the store's: what cannot be read is a fault, and the rest is looked at all the
// same. The transaction should be one that nobody writes in.
void audit(read_tx& tx, findings& found);

}  // namespace callsign::rules
