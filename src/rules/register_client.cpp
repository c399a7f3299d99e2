#include "registration.hpp"

namespace callsign::rules {

register_client::answer apply(write_tx& tx, const register_client& c, const moment& m) {
    const account_id id = registered(tx, c.client_id, m);
    return {*tx.find_account(id), tx.head_of(id)};
}

}  // namespace callsign::rules
