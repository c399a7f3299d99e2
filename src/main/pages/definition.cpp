#include "definition.hpp"

#include <CLI/CLI.hpp>

namespace callsign::pages {
namespace {

// Parses "TEXT:{read,write,admin}", CLI11's text for IsMember.
std::vector<std::string> choices_in(const std::string& type) {
    std::vector<std::string> all;
    const auto begin = type.find('{');
    const auto end = type.find('}', begin);
    if (begin == type.npos || end == type.npos) return all;
    std::istringstream parts(type.substr(begin + 1, end - begin - 1));
    for (std::string part; std::getline(parts, part, ',');) all.push_back(part);
    return all;
}

option::kind kind_of(const std::string& value_name, const std::string& name) {
    if (value_name == "FILE" || name == "FILE") return option::kind::file;
    if (value_name == "DIR" || name == "DIR") return option::kind::folder;
    return option::kind::text;
}

option option_of(const CLI::Option& from) {
    option made;
    made.help = from.get_description();
    made.is_required = from.get_required();
    made.name = from.get_positional() ? from.get_name(true) : "--" + from.get_lnames().front();
    if (from.get_items_expected_max() == 0) return made;
    const std::string type = from.get_type_name();
    made.value_name = type.substr(0, type.find(':'));
    made.takes = kind_of(made.value_name, made.name);
    made.choices = choices_in(type);
    return made;
}

// A group of options is a command without a name: its options are its parent's.
void add_options(command& to, const CLI::App& from) {
    for (const CLI::Option* const each : from.get_options()) {
        if (each == from.get_help_ptr()) continue;
        auto& list = each->get_positional() ? to.arguments : to.options;
        list.push_back(option_of(*each));
    }
    for (const CLI::App* const each : from.get_subcommands({})) {
        if (each->get_name().empty()) add_options(to, *each);
    }
}

void place(std::vector<placed_command>& all, const std::string& path, const command& c) {
    all.push_back({path, &c});
    for (const command& each : c.commands) {
        place(all, path.empty() ? each.name : path + " " + each.name, each);
    }
}

}  // namespace

command definition_of(const CLI::App& app) {
    command made;
    made.name = app.get_name();
    made.help = app.get_description();
    add_options(made, app);
    for (const CLI::App* const each : app.get_subcommands({})) {
        if (!each->get_name().empty()) made.commands.push_back(definition_of(*each));
    }
    return made;
}

std::vector<placed_command> all_commands(const command& program) {
    std::vector<placed_command> all;
    place(all, "", program);
    return all;
}

}  // namespace callsign::pages
