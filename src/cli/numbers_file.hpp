#pragma once
// A table of tasks with numbers, as CSV (RFC 4180, UTF-8) with the names of its columns in the
// first line: prefix, number, uuid, title, created_at, in any order. Pure.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::cli {

struct numbered_row {
    std::size_t line = 0;  // where it begins, from 1
    std::string prefix;
    std::int64_t number = 0;
    callsign::uuid uuid{};
    std::string title;
    time_point created_at;
};

struct numbers_file {
    std::vector<numbered_row> rows;
    std::vector<std::string> faults;  // a sentence each, with its line; all errors
};

// Duplicate UUIDs are errors.
numbers_file read_numbers_file(std::string_view csv);

}  // namespace callsign::cli
