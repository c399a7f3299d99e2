// Completion for zsh: a function for each command, which calls _arguments.

#include "pages.hpp"

#include <algorithm>

namespace callsign::pages {
namespace {

// For single quotes; `specials` get a backslash.
std::string zsh_escaped(std::string_view text, std::string_view specials) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
            continue;
        }
        if (specials.find(c) != specials.npos) out += '\\';
        out += c;
    }
    return out;
}

std::string function_of(const std::string& program, const std::string& path) {
    std::string name = "_" + program + (path.empty() ? "" : " " + path);
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
}

// Returns the completions of the option's value.
std::string action_of(const option& o) {
    if (o.takes == option::kind::file) return "_files";
    if (o.takes == option::kind::folder) return "_files -/";
    if (o.choices.empty()) return " ";
    std::string words;
    for (const std::string& choice : o.choices) words += (words.empty() ? "" : " ") + choice;
    return "(" + words + ")";
}

void put_zsh_options(std::string& out, const std::vector<option>& options) {
    for (const option& o : options) {
        out += " \\\n        '" + o.name + (o.takes == option::kind::flag ? "" : "=") + "[" +
               zsh_escaped(o.help, "[]:\\") + "]";
        if (o.takes != option::kind::flag) out += ":" + o.value_name + ":" + action_of(o);
        out += "'";
    }
}

void put_arguments(std::string& out, const std::vector<option>& arguments) {
    for (const option& o : arguments) out += " \\\n        ':" + o.name + ":" + action_of(o) + "'";
}

void put_choice_of_command(std::string& out, const std::string& program, const std::string& path,
                           const command& c) {
    out +=
        " \\\n        '1:command:->command' '*::argument:->argument'\n    case $state in\n"
        "    command)\n        commands=(\n";
    for (const command& each : c.commands) {
        out += "            '" + each.name + ":" + zsh_escaped(each.help, ":\\") + "'\n";
    }
    out +=
        "        )\n        _describe -t commands command commands\n        ;;\n"
        "    argument)\n        case $words[1] in\n";
    for (const command& each : c.commands) {
        out += "        " + each.name + ") " +
               function_of(program, path.empty() ? each.name : path + " " + each.name) + " ;;\n";
    }
    out += "        esac\n        ;;\n    esac\n";
}

}  // namespace

std::string zsh_completion(const command& program) {
    std::string out =
        "#compdef " + program.name + "\n# Written from the program's own definitions.\n";
    for (const auto& [path, c] : all_commands(program)) {
        out += "\n" + function_of(program.name, path) + "() {\n";
        out += "    local context state state_descr line\n    typeset -A opt_args\n";
        if (!c->commands.empty()) out += "    local -a commands\n";
        out += c->commands.empty() ? "    _arguments -s" : "    _arguments -s -C";
        put_zsh_options(out, c->options);
        if (!path.empty()) put_zsh_options(out, program.options);
        out += " \\\n        '(-h --help)'{-h,--help}'[Print this help]'";
        put_arguments(out, c->arguments);
        if (c->commands.empty()) {
            out += "\n";
        } else {
            put_choice_of_command(out, program.name, path, *c);
        }
        out += "}\n";
    }
    return out + "\n_" + program.name + " \"$@\"\n";
}

}  // namespace callsign::pages
