#pragma once
// The program `callsign`: what operators type. A client of /v1/admin over HTTP, and for `check` a
// reader of a data directory. It holds no rule of its own; the server says what is right.

namespace callsign::cli {

// Parses the command line, does what it says, and returns the exit status: 0 done, 1 failed, 2 not
// understood. Answers go to standard output, one sentence on each failure to standard error.
int run(int argc, const char* const* argv);

}  // namespace callsign::cli
