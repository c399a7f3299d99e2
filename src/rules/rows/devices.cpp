#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/devices.hpp>
#include <callsign/rules/rows/devices.hpp>

#include <utility>

namespace callsign::devices {
namespace {

device with_account(device d, const account& owner) {
    d.mode = owner.mode;
    d.state = owner.state;
    d.account_name = owner.name;
    return d;
}

}  // namespace

std::optional<device> find(read_tx& tx, const uuid& client_id) {
    const auto found = tx.get<devices_by_client>(client_id);
    if (!found) return std::nullopt;
    return with_account(*found, *tx.expect<accounts_by_id>(found->account));
}

std::vector<device> of(read_tx& tx, account_id account) {
    std::vector<device> all;
    const auto owner = tx.get<accounts_by_id>(account);
    if (!owner) return all;
    for (const auto& each : tx.all(range_of<devices_by_account>(account))) {
        all.push_back(with_account(*each, *owner));
    }
    return all;
}

device_id put(write_tx& tx, device made) {
    tx.raise_last_moment(made.created_at);
    made.id = device_id{tx.draw(drawn_id::device)};
    made.revoked_at.reset();
    made.resync.reset();
    return tx.put(std::move(made))->id;
}

void revoke(write_tx& tx, device_id id, time_point now) {
    tx.raise_last_moment(now);
    tx.edit(tx.expect<devices_by_id>(id), [&](device& d) { d.revoked_at = now; });
}

void set_resync(write_tx& tx, device_id id, const resync& now) {
    tx.edit(tx.expect<devices_by_id>(id), [&](device& d) { d.resync = now; });
}

void assign_key(write_tx& tx, device_id id, std::string_view name, std::string_view sealed_key) {
    tx.edit(tx.expect<devices_by_id>(id), [&](device& d) {
        d.name = name;
        d.sealed_key = sealed_key;
    });
}

}  // namespace callsign::devices
