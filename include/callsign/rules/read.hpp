#pragma once
// Executes queries on a store. Pure and synchronous, as the rules of commands are; writes nothing.
// store_failure passes through.

#include <callsign/domain/query.hpp>
#include <callsign/ports/store.hpp>

namespace callsign::rules {

// Executes a query; one for each, in read/.
#define CALLSIGN_READ(name) name::answer read(read_tx& tx, const name& q);
CALLSIGN_QUERIES(CALLSIGN_READ)
#undef CALLSIGN_READ

}  // namespace callsign::rules
