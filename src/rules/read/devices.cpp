#include "device_rejection.hpp"
#include "once.hpp"
#include "resolve.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/secrets.hpp>

namespace callsign::rules {

find_device::answer read(read_tx& tx, const find_device& q) {
    return devices::find(tx, q.client_id);
}

list_devices::answer read(read_tx& tx, const list_devices& q) {
    const auto owner = resolve(tx, q.account);
    if (!owner) return no_such_account{};
    if (owner->mode == account_mode::opaque) return account_is_opaque{};
    return page_from(devices::of(tx, owner->id), q.page);
}

find_device_with_key::answer read(read_tx& tx, const find_device_with_key&) {
    for (const account& a : accounts::all(tx)) {
        if (a.mode != account_mode::managed) continue;
        for (device& d : devices::of(tx, a.id)) {
            if (!d.sealed_key.empty() && !d.revoked_at) return std::move(d);
        }
    }
    return std::nullopt;
}

foresee_create_device::answer read(read_tx& tx, const foresee_create_device& q) {
    const auto owner = resolve(tx, q.account);
    if (!owner) return {{}, no_such_account{}};
    if (auto known = repeated_device(tx, owner->id, q.once)) return {owner->id, std::move(known)};
    const create_device wanted{
        .account = owner->id, .name = q.name, .client_id = q.client_id, .sealed_key = {}};
    return {owner->id, rejection_of(tx, wanted)};
}

list_sealed::answer read(read_tx& tx, const list_sealed& q) {
    return secrets::of(tx, q.kind, q.after, q.limit);
}

}  // namespace callsign::rules
