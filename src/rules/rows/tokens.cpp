#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/devices.hpp>
#include <callsign/ports/tables/tokens.hpp>
#include <callsign/rules/rows/tokens.hpp>

#include <utility>

namespace callsign::tokens {

std::optional<principal> find_principal(read_tx& tx, const digest& hash) {
    const auto found = tx.get<tokens_by_hash>(hash);
    if (!found) return std::nullopt;
    const token& t = found->what;
    principal p{.token = t.id,
                .account = t.account,
                .scope = t.scope,
                .expires_at = t.expires_at,
                .revoked = t.revoked_at.has_value(),
                .name = t.name};
    if (!t.account) return p;
    const auto owner = tx.get<accounts_by_id>(*t.account);
    if (!owner) throw_damaged("tokens", t.id.value, "its account does not exist");
    p.mode = owner->mode;
    p.account_name = owner->name;
    p.state = owner->state;
    return p;
}

std::optional<token> find(read_tx& tx, token_id id) {
    const auto found = tx.get<tokens_by_id>(id);
    return found ? std::optional(found->what) : std::nullopt;
}

std::vector<token> of(read_tx& tx, std::optional<account_id> account) {
    std::vector<token> all;
    const auto add = [&](const auto& range) {
        for (const auto& each : tx.all(range)) all.push_back(each->what);
    };
    if (account) {
        add(range_of<tokens_by_account>(*account));
    } else {
        add(range_of<tokens_of_operator>());
    }
    return all;
}

std::int64_t count(read_tx& tx, account_id account) {
    return tx.count(range_of<tokens_by_account>(account));
}

token_id put(write_tx& tx, std::optional<account_id> account, std::string_view name,
             token_scope scope, const digest& hash, time_point now,
             std::optional<time_point> expires_at) {
    tx.raise_last_moment(now);
    const token_id id{tx.draw(drawn_id::token)};
    tx.put(token_row{{.id = id,
                      .account = account,
                      .name = std::string(name),
                      .scope = scope,
                      .created_at = now,
                      .revoked_at = {},
                      .expires_at = expires_at},
                     hash});
    return id;
}

void revoke(write_tx& tx, token_id id, time_point now) {
    tx.raise_last_moment(now);
    tx.edit(tx.expect<tokens_by_id>(id), [&](token_row& t) { t.what.revoked_at = now; });
}

std::int64_t forget_ended(write_tx& tx, account_id account, time_point now, std::int64_t limit) {
    std::int64_t gone = 0;
    tx.scan(range_of<tokens_by_account>(account), [&](const row_of<token_row>& each) {
        if (gone == limit) return false;
        const token& t = each->what;
        if (!t.revoked_at && !(t.expires_at && *t.expires_at <= now)) return true;
        tx.erase(each);
        ++gone;
        return true;
    });
    return gone;
}

std::string name_of(read_tx& tx, const author& by) {
    if (const auto* const token = std::get_if<token_id>(&by)) {
        const auto found = tx.get<tokens_by_id>(*token);
        return found ? found->what.name : std::string();
    }
    if (const auto* const device = std::get_if<device_id>(&by)) {
        const auto found = tx.get<devices_by_id>(*device);
        return found ? found->name : std::string();
    }
    return {};
}

}  // namespace callsign::tokens
