#pragma once
// A program on a pseudo-terminal: types input, and collects all output.
//
// Not thread-safe. Throws std::runtime_error if the start fails.

#include "process.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <poll.h>
#include <pty.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace callsign::testing {

class terminal {
  public:
    // `environment` is added to this process's; a variable with an empty value is removed.
    explicit terminal(const std::vector<std::string>& arguments,
                      const std::vector<std::pair<std::string, std::string>>& environment = {},
                      unsigned short columns = 80) {
        std::vector<char*> words;
        for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
        words.push_back(nullptr);
        winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
        id_ = ::forkpty(&fd_, nullptr, nullptr, &size);
        if (id_ < 0) throw std::runtime_error("no terminal");
        if (id_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::setenv("TERM", "xterm", 1);
            for (const auto& [name, value] : environment) {
                if (value.empty()) {
                    ::unsetenv(name.c_str());
                } else {
                    ::setenv(name.c_str(), value.c_str(), 1);
                }
            }
            ::execv(words[0], words.data());
            ::_exit(127);
        }
    }
    ~terminal() {
        ::close(fd_);
        if (ended_) return;
        ::kill(-id_, SIGKILL);  // forkpty() created a session for it
        ::waitpid(id_, nullptr, 0);
    }
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    // "\x04" is the end of the input.
    void type(std::string_view text) {
        if (::write(fd_, text.data(), text.size()) < 0) throw std::runtime_error("cannot type");
    }

    // Returns the output up to the time `words` appear; all output if they never do.
    std::string await(std::string_view words) {
        while (shown_.find(words) == shown_.npos && read_more()) {
        }
        return shown_;
    }

    // Returns all output, once the program has ended.
    std::string rest() {
        while (read_more()) {
        }
        return shown_;
    }

    // Requires: rest() was called.
    exit_status status() {
        int raw = 0;
        ::waitpid(id_, &raw, 0);
        ended_ = true;
        if (WIFEXITED(raw)) return {WEXITSTATUS(raw), 0};
        return {-1, WTERMSIG(raw)};
    }

  private:
    // Returns false if the program has ended, or the timeout has passed.
    bool read_more() {
        constexpr int patience_ms = 60'000;
        pollfd waiting{fd_, POLLIN, 0};
        if (::poll(&waiting, 1, patience_ms) <= 0) return false;
        std::array<char, 4096> buffer;
        const ssize_t bytes = ::read(fd_, buffer.data(), buffer.size());
        if (bytes <= 0) return false;  // EIO: the program has closed the other end
        shown_.append(buffer.data(), static_cast<std::size_t>(bytes));
        return true;
    }

    int fd_ = -1;
    pid_t id_ = -1;
    bool ended_ = false;
    std::string shown_;
};

}  // namespace callsign::testing
