#pragma once
// The limit of open files, and the connections that it allows.

#include <cstddef>

namespace callsign::setup {

// Raises the soft limit, which is often far below the hard one: each connection is a file. Returns
// the new limit; 0: unknown.
std::size_t raise_open_files_limit();

// Requires: `files_max` is not 0.
std::size_t connections_possible(std::size_t files_max);

}  // namespace callsign::setup
