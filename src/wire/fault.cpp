#include "fault.hpp"

#include <algorithm>

namespace callsign::wire {
namespace {

constexpr std::size_t shown_name_bytes_max = 64;

}  // namespace

void add_error(field_errors& found, field_error fault, std::size_t most) {
    if (found.size() >= most) return;
    const bool named = std::any_of(found.begin(), found.end(),
                                   [&](const field_error& f) { return f.field == fault.field; });
    if (named && !fault.field.empty()) return;
    found.push_back(std::move(fault));
}

void add_too_many_values(field_errors& found, std::size_t values, std::size_t most) {
    add_error(found,
              {"", "too-many", "The body must have at most " + std::to_string(values) + " values."},
              most);
}

// Never cuts inside of a character: in UTF-8 continuation bytes are 10xxxxxx.
std::string_view shortened(std::string_view name) noexcept {
    if (name.size() <= shown_name_bytes_max) return name;
    std::size_t end = shown_name_bytes_max;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
    return name.substr(0, end);
}

}  // namespace callsign::wire
