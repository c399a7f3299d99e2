#pragma once
// Why a device cannot be added.

#include <callsign/domain/commands/devices.hpp>
#include <callsign/ports/store.hpp>

#include <optional>

namespace callsign::rules {

// None: it can be. Does not look at `sealed_key`.
std::optional<create_device::answer> refusal_of(read_tx& tx, const create_device& c);

}  // namespace callsign::rules
