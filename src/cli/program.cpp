#include "program.hpp"

#include "failure.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern "C" char** environ;

namespace callsign::cli {
namespace {

using steady = std::chrono::steady_clock;

class descriptor {
  public:
    explicit descriptor(int fd) noexcept : fd_(fd) {}
    descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    descriptor& operator=(descriptor&&) = delete;
    ~descriptor() { close(); }

    int number() const noexcept { return fd_; }
    void close() noexcept {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

  private:
    int fd_;
};

[[noreturn]] void fail_to(const char* what) {
    throw failure(std::string("cannot ") + what + ": " + std::strerror(errno));
}

std::pair<descriptor, descriptor> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail_to("make a pipe");
    return {descriptor(ends[0]), descriptor(ends[1])};
}

// Appends what is available. Returns false at the end.
bool read_some(int fd, std::string& into) {
    std::array<char, 16'384> buffer;
    const ssize_t bytes = ::read(fd, buffer.data(), buffer.size());
    if (bytes > 0) into.append(buffer.data(), static_cast<std::size_t>(bytes));
    return bytes > 0 || (bytes < 0 && errno == EINTR);
}

void write_to(int fd, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno != EINTR) return;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
}

int await_end(pid_t child) {
    int raw = 0;
    pid_t ended = -1;
    do ended = ::waitpid(child, &raw, 0);
    while (ended < 0 && errno == EINTR);
    // If children's exits are ignored in this process, the status is unknown.
    if (ended < 0) return 128;
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

// ---- from the child process to the waiting one: a letter, and the response or the error ----

constexpr char says_answer = 'a';
constexpr char says_failure = 'f';
constexpr char says_too_late = 'l';

std::string outcome_of(const std::function<http_answer()>& ask) {
    try {
        const http_answer answer = ask();
        return says_answer + std::to_string(answer.status) + '\n' + answer.content_type + '\n' +
               answer.body;
    } catch (const too_late& e) {
        return says_too_late + std::string(e.what());
    } catch (const std::exception& e) {
        return says_failure + std::string(e.what());
    }
}

http_answer read_outcome(std::string_view said) {
    const char kind = said.empty() ? says_failure : said.front();
    if (said.size() < 2) throw failure("the request to the server failed");
    said.remove_prefix(1);
    if (kind == says_too_late) throw too_late(std::string(said));
    if (kind == says_failure) throw failure(std::string(said));
    http_answer answer;
    const auto status_end = said.find('\n');
    const auto type_end = said.find('\n', status_end + 1);
    if (type_end == said.npos) throw failure("the request to the server failed");
    std::from_chars(said.data(), said.data() + status_end, answer.status);
    answer.content_type = said.substr(status_end + 1, type_end - status_end - 1);
    answer.body = said.substr(type_end + 1);
    return answer;
}

// Reads to the end. Returns false if the time is over before.
bool read_until(int fd, steady::time_point end, std::string& into) {
    while (true) {
        const auto left = std::chrono::ceil<milliseconds>(end - steady::now()).count();
        pollfd waiting{fd, POLLIN, 0};
        const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
        if (ready == 0) return false;
        if (ready > 0 && !read_some(fd, into)) return true;
        if (ready < 0 && errno != EINTR) fail_to("wait for an answer");
    }
}

}  // namespace

finished_program run_program(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    auto [reading, writing] = make_pipe();
    // A file in memory, so that a program with much output never blocks.
    const descriptor errors(::memfd_create("stderr", MFD_CLOEXEC));
    if (errors.number() < 0) fail_to("make a file in memory");

    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, writing.number(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, errors.number(), STDERR_FILENO);
    pid_t child = -1;
    const int error =
        ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw failure("cannot run " + words.front() + ": " + std::strerror(error));
    writing.close();

    finished_program done;
    while (read_some(reading.number(), done.out)) {
    }
    done.status = await_end(child);
    ::lseek(errors.number(), 0, SEEK_SET);
    while (read_some(errors.number(), done.err)) {
    }
    return done;
}

http_answer in_time(milliseconds timeout, const std::function<http_answer()>& ask) {
    const auto end = steady::now() + timeout;
    auto [reading, writing] = make_pipe();
    const pid_t child = ::fork();
    if (child < 0) fail_to("begin to ask");
    if (child == 0) {
        write_to(writing.number(), outcome_of(ask));
        ::_exit(0);  // runs no destructors and flushes nothing
    }
    writing.close();
    std::string said;
    const bool is_whole = read_until(reading.number(), end, said);
    if (!is_whole) ::kill(child, SIGKILL);
    await_end(child);
    if (!is_whole) throw too_late("no response within " + to_duration_text(timeout));
    return read_outcome(said);
}

}  // namespace callsign::cli
