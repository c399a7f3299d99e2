#pragma once
// The identity of a store.

#include <callsign/ports/store.hpp>

namespace callsign {

uuid instance_of(read_tx& tx);
// Sets the identity after a restore. Advances the IDs of tokens and actions, which users see, by
// `ids_of_lost`: past those that the lost store may have assigned since the backup.
void put_instance(write_tx& tx, const uuid& id);

}  // namespace callsign
