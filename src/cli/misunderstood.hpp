#pragma once
// Explains an invalid command line.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace callsign::cli {

// Returns the first command or option in `words` that does not exist, with the nearest one that
// does, or `otherwise`; then the help to read.
std::string usage_error(const CLI::App& app, const std::vector<std::string>& words,
                        const std::string& otherwise);

}  // namespace callsign::cli
