#pragma once
// Who made a change.

#include <callsign/base/strong_id.hpp>

#include <variant>

namespace callsign {

// A token of the account's, or one of its devices; neither: the server itself, or somebody of whom
// nothing was kept.
using author = std::variant<std::monostate, token_id, device_id>;

}  // namespace callsign
