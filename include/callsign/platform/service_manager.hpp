#pragma once
// What the service manager that started this process wants to hear: that it serves, that it stops,
// that it is alive. systemd's notification protocol (sd_notify(3)): one datagram for each, to the
// socket that the environment names. Its own documentation keeps that stable for others to speak,
// so it takes no library. Without that socket nothing happens.
//
// What is told is lost rather than waited for: a service manager that does not read must not stop
// who serves.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

namespace callsign::platform {

class service_manager {
  public:
    // Null: that variable is not set.
    using environment = std::function<const char*(const char* name)>;

    // NOTIFY_SOCKET: where to, a path or, with a leading @, an abstract name. WATCHDOG_USEC and
    // WATCHDOG_PID: whether this process is to say that it is alive, and how often.
    explicit service_manager(const environment& variable);

    // An error: it was not told. No service manager is none.
    std::error_code ready() const;
    // Followed by ready().
    std::error_code reloading() const;
    std::error_code stopping() const;
    std::error_code alive() const;

    // It ends a process that has not been alive() for so long; zero: it does not ask.
    std::chrono::microseconds patience() const noexcept { return patience_; }

  private:
    std::error_code tell(std::string_view state) const;

    std::string socket_;  // empty: there is none
    std::chrono::microseconds patience_{0};
};

}  // namespace callsign::platform
