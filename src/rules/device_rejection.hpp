#pragma once
// Conditions for adding a device.

#include <callsign/domain/commands/devices.hpp>
#include <callsign/ports/store.hpp>

#include <optional>

namespace callsign::rules {

// Returns none if the device can be added. Does not check `sealed_key`.
std::optional<create_device::answer> rejection_of(read_tx& tx, const create_device& c);

}  // namespace callsign::rules
