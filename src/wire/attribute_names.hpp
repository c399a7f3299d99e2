#pragma once
// TaskChampion's attribute names for fields of our messages.

#include <callsign/domain/task_faults.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace callsign::wire::names {

inline const std::string tag{tag_start};
inline const std::string dependency{dependency_start};
inline const std::string annotation{annotation_start};

// Whether the name matches [a-z][a-z0-9_.-]*.
inline bool is_well_formed(std::string_view name) noexcept {
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    return !name.empty() && is_lower(name.front()) &&
           std::all_of(name.begin(), name.end(), [&](char c) {
               return is_lower(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
           });
}

// Whether another field or the server itself writes the attribute, so that a client must not set it
// by name. `key_attribute`: the attribute to which the server writes keys; empty: none.
inline bool is_owned(std::string_view name, std::string_view key_attribute) noexcept {
    constexpr std::array<std::string_view, 12> owned{
        "annotations", "depends", "description", "due",  "entry", "modified",
        "priority",    "project", "status",      "tags", "uuid",  "wait"};
    return name == key_attribute || std::find(owned.begin(), owned.end(), name) != owned.end() ||
           name.starts_with(tag) || name.starts_with(dependency) || name.starts_with(annotation);
}

// Whether the attribute has a field of its own, but may also be given by name.
inline bool has_field(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 5> fields{"end", "recur", "scheduled", "start", "until"};
    return std::find(fields.begin(), fields.end(), name) != fields.end();
}

// Returns the attribute's name in a body; for a tag, the name of the list.
inline std::string field_of(std::string_view name, std::string_view key_attribute) {
    if (name.starts_with(tag)) return "tags";
    if (name.starts_with(dependency)) return "depends";
    if (name.starts_with(annotation)) return "annotations";
    const bool is_field = is_owned(name, key_attribute) || has_field(name);
    return is_field ? std::string(name) : "attributes." + std::string(name);
}

}  // namespace callsign::wire::names
