#pragma once
// The clients that sync. Revoked ones are among them.

#include <callsign/domain/device.hpp>
#include <callsign/ports/store.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace callsign::devices {

std::optional<device> find(read_tx& tx, const uuid& client_id);
// In the order of their ids.
std::vector<device> of(read_tx& tx, account_id account);

// Its id, what is its account's, `revoked_at` and `resync` are ignored. Requires: nobody has this
// client id, and no device of the account that is not revoked has this name.
device_id put(write_tx& tx, device made);
void revoke(write_tx& tx, device_id id, time_point now);
void set_resync(write_tx& tx, device_id id, const resync& now);
// Requires: it has none yet.
void give_key(write_tx& tx, device_id id, std::string_view name, std::string_view sealed_key);

}  // namespace callsign::devices
