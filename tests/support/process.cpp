#include "process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <map>
#include <poll.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char** environ;

namespace callsign::testing {
namespace {

using steady_clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

// Returns whether there is data to read, or the other end is closed.
bool await_readable(int fd, steady_clock::time_point until) {
    while (true) {
        const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
        pollfd waiting{fd, POLLIN, 0};
        const int ready = ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
        if (ready > 0) return true;
        if (ready == 0) return false;
        if (errno != EINTR) fail("poll");
    }
}

std::vector<std::string> merged_environment(
    const std::vector<std::pair<std::string, std::string>>& changes) {
    std::map<std::string, std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const auto equals = text.find('=');
        if (equals != std::string::npos) all[text.substr(0, equals)] = text.substr(equals + 1);
    }
    for (const auto& [name, value] : changes) {
        all.erase(name);
        if (!value.empty()) all[name] = value;
    }
    std::vector<std::string> lines;
    lines.reserve(all.size());
    for (const auto& [name, value] : all) lines.emplace_back(name).append("=").append(value);
    return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

// Runs in the child, between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(char* const* arguments, char* const* environment, int out, int err) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Otherwise the child inherits Asio's sockets, and connections that this process closes stay
    // open.
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    const int null = ::open("/dev/null", O_RDONLY);
    if (null >= 0) ::dup2(null, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    ::execvpe(arguments[0], arguments, environment);
    constexpr char text[] = "cannot run the program\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, sizeof text - 1);
    ::_exit(127);
}

}  // namespace

process::process(const std::vector<std::string>& arguments,
                 const std::vector<std::pair<std::string, std::string>>& environment) {
    auto argument_texts = arguments;
    auto environment_texts = merged_environment(environment);
    const auto argument_list = pointers_to(argument_texts);
    const auto environment_list = pointers_to(environment_texts);

    int pipe_fds[2];
    if (::pipe2(pipe_fds, O_CLOEXEC) != 0) fail("pipe");
    out_fd_ = pipe_fds[0];
    err_fd_ = ::memfd_create("stderr", MFD_CLOEXEC);
    id_ = ::fork();
    if (id_ == 0) become(argument_list.data(), environment_list.data(), pipe_fds[1], err_fd_);
    ::close(pipe_fds[1]);
    if (id_ < 0) {
        release();
        fail("fork");
    }
    ::setpgid(id_, id_);  // the child does so, too, to avoid a race
    // By number: glibc 2.36 declares pidfd_open() for C only.
    pid_fd_ = static_cast<int>(::syscall(SYS_pidfd_open, id_, 0));
    if (pid_fd_ < 0) fail("pidfd_open");
}

process::~process() {
    release();
}

process::process(process&& other) noexcept {
    *this = std::move(other);
}

process& process::operator=(process&& other) noexcept {
    if (this == &other) return *this;
    release();
    id_ = std::exchange(other.id_, -1);
    pid_fd_ = std::exchange(other.pid_fd_, -1);
    out_fd_ = std::exchange(other.out_fd_, -1);
    err_fd_ = std::exchange(other.err_fd_, -1);
    unread_ = std::move(other.unread_);
    ended_ = std::exchange(other.ended_, std::nullopt);
    return *this;
}

void process::release() noexcept {
    if (id_ > 0 && !ended_) {
        ::kill(-id_, SIGKILL);
        ::waitpid(id_, nullptr, 0);
    }
    for (int* fd : {&pid_fd_, &out_fd_, &err_fd_})
        if (*fd >= 0) ::close(std::exchange(*fd, -1));
    id_ = -1;
}

std::optional<std::string> process::read_line(milliseconds deadline) {
    const auto until = steady_clock::now() + deadline;
    while (true) {
        const auto end = unread_.find('\n');
        if (end != std::string::npos) {
            std::string line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return line;
        }
        const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
        if (!read_more(left)) return std::nullopt;
    }
}

std::string process::read_all(milliseconds deadline) {
    const auto until = steady_clock::now() + deadline;
    while (read_more(std::chrono::ceil<milliseconds>(until - steady_clock::now()))) {
    }
    return std::exchange(unread_, {});
}

// Returns false if there is no more data, or none in time.
bool process::read_more(milliseconds deadline) {
    if (!await_readable(out_fd_, steady_clock::now() + deadline)) return false;
    std::array<char, 4096> buffer;
    const ssize_t bytes = ::read(out_fd_, buffer.data(), buffer.size());
    if (bytes > 0) unread_.append(buffer.data(), static_cast<std::size_t>(bytes));
    return bytes > 0;
}

std::string process::errors() const {
    std::string text;
    std::array<char, 4096> buffer;
    while (true) {
        const ssize_t bytes =
            ::pread(err_fd_, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
        if (bytes <= 0) return text;
        text.append(buffer.data(), static_cast<std::size_t>(bytes));
    }
}

void process::signal(int number) const {
    // Through the descriptor, which never refers to another process with the same ID.
    ::syscall(SYS_pidfd_send_signal, pid_fd_, number, nullptr, 0);
}

std::optional<exit_status> process::wait(milliseconds deadline) {
    if (ended_) return ended_;
    if (!await_readable(pid_fd_, steady_clock::now() + deadline)) return std::nullopt;
    // Kills its group, too. Before it is reaped, the group ID cannot be reused.
    ::kill(-id_, SIGKILL);
    int raw = 0;
    if (::waitpid(id_, &raw, 0) != id_) fail("waitpid");
    ended_ = WIFEXITED(raw) ? exit_status{WEXITSTATUS(raw), 0} : exit_status{-1, WTERMSIG(raw)};
    return ended_;
}

exit_status process::kill() {
    signal(SIGKILL);
    const auto status = wait(std::chrono::seconds(60));
    if (!status) throw std::runtime_error("a killed process does not end");
    return *status;
}

finished run(const std::vector<std::string>& arguments, milliseconds deadline,
             const std::vector<std::pair<std::string, std::string>>& environment) {
    const auto until = steady_clock::now() + deadline;
    process child(arguments, environment);
    finished done;
    done.out = child.read_all(deadline);
    const auto status = child.wait(std::chrono::ceil<milliseconds>(until - steady_clock::now()));
    done.status = status ? *status : child.kill();
    done.err = child.errors();
    return done;
}

}  // namespace callsign::testing
