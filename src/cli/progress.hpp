#pragma once
// Shows the progress of a long command on standard error: on a terminal one line that is replaced,
// elsewhere a line now and then.

#include "session.hpp"

#include <string_view>

namespace callsign::cli {

class progress_line {
  public:
    explicit progress_line(const cli_context& around);
    // Clears the line.
    ~progress_line() { clear(); }
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    // Cut to the width of the terminal. Elsewhere printed only if the last line is old enough.
    void show(std::string_view line);
    void clear();

    // Returns the time between two requests for the progress.
    milliseconds between_looks() const noexcept;

  private:
    const cli_context& around_;
    bool is_shown_ = false;
    milliseconds last_;  // last line, or the beginning; if no terminal
};

}  // namespace callsign::cli
