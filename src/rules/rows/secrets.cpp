#include <callsign/ports/tables/webhooks.hpp>
#include <callsign/rules/rows/secrets.hpp>

namespace callsign::secrets {

std::vector<sealed_secret> of(read_tx& tx, secret_kind kind, std::int64_t after,
                              std::int64_t limit) {
    if (kind != secret_kind::webhook_secret) return tx.sealed_secrets(kind, after, limit);
    std::vector<sealed_secret> some;
    for (const auto& w : tx.all(range_of<webhooks_by_id>().after(webhook_id{after}).limit(limit))) {
        some.push_back({kind, w->id.value, w->account, w->uuid, w->sealed_secret});
    }
    return some;
}

bool reseal(write_tx& tx, const sealed_secret& was, std::string_view now) {
    if (was.kind != secret_kind::webhook_secret) return tx.reseal(was, now);
    const auto found = tx.get<webhooks_by_id>(webhook_id{was.row});
    if (!found || found->sealed_secret != was.sealed) return false;
    webhook sealed = *found;
    sealed.sealed_secret = now;
    tx.put(found, std::move(sealed));
    return true;
}

}  // namespace callsign::secrets
