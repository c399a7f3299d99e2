#pragma once
// The API's description, as served: schema/openapi.yaml, completed by what the route table and the
// problems already say. In the source
//
//     problems: [CODE, ...]     of a response stands for its content: the schema with the status of
//                               these problems, and an example with the first of them, whose detail
//                               is `detail`, or else the description; `unread: true`: it has no
//                               request ID
//     responses                 of an operation omits what follows from its route
//
// Pure.

#include "shared/route.hpp"

#include <span>
#include <string>
#include <string_view>

namespace callsign::api {

// The source, as of the build.
std::string_view openapi_source() noexcept;

// Requires: `source` has the form of schema/openapi.yaml, which a test checks.
std::string complete_openapi(std::string_view source, std::span<const route> routes);

}  // namespace callsign::api
