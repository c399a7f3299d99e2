#include "log_line.hpp"

#include <callsign/base/text.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace callsign::platform {
namespace {

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

// load_config lets no other words through.
spdlog::level::level_enum to_spdlog(std::string_view name) {
    if (name == "debug") return spdlog::level::debug;
    if (name == "info") return spdlog::level::info;
    if (name == "warn") return spdlog::level::warn;
    return spdlog::level::err;
}

spdlog::level::level_enum to_spdlog(log_level level) {
    return to_spdlog(name_of(level));
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

class stderr_logger final : public logger {
  public:
    explicit stderr_logger(const log_options& options)
        : json_(options.format == "json"),
          out_("callsign", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
        out_.set_pattern("%v");
        out_.set_level(to_spdlog(options.level));
        out_.flush_on(spdlog::level::debug);
    }

    void log(log_level level, std::string_view event,
             std::initializer_list<log_field> fields) override {
        if (!enabled(level)) return;
        const auto now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
        const log_entry entry{now, level, event, fields};
        const std::string line = json_ ? json_line(entry) : text_line(entry);
        out_.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
    }

    bool enabled(log_level level) const noexcept override {
        return out_.should_log(to_spdlog(level));
    }

  private:
    bool json_;
    spdlog::logger out_;
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
    line.append(" ").append(name_of(entry.level)).append(" ").append(entry.event);
    for (const auto& [name, value] : entry.fields) {
        line.append(" ").append(name).append("=");
        line += is_plain(value) ? value : json_string(value);
    }
    return line;
}

std::string json_line(const log_entry& entry) {
    std::string line = "{\"time\":\"" + to_rfc3339(entry.at);
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
