#pragma once
// Other programs, and work in a process of its own.

#include "http_client.hpp"

#include <functional>
#include <string>
#include <vector>

namespace callsign::cli {

struct finished_program {
    int status = 0;   // 128 and more: a signal ended it
    std::string out;  // all it wrote to standard output
    std::string err;
};

// Runs it to its end, found by PATH, with nothing on its standard input and no shell between.
// Throws failure if it cannot be started.
finished_program run_program(const std::vector<std::string>& words);

// What `ask` answers, or a failure no later than `patience` from now, whatever it is that takes
// long: `ask` runs in a process of its own, which is ended then. A failure of it is thrown here;
// too_late if it has not ended. What it changes stays there. Requires: there is one thread.
http_answer in_time(milliseconds patience, const std::function<http_answer()>& ask);

}  // namespace callsign::cli
