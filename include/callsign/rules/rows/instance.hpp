#pragma once
// Which store this is.

#include <callsign/ports/store.hpp>

namespace callsign {

uuid instance_of(read_tx& tx);
// It is this one from now on. The ids that people see, of tokens and of actions, go on behind those
// that the lost one may have given since: `ids_of_lost` further.
void put_instance(write_tx& tx, const uuid& id);

}  // namespace callsign
