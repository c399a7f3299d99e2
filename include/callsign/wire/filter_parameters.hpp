#pragma once
// Filter parameters of lists and feeds (docs/api.md, "Listing tasks").

#include <callsign/domain/task_filter.hpp>
#include <callsign/wire/parameters.hpp>

#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace callsign::wire {

// Parameters that may be repeated.
inline constexpr std::array<std::string_view, 6> repeatable_parameters{
    "status", "tag", "notTag", "priority", "attribute", "is"};

// Returns the names of all filter parameters, and `own`.
std::vector<std::string_view> with_filter_parameters(std::initializer_list<std::string_view> own);

// Adds an error for each invalid parameter.
task_filter read_filter(const parameters& asked, field_errors& found);

// As read_filter(), for a feed; none: the parameters have no filter.
std::optional<task_filter> read_feed_filter(const parameters& asked, field_errors& found);

}  // namespace callsign::wire
