#include <callsign/platform/service_manager.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace callsign::platform {
namespace {

std::optional<std::int64_t> read_count(const char* text) {
    if (!text) return std::nullopt;
    const std::string_view digits = text;
    const char* const end = digits.data() + digits.size();
    std::int64_t count = 0;
    const auto read = std::from_chars(digits.data(), end, count);
    if (read.ec != std::errc{} || read.ptr != end || count <= 0) return std::nullopt;
    return count;
}

// The variables may be inherited from a parent that was watched.
bool is_for_this_process(const char* watched_pid) {
    return !watched_pid || read_count(watched_pid) == ::getpid();
}

std::error_code last_error() {
    return {errno, std::generic_category()};
}

}  // namespace

service_manager::service_manager(const environment& variable) {
    if (const char* const named = variable("NOTIFY_SOCKET")) socket_ = named;
    const auto timeout = read_count(variable("WATCHDOG_USEC"));
    if (!socket_.empty() && timeout && is_for_this_process(variable("WATCHDOG_PID"))) {
        patience_ = std::chrono::microseconds{*timeout};
    }
}

std::error_code service_manager::ready() const {
    return tell("READY=1");
}

std::error_code service_manager::reloading() const {
    // Units of Type=notify-reload need the time, to distinguish this reload from an older one.
    timespec since_boot{};
    ::clock_gettime(CLOCK_MONOTONIC, &since_boot);
    const std::chrono::nanoseconds now =
        std::chrono::seconds{since_boot.tv_sec} + std::chrono::nanoseconds{since_boot.tv_nsec};
    const auto usec = std::chrono::floor<std::chrono::microseconds>(now).count();
    return tell("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(usec));
}

std::error_code service_manager::stopping() const {
    return tell("STOPPING=1");
}

std::error_code service_manager::alive() const {
    return tell("WATCHDOG=1");
}

std::error_code service_manager::tell(std::string_view state) const {
    if (socket_.empty()) return {};
    sockaddr_un to{};
    if (socket_[0] != '/' && socket_[0] != '@') {
        return std::make_error_code(std::errc::address_family_not_supported);
    }
    if (socket_.size() >= sizeof to.sun_path) {
        return std::make_error_code(std::errc::filename_too_long);
    }
    to.sun_family = AF_UNIX;
    std::copy(socket_.begin(), socket_.end(), to.sun_path);
    if (to.sun_path[0] == '@') to.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());

    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return last_error();
    const ssize_t sent = ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                                  reinterpret_cast<const sockaddr*>(&to), size);
    const std::error_code error = sent < 0 ? last_error() : std::error_code();
    ::close(fd);
    return error;
}

}  // namespace callsign::platform
