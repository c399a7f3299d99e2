#pragma once
// Finds the route of a method and a path. Pure: the route table is in routes.cpp.

#include "shared/route.hpp"

#include <span>
#include <string>
#include <string_view>

namespace callsign::api {

struct routing {
    const api::route* route = nullptr;
    captures captured;        // views of the path
    bool path_known = false;  // without a route: another method exists
};

// Returns the first route of that method and path. HEAD is routed as GET. In a path template, a
// {name} captures one non-empty segment, or its part before what follows in the template.
routing find_route(std::span<const route> table, verb method, std::string_view path);

// Returns the value of Allow for a path: "GET, HEAD, POST".
std::string allowed_methods(std::span<const route> table, std::string_view path);

}  // namespace callsign::api
