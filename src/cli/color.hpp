#pragma once
// The few colours that answers have on a terminal.

#include "session.hpp"

#include <string>
#include <string_view>

namespace callsign::cli {

enum class color { red, yellow, green, bold };

// When there are any: what --color says.
enum class color_choice { automatic, always, never };

// On standard output, or on standard error. By itself on a terminal alone, and not where NO_COLOR
// is set (no-color.org) or the terminal has none (TERM=dumb).
bool colors_out(const surroundings& around, color_choice choice);
bool colors_err(const surroundings& around, color_choice choice);

// `text` in that colour, if there are colours.
std::string colored(bool colors, color as, std::string_view text);

// "auto", "always" or "never".
color_choice color_choice_of(std::string_view word);

}  // namespace callsign::cli
