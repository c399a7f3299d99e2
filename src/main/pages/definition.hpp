#pragma once
// A program's commands and options, as its own command line defines them. Man pages and completions
// are generated from this, so that they match the program.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace callsign::pages {

struct option {
    enum class kind { flag, text, file, folder };

    std::string name;  // with dashes; an argument has none: ACCOUNT
    std::string help;
    kind takes = kind::flag;
    std::string value_name;            // TEXT, FILE; empty: no value
    std::vector<std::string> choices;  // empty: any value
    bool is_required = false;
};

struct command {
    std::string name;
    std::string help;
    std::vector<option> options;    // without --help, which all have
    std::vector<option> arguments;  // by position
    std::vector<command> commands;
};

command definition_of(const CLI::App& app);

// A command and the words that lead to it, without the program's name.
struct placed_command {
    std::string path;  // "account create"; of the program itself: empty
    const command* found;
};

// Returns the program, then its commands, parents first. `program` outlives the result.
std::vector<placed_command> all_commands(const command& program);

}  // namespace callsign::pages
