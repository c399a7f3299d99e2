#pragma once
// The author of a change.

#include <callsign/base/strong_id.hpp>

#include <variant>

namespace callsign {

// A token or a device of the account; neither: the server itself, or an unrecorded author.
using author = std::variant<std::monostate, token_id, device_id>;

}  // namespace callsign
