#pragma once
// The operators' program `callsign`: a client of /v1/admin over HTTP. It holds no rules of its own;
// the server decides. Operations on local files are injected.

#include <callsign/ports/local_files.hpp>

#include <functional>

namespace CLI {
class App;
}

namespace callsign::cli {

// Parses the command line, executes it, and returns the exit status: 0 success, 1 failure, 2 usage
// error. Results go to standard output, one sentence for each failure to standard error.
int run(int argc, const char* const* argv, local_files files);

// Passes all commands and options to `to`, for man pages and completions.
void show_definitions(const std::function<void(const CLI::App&)>& to);

}  // namespace callsign::cli
