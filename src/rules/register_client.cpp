#include "registration.hpp"

#include <callsign/rules/rows/accounts.hpp>

namespace callsign::rules {

register_client::answer apply(write_tx& tx, const register_client& c, const moment& m) {
    const account_id id = registered(tx, c.client_id, m);
    return {*accounts::find(tx, id), accounts::head_of(tx, id)};
}

}  // namespace callsign::rules
