#pragma once
// Devices: the clients that sync. Revoked ones are included.

#include <callsign/domain/device.hpp>
#include <callsign/ports/store.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace callsign::devices {

std::optional<device> find(read_tx& tx, const uuid& client_id);
// In the order of IDs.
std::vector<device> of(read_tx& tx, account_id account);

// Ignores the ID, the fields of the account, `revoked_at` and `resync`. Requires: the client ID is
// unused, and no active device of the account has this name.
device_id put(write_tx& tx, device made);
void revoke(write_tx& tx, device_id id, time_point now);
void set_resync(write_tx& tx, device_id id, const resync& now);
// Requires: the device has no key.
void assign_key(write_tx& tx, device_id id, std::string_view name, std::string_view sealed_key);

}  // namespace callsign::devices
