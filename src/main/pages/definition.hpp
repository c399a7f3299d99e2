#pragma once
// What a program can be told, as its own command line defines it: what man pages and completions
// are written from, so that they say what it does.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace callsign::pages {

struct option {
    enum class kind { flag, text, file, folder };

    std::string name;  // with its dashes; of an argument without: ACCOUNT
    std::string help;
    kind takes = kind::flag;
    std::string value_name;            // TEXT, FILE; empty: it takes none
    std::vector<std::string> choices;  // empty: any value
    bool is_required = false;
};

struct command {
    std::string name;
    std::string help;
    std::vector<option> options;    // beside --help, which all have
    std::vector<option> arguments;  // by their place
    std::vector<command> commands;
};

command definition_of(const CLI::App& app);

// A command with the words that lead to it, without the program's name.
struct placed_command {
    std::string path;  // "account create"; of the program itself: empty
    const command* found;
};

// The program, then its commands, each before those below it. The program outlives them.
std::vector<placed_command> all_commands(const command& program);

}  // namespace callsign::pages
