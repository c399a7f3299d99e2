#pragma once
// Accounts by client ID.

#include <callsign/rules/rules.hpp>

namespace callsign::rules {

// Returns the client's account; creates an opaque one if there is none.
account_id registered(write_tx& tx, const uuid& client_id, const moment& m);

// Returns whether a remote account uses this client ID, at any URL: a second one would be a replica
// of the same chain and number its tasks again. Reads all remote accounts, a page at a time;
// polling keeps their number low.
bool is_client_id_remote(write_tx& tx, const uuid& client_id);

}  // namespace callsign::rules
