#pragma once
// Notifies the service manager that this process is ready, reloads, stops or is alive, by systemd's
// protocol (sd_notify(3)): one datagram each, to the socket that the environment names. The
// protocol is documented as stable for independent implementations, so no library is used. Without
// that socket nothing happens.
//
// A notification is dropped rather than waited for: a service manager that does not read must not
// block the server.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

namespace callsign::platform {

class service_manager {
  public:
    // Returns null if the variable is not set.
    using environment = std::function<const char*(const char* name)>;

    // NOTIFY_SOCKET: a path or, with a leading @, an abstract name. WATCHDOG_USEC and WATCHDOG_PID:
    // the watchdog's timeout, and the process that it is for.
    explicit service_manager(const environment& variable);

    // Returns an error if the notification could not be sent. No service manager: no error.
    std::error_code ready() const;
    // Must be followed by ready().
    std::error_code reloading() const;
    std::error_code stopping() const;
    std::error_code alive() const;

    // The service manager ends a process without alive() for this long; zero: no watchdog.
    std::chrono::microseconds timeout() const noexcept { return patience_; }

  private:
    std::error_code tell(std::string_view state) const;

    std::string socket_;  // empty: none
    std::chrono::microseconds patience_{0};
};

}  // namespace callsign::platform
