#include "color.hpp"

namespace callsign::cli {
namespace {

bool has_colors(const cli_context& around, color_choice choice, bool is_terminal) {
    if (choice != color_choice::automatic) return choice == color_choice::always;
    return is_terminal && variable(around, "NO_COLOR").empty() &&
           variable(around, "TERM") != "dumb";
}

const char* begin_of(color as) {
    switch (as) {
    case color::red: return "\x1b[31m";
    case color::yellow: return "\x1b[33m";
    case color::green: return "\x1b[32m";
    case color::bold: return "\x1b[1m";
    }
    return "";
}

}  // namespace

bool colors_out(const cli_context& around, color_choice choice) {
    return has_colors(around, choice, around.out_is_terminal);
}

bool colors_err(const cli_context& around, color_choice choice) {
    return has_colors(around, choice, around.err_is_terminal);
}

std::string colored(bool colors, color as, std::string_view text) {
    if (!colors || text.empty()) return std::string(text);
    return begin_of(as) + std::string(text) + "\x1b[0m";
}

color_choice color_choice_of(std::string_view word) {
    if (word == "always") return color_choice::always;
    return word == "never" ? color_choice::never : color_choice::automatic;
}

}  // namespace callsign::cli
