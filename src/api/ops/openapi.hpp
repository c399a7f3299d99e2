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

// Requires: `source` has the form of schema/openapi.yaml, which a test checks.
std::string complete_openapi(std::string_view source, std::span<const route> routes);

// Returns the description in JSON, for generators of clients: of bodies in several media types only
// application/json. Requires: `yaml` is YAML whose scalars are of the core schema (YAML 1.2 section
// 10.3.2).
std::string openapi_json(const std::string& yaml);

}  // namespace callsign::api
