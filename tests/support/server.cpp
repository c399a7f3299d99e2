#include "server.hpp"

#include <charconv>
#include <fstream>
#include <stdexcept>

namespace callsign::testing {

server::server(options o) : options_(std::move(o)), child_(spawn()) {
    await_banner();
}

void server::start() {
    child_ = spawn();
    await_banner();
}

process server::spawn() const {
    std::vector<std::string> arguments{(options_.program_dir / "callsignd").string(), "--data-dir",
                                       options_.data_dir.string(), "--listen",
                                       "127.0.0.1:" + std::to_string(port_)};
    arguments.insert(arguments.end(), options_.flags.begin(), options_.flags.end());
    return process(arguments, options_.environment);
}

void server::await_banner() {
    constexpr std::string_view sign = "callsignd listening on http";
    constexpr std::string_view standby_sign = "callsignd standing by on http";
    banner_.clear();
    while (const auto line = child_.read_line(options_.start_deadline)) {
        banner_.push_back(*line);
        const bool stands_by = options_.may_stand_by && line->starts_with(standby_sign);
        if (!line->starts_with(sign) && !stands_by) continue;
        const auto colon = line->rfind(':');
        if (colon == std::string::npos) break;
        std::uint16_t port = 0;
        std::from_chars(line->data() + colon + 1, line->data() + line->size(), port);
        port_ = port;
        return;
    }
    throw std::runtime_error("callsignd did not start: " + child_.errors());
}

std::string server::admin_token() const {
    std::ifstream file(options_.data_dir / "admin.token");
    std::string token;
    file >> token;
    return token;
}

}  // namespace callsign::testing
