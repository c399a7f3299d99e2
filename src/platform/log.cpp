#include "line_output.hpp"
#include "log_line.hpp"

#include <callsign/base/text.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <unistd.h>

namespace callsign::platform {
namespace {

constexpr std::size_t usual_line_bytes = 320;
constexpr std::string_view replacement = "\xEF\xBF\xBD";

std::string_view name_of(log_level level) noexcept {
    switch (level) {
    case log_level::debug: return "debug";
    case log_level::info: return "info";
    case log_level::warn: return "warn";
    case log_level::error: return "error";
    }
    return "error";
}

// load_config accepts no other words.
log_level level_named(std::string_view name) {
    if (name == "debug") return log_level::debug;
    if (name == "info") return log_level::info;
    if (name == "warn") return log_level::warn;
    return log_level::error;
}

void put_escape(std::string& out, unsigned code) {
    constexpr std::string_view hex = "0123456789abcdef";
    out += "\\u00";
    out += hex[code >> 4 & 15];
    out += hex[code & 15];
}

void put_sequence(std::string& out, std::string_view sequence) {
    const auto first = static_cast<std::uint8_t>(sequence[0]);
    if (sequence == "\"" || sequence == "\\") {
        out.append("\\").append(sequence);
    } else if (sequence == "\n") {
        out += "\\n";
    } else if (sequence == "\t") {
        out += "\\t";
    } else if (first < 0x20 || first == 0x7F) {
        put_escape(out, first);
    } else if (first == 0xC2 && static_cast<std::uint8_t>(sequence[1]) < 0xA0) {
        put_escape(out, static_cast<std::uint8_t>(sequence[1]));  // U+0080..U+009F: C1 controls
    } else {
        out += sequence;
    }
}

bool is_plain(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return c > ' ' && c < '\x7F' && c != '"' && c != '=' && c != '\\';
    });
}

// For a slow reader of standard error: some 5,000 lines.
constexpr std::size_t waiting_bytes_max = 1u << 20;
// Before another logger takes over, so that the lines of this one precede its lines.
constexpr milliseconds hand_over{100};

// One for all loggers of the process, so that their lines stay in order.
line_output& standard_error() {
    static line_output out(STDERR_FILENO, waiting_bytes_max);
    return out;
}

class stderr_logger final : public logger {
  public:
    explicit stderr_logger(const log_options& options)
        : json_(options.format == "json"), from_(level_named(options.level)) {}
    ~stderr_logger() override { out_.drain(hand_over); }
    stderr_logger(const stderr_logger&) = delete;
    stderr_logger& operator=(const stderr_logger&) = delete;

    void log(log_level level, std::string_view event,
             std::initializer_list<log_field> fields) override {
        if (!enabled(level)) return;
        if (const auto count = out_.take_left_out()) {
            put(log_level::warn, "log-lines-dropped", {{"count", std::to_string(count)}});
        }
        put(level, event, fields);
    }

    bool enabled(log_level level) const noexcept override { return level >= from_; }

  private:
    void put(log_level level, std::string_view event, std::initializer_list<log_field> fields) {
        const auto now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
        const log_entry entry{now, level, event, fields};
        out_.put(json_ ? json_line(entry) : text_line(entry), level >= log_level::warn);
    }

    bool json_;
    log_level from_;
    line_output& out_ = standard_error();
};

}  // namespace

std::string json_string(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) {
            out += replacement;
        } else {
            put_sequence(out, text.substr(0, length));
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    out += '"';
    return out;
}

std::string text_line(const log_entry& entry) {
    std::string line = to_rfc3339(entry.at);
    line.reserve(usual_line_bytes);
    line.append(" ").append(name_of(entry.level)).append(" ").append(entry.event);
    for (const auto& [name, value] : entry.fields) {
        line.append(" ").append(name).append("=");
        line += is_plain(value) ? value : json_string(value);
    }
    return line;
}

std::string json_line(const log_entry& entry) {
    std::string line = "{\"time\":\"" + to_rfc3339(entry.at);
    line.reserve(usual_line_bytes);
    line.append("\",\"level\":\"").append(name_of(entry.level));
    line.append("\",\"event\":").append(json_string(entry.event));
    for (const auto& [name, value] : entry.fields) {
        line.append(",").append(json_string(name)).append(":").append(json_string(value));
    }
    line += '}';
    return line;
}

std::unique_ptr<logger> make_logger(const log_options& options) {
    return std::make_unique<stderr_logger>(options);
}

}  // namespace callsign::platform
