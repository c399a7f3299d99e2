#pragma once
// Finds the route of a method and a path. Pure: the route table is in routes.cpp.

#include <array>
#include <boost/beast/http/verb.hpp>
#include <cstddef>
#include <ostream>  // verb.hpp needs it and, in Boost 1.81, does not say so
#include <span>
#include <string>
#include <string_view>

namespace callsign::api {

using boost::beast::http::verb;

constexpr std::size_t captures_max = 2;
using captures = std::array<std::string_view, captures_max>;

// Returns whether `path` matches `path_template`, segment by segment. A {name} captures one
// non-empty segment, still percent-encoded, or its part before what follows in the template.
bool matches(std::string_view path_template, std::string_view path, captures& captured) noexcept;

// Returns whether the path is the route's: by its template, and by the route's check of captures.
template <class Route>
bool is_path_of(const Route& r, std::string_view path, captures& captured) {
    if (!matches(r.path, path, captured)) return false;
    if constexpr (requires { r.fits; }) return r.fits == nullptr || r.fits(captured);
    return true;
}

// HEAD is routed as GET.
constexpr verb routed_method(verb method) noexcept {
    return method == verb::head ? verb::get : method;
}

template <class Route>
struct routing {
    const Route* route = nullptr;
    captures captured;
    bool path_known = false;  // without a route: another method exists
};

// Returns the first route of that method and path. The table is short, and the compiler compares
// lengths first: a walk costs less than one allocation.
template <class Route>
routing<Route> find_route(std::span<const Route> table, verb method, std::string_view path) {
    routing<Route> found;
    method = routed_method(method);
    for (const Route& r : table) {
        if (!is_path_of(r, path, found.captured)) continue;
        found.path_known = true;
        if (r.method != method) continue;
        found.route = &r;
        break;
    }
    return found;
}

// Returns the value of Allow for a path: "GET, HEAD, POST".
template <class Route>
std::string allowed_methods(std::span<const Route> table, std::string_view path) {
    std::string allowed;
    captures unused;
    for (const Route& r : table) {
        if (!is_path_of(r, path, unused)) continue;
        if (!allowed.empty()) allowed += ", ";
        allowed += boost::beast::http::to_string(r.method);
        if (r.method == verb::get) allowed += ", HEAD";
    }
    return allowed;
}

}  // namespace callsign::api
