#include "progress.hpp"

#include "text.hpp"

#include <chrono>

namespace callsign::cli {
namespace {

constexpr milliseconds on_a_terminal{300};
// Enough for a log.
constexpr milliseconds in_a_log = std::chrono::seconds{10};

milliseconds elapsed(const cli_context& around) {
    return around.elapsed ? around.elapsed() : milliseconds{};
}

}  // namespace

progress_line::progress_line(const cli_context& around) : around_(around), last_(elapsed(around)) {}

milliseconds progress_line::between_looks() const noexcept {
    return around_.err_is_terminal ? on_a_terminal : in_a_log;
}

void progress_line::show(std::string_view line) {
    const std::string text = printable(line);
    if (around_.err_is_terminal) {
        // After writing to the last column some terminals begin the next line.
        const std::size_t columns = around_.columns ? around_.columns() : 80;
        around_.err << "\r\x1b[K" << shortened(text, columns > 1 ? columns - 1 : 1) << std::flush;
        is_shown_ = true;
        return;
    }
    const milliseconds now = elapsed(around_);
    if (now - last_ < in_a_log) return;
    last_ = now;
    around_.err << text << std::endl;
}

void progress_line::clear() {
    if (is_shown_) around_.err << "\r\x1b[K" << std::flush;
    is_shown_ = false;
}

}  // namespace callsign::cli
