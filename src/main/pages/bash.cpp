// Completion for bash, which shows no help: names and values only.

#include "pages.hpp"

#include <set>

namespace callsign::pages {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
    return out;
}

// The program's own options may follow any command.
std::string pattern_of(const std::string& path, const option& o) {
    return path.empty() ? "*' " + o.name + "'" : "' " + path + " " + o.name + "'";
}

// Returns all options that take a value.
std::string valued_options(const command& program) {
    std::set<std::string> names;
    for (const auto& [path, c] : all_commands(program)) {
        for (const option& o : c->options) {
            if (o.takes != option::kind::flag) names.insert(o.name);
        }
    }
    return joined({names.begin(), names.end()}, " | ");
}

std::string commands_walked(const command& program) {
    std::vector<std::string> patterns;
    for (const auto& [path, c] : all_commands(program)) {
        if (!path.empty()) patterns.push_back("' " + path + "'");
    }
    if (patterns.empty()) return {};
    return "        case \"$path $word\" in\n        " + joined(patterns, " | ") +
           ") path+=\" $word\" ;;\n        esac\n";
}

std::string choices_of(const command& program) {
    std::string out;
    for (const auto& [path, c] : all_commands(program)) {
        for (const option& o : c->options) {
            if (o.choices.empty()) continue;
            out += "    " + pattern_of(path, o) + ") words='" + joined(o.choices, " ") + "' ;;\n";
        }
    }
    return out;
}

std::string files_of(const command& program, option::kind kind, const char* action) {
    std::vector<std::string> patterns;
    for (const auto& [path, c] : all_commands(program)) {
        for (const option& o : c->options) {
            if (o.takes == kind) patterns.push_back(pattern_of(path, o));
        }
    }
    if (patterns.empty()) return {};
    return "    " + joined(patterns, " | ") + ") files=" + action + " ;;\n";
}

std::string words_of(const command& program) {
    std::string out;
    for (const auto& [path, c] : all_commands(program)) {
        std::vector<std::string> commands, options;
        for (const command& each : c->commands) commands.push_back(each.name);
        for (const option& o : c->options) options.push_back(o.name);
        std::string files;
        for (const option& o : c->arguments) {
            if (o.takes == option::kind::file) files = " files=file";
        }
        out += "        '" + (path.empty() ? "" : " " + path) + "') commands='" +
               joined(commands, " ") + "' options='" + joined(options, " ") + "'" + files + " ;;\n";
    }
    return out;
}

}  // namespace

std::string bash_completion(const command& program) {
    std::vector<std::string> everywhere{"--help"};
    for (const option& o : program.options) everywhere.push_back(o.name);
    const std::string valued = valued_options(program);
    return "# Completes " + program.name + ". Written from the program's own definitions.\n_" +
           program.name + R"(() {
    local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
    local path='' is_value='' word index words='' files='' commands='' options=''
    # --option=value comes as three words.
    if [[ $current == '=' ]]; then
        current=''
    elif [[ $option == '=' ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for ((index = 1; index < COMP_CWORD; ++index)); do
        word=${COMP_WORDS[index]}
        if [[ -n $is_value ]]; then
            [[ $word == '=' ]] || is_value=''
            continue
        fi
        case $word in
        )" +
           valued + R"() is_value=yes ;;
        esac
)" + commands_walked(program) +
           R"(    done
    COMPREPLY=()
    case "$path $option" in
)" + choices_of(program) +
           files_of(program, option::kind::file, "file") +
           files_of(program, option::kind::folder, "directory") + R"(    esac
    if [[ -z $words$files ]]; then
        case $option in
        )" +
           valued +
           R"() return ;;
        esac
        case $path in
)" + words_of(program) +
           R"(        esac
        words=$commands
        [[ $current != -* ]] || words="$options )" +
           joined(everywhere, " ") + R"("
    fi
    mapfile -t COMPREPLY < <(compgen ${files:+-A "$files"} -W "$words" -- "$current")
    # It is not there where nothing is completed, as in a test.
    [[ -z $files ]] || compopt -o filenames 2>/dev/null
}
complete -F _)" +
           program.name + " " + program.name + "\n";
}

}  // namespace callsign::pages
