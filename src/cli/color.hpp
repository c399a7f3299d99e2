#pragma once
// The colours of output on a terminal.

#include "session.hpp"

#include <string>
#include <string_view>

namespace callsign::cli {

enum class color { red, yellow, green, bold };

// When to use colours: the value of --color.
enum class color_choice { automatic, always, never };

// Return whether standard output or standard error has colours. `automatic`: only on a terminal,
// unless NO_COLOR is set (no-color.org) or the terminal has none (TERM=dumb).
bool colors_out(const cli_context& around, color_choice choice);
bool colors_err(const cli_context& around, color_choice choice);

// Returns `text`, in that colour if `colors` is true.
std::string colored(bool colors, color as, std::string_view text);

// Parses "auto", "always" or "never".
color_choice color_choice_of(std::string_view word);

}  // namespace callsign::cli
