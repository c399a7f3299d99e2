#include "line_output.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <poll.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

namespace callsign::platform {
namespace {

constexpr milliseconds last_words{1'000};
// Single lines are gathered and written together: waking the thread for each, thousands of times a
// second, would cost most. Important lines are written at once.
constexpr milliseconds gathered_for{10};
constexpr std::size_t gathered_bytes = 64u << 10;

// Returns what could not be written: the reader is gone, or the disk is full.
std::string_view write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            pollfd room{descriptor, POLLOUT, 0};
            ::poll(&room, 1, -1);
        } else if (errno != EINTR) {
            break;
        }
    }
    return bytes;
}

}  // namespace

struct line_output::state {
    const int descriptor;
    const std::size_t bytes_max;
    std::mutex mutex;
    std::condition_variable changed;
    std::string waiting;
    bool gathers = false;  // the thread waits for more lines
    bool hurries = false;  // the thread must not wait
    bool writes = false;   // the thread is writing
    bool stopping = false;
    std::uint64_t left_out = 0;

    state(int to, std::size_t most) : descriptor(to), bytes_max(most) {}

    void run() {
        // Signals are for other threads, and SIGPIPE for lack of a reader must not end the process.
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
        std::string now;
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [this] { return !waiting.empty() || stopping; });
            if (waiting.empty()) return;
            gathers = true;
            changed.wait_for(lock, gathered_for, [this] {
                return hurries || stopping || waiting.size() >= gathered_bytes;
            });
            gathers = hurries = false;
            now.clear();
            now.swap(waiting);
            writes = true;
            lock.unlock();
            const std::string_view lost = write_all(descriptor, now);
            lock.lock();
            left_out += static_cast<std::uint64_t>(std::ranges::count(lost, '\n'));
            writes = false;
            changed.notify_all();
        }
    }

    bool is_done() const { return waiting.empty() && !writes; }
};

line_output::line_output(int descriptor, std::size_t bytes_max)
    : state_(std::make_shared<state>(descriptor, bytes_max)) {
    std::thread([mine = state_] { mine->run(); }).detach();
}

line_output::~line_output() {
    drain(last_words);
    const std::scoped_lock lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_all();
}

bool line_output::put(std::string_view line, bool important) {
    state& s = *state_;
    const std::scoped_lock lock(s.mutex);
    const std::size_t most = important ? s.bytes_max : s.bytes_max / 4 * 3;
    if (s.waiting.size() + line.size() + 1 > most) {
        ++s.left_out;
        return false;
    }
    const bool rests = s.is_done();
    s.waiting.append(line).append("\n");
    s.hurries = s.hurries || important;
    const bool is_due = s.hurries || s.waiting.size() >= gathered_bytes;
    if (rests || (s.gathers && is_due)) s.changed.notify_all();
    return true;
}

std::uint64_t line_output::take_left_out() {
    const std::scoped_lock lock(state_->mutex);
    return std::exchange(state_->left_out, 0);
}

void line_output::drain(milliseconds timeout) {
    std::unique_lock lock(state_->mutex);
    state_->hurries = !state_->waiting.empty();
    state_->changed.notify_all();
    state_->changed.wait_for(lock, timeout, [this] { return state_->is_done(); });
}

}  // namespace callsign::platform
