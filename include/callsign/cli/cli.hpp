#pragma once
// The program `callsign`: what operators type. A client of /v1/admin over HTTP, which holds no rule
// of its own; the server says what is right. What it does with files, main gives it.

#include <callsign/ports/local_files.hpp>

#include <functional>

namespace CLI {
class App;
}

namespace callsign::cli {

// Parses the command line, does what it says, and returns the exit status: 0 done, 1 failed, 2 not
// understood. Answers go to standard output, one sentence on each failure to standard error.
int run(int argc, const char* const* argv, local_files files);

// All its commands and options, to write pages and completions of.
void show_definitions(const std::function<void(const CLI::App&)>& to);

}  // namespace callsign::cli
