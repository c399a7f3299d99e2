#include "router.hpp"

namespace callsign::api {

bool matches(std::string_view path_template, std::string_view path, captures& captured) noexcept {
    std::size_t count = 0;
    for (;;) {
        const auto brace = path_template.find('{');
        if (brace == std::string_view::npos) return path_template == path;
        if (path.substr(0, brace) != path_template.substr(0, brace)) return false;
        path.remove_prefix(brace);
        path_template.remove_prefix(path_template.find('}') + 1);
        std::string_view segment = path.substr(0, path.find('/'));
        // The rest of the segment, such as the verb of {ref}:complete.
        const auto verb = path_template.substr(0, path_template.find('/'));
        if (!segment.ends_with(verb)) return false;
        segment.remove_suffix(verb.size());
        if (segment.empty() || count == captured.size()) return false;
        captured[count++] = segment;
        path.remove_prefix(segment.size());
    }
}

}  // namespace callsign::api
