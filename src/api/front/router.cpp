#include "router.hpp"

namespace callsign::api {
namespace {

// Removes the verb of a path, such as :complete, from the end of its last segment. Some clients
// encode the colon.
bool take_verb(std::string_view& segment, std::string_view verb) noexcept {
    if (segment.ends_with(verb)) {
        segment.remove_suffix(verb.size());
        return true;
    }
    if (!verb.starts_with(':') || !segment.ends_with(verb.substr(1))) return false;
    segment.remove_suffix(verb.size() - 1);
    if (!segment.ends_with("%3A") && !segment.ends_with("%3a")) return false;
    segment.remove_suffix(3);
    return true;
}

// Whether a path without captures is this one.
bool is_same(std::string_view path_template, std::string_view path) noexcept {
    const auto colon = path_template.find(':');
    if (path == path_template || colon == std::string_view::npos) return path == path_template;
    return take_verb(path, path_template.substr(colon)) && path == path_template.substr(0, colon);
}

bool matches(std::string_view path_template, std::string_view path, captures& captured) noexcept {
    std::size_t count = 0;
    for (;;) {
        const auto brace = path_template.find('{');
        if (brace == std::string_view::npos) return is_same(path_template, path);
        if (path.substr(0, brace) != path_template.substr(0, brace)) return false;
        path.remove_prefix(brace);
        path_template.remove_prefix(path_template.find('}') + 1);
        std::string_view segment = path.substr(0, path.find('/'));
        // The rest of the segment, such as the verb of {ref}:complete.
        const auto verb = path_template.substr(0, path_template.find('/'));
        const std::size_t whole = segment.size();
        if (!take_verb(segment, verb)) return false;
        const std::size_t taken = whole - segment.size();
        if (segment.empty() || count == captured.size()) return false;
        captured[count++] = segment;
        path.remove_prefix(segment.size());
        if (taken > 0) {
            path.remove_prefix(taken);
            path_template.remove_prefix(verb.size());
        }
    }
}

bool is_path_of(const route& r, std::string_view path, captures& captured) {
    return matches(r.path, path, captured) && (r.fits == nullptr || r.fits(captured));
}

}  // namespace

// The table is short, and the first characters differ early: a walk costs less than one allocation.
routing find_route(std::span<const route> table, verb method, std::string_view path) {
    routing found;
    const verb routed = method == verb::head ? verb::get : method;
    for (const route& r : table) {
        if (!is_path_of(r, path, found.captured)) continue;
        found.path_known = true;
        if (r.method != routed) continue;
        found.route = &r;
        break;
    }
    return found;
}

std::string allowed_methods(std::span<const route> table, std::string_view path) {
    std::string allowed;
    captures unused;
    for (const route& r : table) {
        if (!is_path_of(r, path, unused)) continue;
        if (!allowed.empty()) allowed += ", ";
        allowed += boost::beast::http::to_string(r.method);
        if (r.method == verb::get) allowed += ", HEAD";
    }
    return allowed;
}

}  // namespace callsign::api
