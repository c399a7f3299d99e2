#pragma once
// Encryption secrets in files.

#include "session.hpp"

#include <string>

namespace callsign::cli {

// Returns the secret as in .taskrc (sync.encryption_secret): one line, without its end. "-":
// standard input. The caller wipes it. Throws failure.
std::string read_secret(session& s, const std::string& name);

}  // namespace callsign::cli
