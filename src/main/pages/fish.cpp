// Completion for fish: one line for each word, with a condition.

#include "pages.hpp"

#include <set>

namespace callsign::pages {
namespace {

std::string fish_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c;
    }
    return out + "'";
}

std::string line_of(const std::string& program, const std::string& condition, const option& o) {
    std::string out = "complete -c " + program + condition + " -l " + o.name.substr(2);
    if (o.takes == option::kind::text) out += " -x";
    if (o.takes == option::kind::file) out += " -r -F";
    if (o.takes == option::kind::folder) out += " -x -a '(__fish_complete_directories)'";
    if (!o.choices.empty()) {
        std::string words;
        for (const std::string& choice : o.choices) words += (words.empty() ? "" : " ") + choice;
        out += " -a " + fish_quoted(words);
    }
    return out + " -d " + fish_quoted(o.help) + "\n";
}

// Returns a shell function that tests whether the words so far are a command's.
std::string condition_function(const command& program) {
    std::set<std::string> valued;
    std::string paths;
    for (const auto& [path, c] : all_commands(program)) {
        if (!path.empty()) paths += " " + fish_quoted(path);
        for (const option& o : c->options) {
            if (o.takes != option::kind::flag) valued.insert(o.name);
        }
    }
    std::string names;
    for (const std::string& name : valued) names += " " + name;
    return "function __" + program.name + R"(_at
    set -l path
    set -l is_value no
    for word in (commandline -opc)[2..-1]
        if test $is_value = yes
            set is_value no
        else if contains -- $word)" +
           names + R"(
            set is_value yes
        else if contains -- (string join ' ' $path $word))" +
           paths + R"(
            set -a path $word
        end
    end
    set path (string join ' ' $path)
    test "$path" = "$argv"
end
)";
}

}  // namespace

std::string fish_completion(const command& program) {
    const std::string& name = program.name;
    std::string out = "# Written from the program's own definitions.\n";
    if (!program.commands.empty()) out += condition_function(program);
    out += "complete -c " + name + " -f\n";
    out += "complete -c " + name + " -s h -l help -d 'Print this help'\n";
    for (const auto& [path, c] : all_commands(program)) {
        const std::string at = " -n '__" + name + "_at" + (path.empty() ? "" : " " + path) + "'";
        for (const command& each : c->commands) {
            out += "complete -c " + name + at + " -a " + each.name + " -d " +
                   fish_quoted(each.help) + "\n";
        }
        for (const option& o : c->options) out += line_of(name, path.empty() ? "" : at, o);
        for (const option& o : c->arguments) {
            if (o.takes == option::kind::file) out += "complete -c " + name + at + " -F\n";
        }
    }
    return out;
}

}  // namespace callsign::pages
