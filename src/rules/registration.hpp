#pragma once
// Which account a client id opens.

#include <callsign/rules/rules.hpp>

namespace callsign::rules {

// The client's account; an opaque one is made for it if there is none.
account_id registered(write_tx& tx, const uuid& client_id, const moment& m);

// Whether an account's tasks live on another server under this client id, at whatever URL: a second
// one would be a replica of the same chain, and number its tasks again. Reads all accounts that
// live elsewhere, a page at a time: they are few, each is polled all the time.
bool is_client_id_elsewhere(write_tx& tx, const uuid& client_id);

}  // namespace callsign::rules
