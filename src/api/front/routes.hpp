#pragma once
// The route table.

#include "contexts.hpp"
#include "shared/route.hpp"

#include <span>

namespace callsign::api {

// The first entry of a path and method applies.
std::span<const route> all_routes() noexcept;

}  // namespace callsign::api
