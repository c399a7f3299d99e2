#pragma once
// How far something is that takes long, on standard error: on a terminal one line that the next one
// replaces, elsewhere a line now and then.

#include "session.hpp"

#include <string_view>

namespace callsign::cli {

class progress_line {
  public:
    explicit progress_line(const surroundings& around);
    // The line goes.
    ~progress_line() { clear(); }
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    // No wider than the terminal. Elsewhere it is printed if the last one was long ago.
    void show(std::string_view line);
    void clear();

    // Between two questions how far it is.
    milliseconds between_looks() const noexcept;

  private:
    const surroundings& around_;
    bool is_shown_ = false;
    milliseconds last_;  // printed, or the beginning; where it is no terminal
};

}  // namespace callsign::cli
