#pragma once
// Structured logs on standard error, without secrets, tokens and task text.
//
// A separate thread writes the lines, so that callers never wait for the reader. What waits to be
// written is limited; beyond it lines are dropped, the least important first, and counted.

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace callsign::platform {

struct log_options {
    std::string level = "info";   // debug, info, warn, error
    std::string format = "text";  // text, json
    // Level of the line written for each response: info, debug, off.
    std::string requests = "info";
};

enum class log_level { debug, info, warn, error };

using log_field = std::pair<std::string_view, std::string>;

class logger {
  public:
    virtual ~logger() = default;
    // `event`: a short fixed text; values go into fields.
    virtual void log(log_level level, std::string_view event,
                     std::initializer_list<log_field> fields) = 0;
    virtual bool enabled(log_level level) const noexcept = 0;
};

// text: "2026-11-20T12:48:00.123Z info event key=value key="with space""; json: one object a line.
std::unique_ptr<logger> make_logger(const log_options& options);

}  // namespace callsign::platform
