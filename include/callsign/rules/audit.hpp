#pragma once
// Verifies the invariants of a store's rows (listed in src/rules/audit/parts.hpp), that every row
// can be read, and that the totals are correct. Pure: uses the port alone, so it fits any backend.
// Backends verify their own checksums and indexes.
//
// Reads every row at most twice, in order: linear in the number of rows. Memory: a few dozen bytes
// per task of one account, 32 per slot, 56 per sealed version, and the tasks of one chain, unless
// that chain is too long to replay.

#include <callsign/domain/findings.hpp>
#include <callsign/ports/store.hpp>

namespace callsign::rules {

// Never throws store_failure: reports rows that cannot be read, and continues. `tx` must not be
// written to meanwhile.
void audit(read_tx& tx, findings& found);

}  // namespace callsign::rules
