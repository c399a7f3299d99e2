#pragma once
// Structured logs on standard error. No secret, token or task text goes in.
//
// A line is written by a thread of its own: whoever logs never waits for who reads. What waits to
// be written is bounded; beyond it lines are left out, the least important first, and counted.

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace callsign::platform {

struct log_options {
    std::string level = "info";   // debug, info, warn, error
    std::string format = "text";  // text, json
    // At which level a line is written for each request that is answered: info, debug, off.
    std::string requests = "info";
};

enum class log_level { debug, info, warn, error };

using log_field = std::pair<std::string_view, std::string>;

class logger {
  public:
    virtual ~logger() = default;
    // `event` is a few fixed words; what varies goes in fields.
    virtual void log(log_level level, std::string_view event,
                     std::initializer_list<log_field> fields) = 0;
    virtual bool enabled(log_level level) const noexcept = 0;
};

// text: "2026-11-20T12:48:00.123Z info event key=value key="with space""; json: one object a line.
std::unique_ptr<logger> make_logger(const log_options& options);

}  // namespace callsign::platform
