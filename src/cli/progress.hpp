#pragma once
// What takes long on the server, as a terminal is told of it.

#include <callsign/base/time.hpp>

#include <ostream>
#include <string_view>

namespace callsign::cli {

// Between two questions how far it is.
inline constexpr milliseconds between_looks{300};

// One line, which the next one replaces. Empty: none.
inline void show_progress(std::ostream& err, std::string_view line) {
    err << "\r\x1b[K" << line << std::flush;
}

}  // namespace callsign::cli
