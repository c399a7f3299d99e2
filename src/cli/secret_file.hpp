#pragma once
// A secret of Taskwarriors', in a file.

#include "session.hpp"

#include <string>

namespace callsign::cli {

// As a .taskrc has it (sync.encryption_secret): one line, without its end. "-": standard input. The
// caller's to wipe. Throws failure.
std::string read_secret(session& s, const std::string& name);

}  // namespace callsign::cli
