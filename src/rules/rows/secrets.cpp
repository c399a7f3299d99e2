#include <callsign/ports/tables/devices.hpp>
#include <callsign/ports/tables/remotes.hpp>
#include <callsign/ports/tables/webhooks.hpp>
#include <callsign/rules/rows/secrets.hpp>

#include <string>

namespace callsign::secrets {
namespace {

template <class Index, class Id>
bool reseal(write_tx& tx, Id id, std::string Index::row::*secret, const std::string& was,
            std::string_view now) {
    const auto found = tx.get<Index>(id);
    if (!found || (*found).*secret != was) return false;
    tx.edit(found, [&](auto& row) { row.*secret = now; });
    return true;
}

}  // namespace

std::vector<sealed_secret> of(read_tx& tx, secret_kind kind, std::int64_t after,
                              std::int64_t limit) {
    std::vector<sealed_secret> some;
    const auto add = [&](std::int64_t row, account_id account, const uuid& of,
                         const std::string& sealed) {
        if (!sealed.empty()) some.push_back({kind, row, account, of, sealed});
        return std::ssize(some) < limit;
    };
    switch (kind) {
    case secret_kind::device_key:
        tx.scan(range_of<devices_by_id>().after(device_id{after}), [&](const auto& d) {
            return add(d->id.value, d->account, d->client_id, d->sealed_key);
        });
        break;
    case secret_kind::webhook_secret:
        tx.scan(range_of<webhooks_by_id>().after(webhook_id{after}), [&](const auto& w) {
            return add(w->id.value, w->account, w->uuid, w->sealed_secret);
        });
        break;
    case secret_kind::remote_key:
        tx.scan(range_of<remotes_by_account>().after(account_id{after}), [&](const auto& r) {
            return add(r->account.value, r->account, r->client_id, r->sealed_key);
        });
        break;
    }
    return some;
}

bool reseal(write_tx& tx, const sealed_secret& was, std::string_view now) {
    switch (was.kind) {
    case secret_kind::device_key:
        return reseal<devices_by_id>(tx, device_id{was.row}, &device::sealed_key, was.sealed, now);
    case secret_kind::webhook_secret:
        return reseal<webhooks_by_id>(tx, webhook_id{was.row}, &webhook::sealed_secret, was.sealed,
                                      now);
    case secret_kind::remote_key:
        return reseal<remotes_by_account>(tx, account_id{was.row}, &remote_chain::sealed_key,
                                          was.sealed, now);
    }
    return false;
}

}  // namespace callsign::secrets
