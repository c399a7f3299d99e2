#pragma once
// What lists and feeds are narrowed by: the parameters of product.md section 7, which both take.

#include "answers.hpp"

#include <callsign/domain/task_filter.hpp>

#include <array>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace callsign::api {

// Those that may be given more than once.
inline constexpr std::array<std::string_view, 4> repeatable_parameters{"status", "tag", "notTag",
                                                                       "is"};

// The names of all, and of others besides.
std::vector<std::string_view> with_filter_parameters(std::initializer_list<std::string_view> own);

// A fault for each that is wrong.
task_filter read_filter(const query& asked, wire::faults& found);

}  // namespace callsign::api
