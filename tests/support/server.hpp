#pragma once
// The real callsignd on a data directory of its own: started, killed and started again on the same
// port, as an init system would.

#include "process.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace callsign::testing {

class server {
  public:
    struct options {
        std::filesystem::path program_dir;
        std::filesystem::path data_dir;
        std::vector<std::string> flags;
        std::vector<std::pair<std::string, std::string>> environment;
        milliseconds start_deadline{std::chrono::seconds{30}};
    };

    // Starts it, and returns when it has said where it listens. Throws std::runtime_error, with
    // what it wrote to standard error, if it does not.
    explicit server(options o);

    // Again, on the port it had. Requires: it has ended.
    void start();

    std::uint16_t port() const noexcept { return port_; }
    process& child() noexcept { return child_; }
    // What it said on standard output up to the line with its address, that line included.
    const std::vector<std::string>& banner() const noexcept { return banner_; }
    // The operator's, from the data directory.
    std::string admin_token() const;

  private:
    process spawn() const;
    void await_banner();

    options options_;
    std::atomic<std::uint16_t> port_ = 0;  // clients ask while it is started again
    process child_;
    std::vector<std::string> banner_;
};

}  // namespace callsign::testing
