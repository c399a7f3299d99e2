#pragma once
// The real callsignd on its own data directory: started, killed and restarted on the same port, as
// a service manager would.

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
        // The server may stand by while another one owns its store.
        bool may_stand_by = false;
    };

    // Starts the server, and returns once it has printed its address, or that it stands by. Throws
    // std::runtime_error with its standard error output if the start fails.
    explicit server(options o);

    // Starts it again, on the same port. Requires: it has ended.
    void start();

    std::uint16_t port() const noexcept { return port_; }
    process& child() noexcept { return child_; }
    // Standard output up to and including the line with its address.
    const std::vector<std::string>& banner() const noexcept { return banner_; }
    // The operator token, from the data directory.
    std::string admin_token() const;

  private:
    process spawn() const;
    void await_banner();

    options options_;
    std::atomic<std::uint16_t> port_ = 0;  // clients read it during a restart
    process child_;
    std::vector<std::string> banner_;
};

}  // namespace callsign::testing
