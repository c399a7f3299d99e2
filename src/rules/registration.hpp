#pragma once
// Which account a client id opens.

#include <callsign/rules/rules.hpp>

namespace callsign::rules {

// The client's account; an opaque one is made for it if there is none.
account_id registered(write_tx& tx, const uuid& client_id, const moment& m);

}  // namespace callsign::rules
