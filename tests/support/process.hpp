#pragma once
// A child process: start it, read what it says line by line, signal it, wait for its end. Every
// wait is for an event and has a deadline; nothing sleeps. The child has a process group of its
// own, which is killed when the child has ended, and dies with the thread that started it.
//
// Not thread safe: one thread per object. Failures to start throw std::runtime_error.

#include <callsign/base/time.hpp>

#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace callsign::testing {

struct exit_status {
    int code = -1;   // of exit(); -1: a signal ended it
    int signal = 0;  // 0: it exited

    friend bool operator==(const exit_status&, const exit_status&) = default;
};

class process {
  public:
    // `environment` is added to ours; a variable with an empty value is removed.
    explicit process(const std::vector<std::string>& arguments,
                     const std::vector<std::pair<std::string, std::string>>& environment = {});
    // SIGKILL to its group, if it still runs.
    ~process();
    process(process&& other) noexcept;
    process& operator=(process&& other) noexcept;

    pid_t id() const noexcept { return id_; }
    bool running() { return !wait(milliseconds{0}); }

    // The next line of its standard output, without the newline; nullopt: the output ended, or the
    // deadline passed.
    std::optional<std::string> read_line(milliseconds deadline);
    // The rest of its standard output, until it closes it or the deadline passes.
    std::string read_all(milliseconds deadline);
    // All it has written to standard error so far.
    std::string errors() const;

    void signal(int number) const;
    // nullopt: it was still running at the deadline.
    std::optional<exit_status> wait(milliseconds deadline);
    // SIGKILL, and waits for the end.
    exit_status kill();

  private:
    bool read_more(milliseconds deadline);
    void release() noexcept;

    pid_t id_ = -1;
    int pid_fd_ = -1;
    int out_fd_ = -1;
    int err_fd_ = -1;  // a file in memory: a child that says a lot is never held up
    std::string unread_;
    std::optional<exit_status> ended_;
};

struct finished {
    exit_status status;
    std::string out;
    std::string err;
};

// Runs a program to its end; one that outlives the deadline is killed, and its status says so.
finished run(const std::vector<std::string>& arguments, milliseconds deadline,
             const std::vector<std::pair<std::string, std::string>>& environment = {});

}  // namespace callsign::testing
