#pragma once
// A child process: start it, read its output line by line, send signals, wait for its end. Every
// wait is for an event and has a deadline; nothing sleeps. The child has its own process group,
// which is killed when the child has ended, and dies with the thread that started it.
//
// Not thread-safe: one thread per object. Throws std::runtime_error if the start fails.

#include <callsign/base/time.hpp>

#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace callsign::testing {

struct exit_status {
    int code = -1;   // of exit(); -1: ended by a signal
    int signal = 0;  // 0: exited

    friend bool operator==(const exit_status&, const exit_status&) = default;
};

class process {
  public:
    // `environment` is added to this process's; a variable with an empty value is removed.
    explicit process(const std::vector<std::string>& arguments,
                     const std::vector<std::pair<std::string, std::string>>& environment = {});
    // Sends SIGKILL to its group if it still runs.
    ~process();
    process(process&& other) noexcept;
    process& operator=(process&& other) noexcept;

    pid_t id() const noexcept { return id_; }
    bool running() { return !wait(milliseconds{0}); }

    // Returns the next line of standard output, without the newline; nullopt: the output has ended,
    // or the deadline has passed.
    std::optional<std::string> read_line(milliseconds deadline);
    // Returns the rest of standard output, until it is closed or the deadline passes.
    std::string read_all(milliseconds deadline);
    // Returns all standard error output so far.
    std::string errors() const;

    void signal(int number) const;
    // Returns nullopt if the process still runs at the deadline.
    std::optional<exit_status> wait(milliseconds deadline);
    // Sends SIGKILL, and waits for the end.
    exit_status kill();

  private:
    bool read_more(milliseconds deadline);
    void release() noexcept;

    pid_t id_ = -1;
    int pid_fd_ = -1;
    int out_fd_ = -1;
    int err_fd_ = -1;  // a file in memory: output never blocks the child
    std::string unread_;
    std::optional<exit_status> ended_;
};

struct finished {
    exit_status status;
    std::string out;
    std::string err;
};

// Runs a program to its end; after the deadline it is killed, which its status shows.
finished run(const std::vector<std::string>& arguments, milliseconds deadline,
             const std::vector<std::pair<std::string, std::string>>& environment = {});

}  // namespace callsign::testing
