#pragma once
// How many files the process may have open, and how many connections that leaves room for.

#include <cstddef>

namespace callsign::setup {

// Each connection is a file; the soft limit is often far below what the system allows. Returns the
// limit in force; 0: it is not known.
std::size_t raise_open_files_limit();

// Of `files_max` open files, not 0.
std::size_t connections_possible(std::size_t files_max);

}  // namespace callsign::setup
