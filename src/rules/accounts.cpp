// Accounts and tokens.

#include "once.hpp"
#include "registration.hpp"
#include "resolve.hpp"
#include "room.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rules.hpp>

namespace callsign::rules {

create_account::answer apply(write_tx& tx, const create_account& c, const moment& m) {
    // The client ID comes first: if it is taken, the requested name may be that account's own.
    if (c.client_id && devices::find(tx, *c.client_id)) return client_id_taken{};
    if (accounts::find(tx, c.name)) return name_taken{};
    if (c.remote && is_client_id_remote(tx, c.remote->client_id)) return client_id_taken{};
    const auto mode = c.client_id ? account_mode::opaque : account_mode::managed;
    const account_id id = accounts::put(tx, c.name, m.now, mode);
    if (c.client_id)
        devices::put(tx, {.client_id = *c.client_id, .account = id, .created_at = m.now});
    all_series::put(tx, id, c.prefix, {}, true, m.now);
    if (c.remote) {
        remotes::put(tx, {.account = id,
                          .url = c.remote->url,
                          .client_id = c.remote->client_id,
                          .sealed_key = c.remote->sealed_key});
        m.tell(events::remote_changed{id});
    }
    tokens::put(tx, id, c.token_name, token_scope::write, c.token_hash, m.now);
    m.tell(events::account_created{id, c.client_id});
    return accounts::shown(tx, *accounts::find(tx, id));
}

create_token::answer apply(write_tx& tx, const create_token& c, const moment& m) {
    std::optional<account_id> owner;
    if (c.account) {
        const auto found = resolve(tx, *c.account);
        if (!found) return no_such_account{};
        owner = found->id;
    }
    const account_id payer = owner.value_or(account_id{});
    if (auto known = repeated_token<create_token::answer>(tx, payer, c.once)) {
        return *std::move(known);
    }
    if (owner && !has_room_for_token(tx, *owner, m)) return create_token::too_many_tokens{};
    if (!has_room_to_keep(tx, payer, c.once, m)) return account_full{};
    const token_id id = tokens::put(tx, owner, c.name, c.scope, c.token_hash, m.now, c.expires_at);
    keep_outcome(tx, payer, c.once, id.value, 0, m);
    m.tell(events::token_created{id, owner});
    return *tokens::find(tx, id);
}

revoke_token::answer apply(write_tx& tx, const revoke_token& c, const moment& m) {
    auto found = tokens::find(tx, c.token);
    if (!found || (c.account && found->account != c.account)) return revoke_token::no_such_token{};
    if (found->account && !resolve(tx, *found->account)) return revoke_token::no_such_token{};
    // Revoking again succeeds and keeps the first revocation time.
    if (!found->revoked_at) {
        tokens::revoke(tx, c.token, m.now);
        found->revoked_at = m.now;
        m.tell(events::token_revoked{c.token, found->account});
    }
    return std::move(*found);
}

}  // namespace callsign::rules
