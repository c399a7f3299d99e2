#pragma once
// The style of --help texts: an imperative or a noun phrase, without a full stop.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::help {

inline bool is_in_style(std::string_view text) {
    // Words that begin a clause, or refer to the previous line.
    constexpr std::array clauses{"A",    "As",    "How",   "It",   "Its",   "Let", "Nobody",
                                 "Of",   "Only",  "That",  "They", "Those", "To",  "What",
                                 "When", "Where", "Which", "Who",  "Whose"};
    if (text.empty() || text.ends_with('.')) return false;
    if (std::isupper(static_cast<unsigned char>(text.front())) == 0) return false;
    const std::string_view first = text.substr(0, text.find(' '));
    return std::ranges::find(clauses, first) == clauses.end();
}

// Returns the texts of all commands and options that violate this style, with their commands.
inline std::vector<std::string> out_of_style(const CLI::App& app, const std::string& of = {}) {
    std::vector<std::string> wrong;
    const std::string name = of + app.get_name();
    const auto look_at = [&](const std::string& what, const std::string& text) {
        if (!is_in_style(text)) wrong.push_back(what + ": " + text);
    };
    for (const CLI::Option* const each : app.get_options()) {
        look_at(name + " " + each->get_name(), each->get_description());
    }
    for (const CLI::App* const each : app.get_subcommands({})) {
        // An option group has no name, and no line in the help.
        if (!each->get_name().empty())
            look_at(name + " " + each->get_name(), each->get_description());
        const auto more = out_of_style(*each, name + " ");
        wrong.insert(wrong.end(), more.begin(), more.end());
    }
    return wrong;
}

}  // namespace callsign::help
