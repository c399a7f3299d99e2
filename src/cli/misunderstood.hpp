#pragma once
// What is wrong with a command line, in a sentence for people.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace callsign::cli {

// Of words that `app` does not understand: the first command or option that there is not, with the
// nearest that there is; else `otherwise`. With where to read more.
std::string what_is_wrong(const CLI::App& app, const std::vector<std::string>& words,
                          const std::string& otherwise);

}  // namespace callsign::cli
