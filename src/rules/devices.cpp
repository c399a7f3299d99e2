// Devices of managed accounts.

#include "device_rejection.hpp"
#include "once.hpp"
#include "resolve.hpp"
#include "resync.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/secrets.hpp>
#include <callsign/rules/rules.hpp>

#include <algorithm>

namespace callsign::rules {

std::optional<create_device::answer> rejection_of(read_tx& tx, const create_device& c) {
    const auto owner = accounts::find(tx, c.account);
    if (!owner) return no_such_account{};
    if (owner->mode == account_mode::opaque) return account_is_opaque{};
    if (owner->is_remote) return account_is_remote{};
    // A revoked device keeps its client ID for ever: data it encrypted must not pass for another's.
    if (devices::find(tx, c.client_id)) return client_id_taken{};
    auto active = devices::of(tx, c.account);
    std::erase_if(active, [](const device& d) { return d.revoked_at.has_value(); });
    const auto named = [&](const device& d) { return d.name == c.name; };
    if (std::any_of(active.begin(), active.end(), named)) return name_taken{};
    if (active.size() >= c.active_max) return create_device::too_many{};
    return std::nullopt;
}

create_device::answer apply(write_tx& tx, const create_device& c, const moment& m) {
    if (auto known = repeated_device(tx, c.account, c.once)) return *std::move(known);
    if (auto rejected = rejection_of(tx, c)) return std::move(*rejected);
    if (!has_room_to_keep(tx, c.account, c.once, m)) return account_full{};
    devices::put(tx, {.client_id = c.client_id,
                      .account = c.account,
                      .name = c.name,
                      .sealed_key = c.sealed_key,
                      .created_at = m.now});
    m.tell(events::device_created{c.account, c.client_id});
    device made = *devices::find(tx, c.client_id);
    keep_outcome(tx, c.account, c.once, made.id.value, 0, m);
    return made;
}

revoke_device::answer apply(write_tx& tx, const revoke_device& c, const moment& m) {
    const auto owner = resolve(tx, c.account);
    if (!owner) return no_such_account{};
    // The one device of an opaque account holds its client ID; without it no client has access.
    if (owner->mode == account_mode::opaque) return account_is_opaque{};
    auto all = devices::of(tx, owner->id);
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const device& d) { return d.id == c.device; });
    if (found == all.end()) return revoke_device::no_such_device{};
    // Revoking again succeeds and keeps the first revocation time.
    if (!found->revoked_at) {
        devices::revoke(tx, c.device, m.now);
        found->revoked_at = m.now;
        m.tell(events::device_revoked{owner->id, found->client_id});
        const bool was_missing = found->resync && found->resync->now == resync::state::expected;
        if (was_missing) resume_when_all_are_back(tx, owner->id, m);
    }
    return std::move(*found);
}

reseal::answer apply(write_tx& tx, const reseal& c, const moment& /*unused*/) {
    for (const reseal::secret& each : c.secrets) secrets::reseal(tx, each.was, each.now);
    return {};
}

}  // namespace callsign::rules
