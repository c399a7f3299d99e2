#include "registration.hpp"

#include <callsign/base/sha256.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/series.hpp>

#include <algorithm>

namespace callsign::rules {
namespace {

// Returns the name of an account that registered itself. It derives from the client ID without
// revealing it: the ID is the client's only credential.
std::string name_for(const uuid& client_id) {
    const std::string_view bytes(reinterpret_cast<const char*>(client_id.data), client_id.size());
    return "client-" + to_hex(bytes_of(sha256({"callsign client name", bytes}))).substr(0, 24);
}

constexpr std::string_view prefix = "TASK";

constexpr std::int64_t remotes_page = 500;

}  // namespace

account_id registered(write_tx& tx, const uuid& client_id, const moment& m) {
    if (const auto known = devices::find(tx, client_id)) return known->account;
    std::string name = name_for(client_id);
    // An operator may have given this name to another account.
    while (accounts::find(tx, name)) name += "-";
    const account_id id = accounts::put(tx, name, m.now, account_mode::opaque);
    all_series::put(tx, id, prefix, {}, true, m.now);
    devices::put(tx, {.client_id = client_id, .account = id, .created_at = m.now});
    m.tell(events::account_created{id, client_id});
    return id;
}

bool is_client_id_remote(write_tx& tx, const uuid& client_id) {
    for (account_id after{};;) {
        const auto some = remotes::some(tx, after, remotes_page);
        if (std::ranges::find(some, client_id, &remote_chain::client_id) != some.end()) return true;
        if (std::ssize(some) < remotes_page) return false;
        after = some.back().account;
    }
}

}  // namespace callsign::rules
