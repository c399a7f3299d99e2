#pragma once
// Other programs, and work in a child process.

#include "http_client.hpp"

#include <functional>
#include <string>
#include <vector>

namespace callsign::cli {

struct finished_program {
    int status = 0;   // 128 and more: ended by a signal
    std::string out;  // all it wrote to standard output
    std::string err;
};

// Runs a program, found by PATH, to its end, with empty standard input and without a shell. Throws
// failure if it cannot be started.
finished_program run_program(const std::vector<std::string>& words);

// Returns the result of `ask`, or throws failure at most `timeout` from now, whatever takes long:
// `ask` runs in a child process, which is killed then (too_late). A failure of `ask` is thrown
// here; its other side effects stay in the child. Requires: there is one thread.
http_answer in_time(milliseconds timeout, const std::function<http_answer()>& ask);

}  // namespace callsign::cli
