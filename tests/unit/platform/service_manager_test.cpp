#include "support/temp_dir.hpp"

#include <callsign/platform/service_manager.hpp>

#include <array>
#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace callsign::platform {
namespace {

using namespace std::chrono_literals;
using ::testing::MatchesRegex;

// The socket of a service manager: a datagram socket by name; a leading @ stands for a null byte.
class notify_socket {
  public:
    explicit notify_socket(const std::string& name)
        : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        name.copy(at.sun_path, name.size());
        if (name[0] == '@') at.sun_path[0] = '\0';
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&at), size), 0) << name;
    }
    ~notify_socket() { ::close(fd_); }
    notify_socket(const notify_socket&) = delete;
    notify_socket& operator=(const notify_socket&) = delete;

    // The next message; empty if there is none.
    std::string next() {
        std::array<char, 256> text;
        const ssize_t size = ::recv(fd_, text.data(), text.size(), MSG_DONTWAIT);
        return size < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
    }

  private:
    int fd_;
};

struct service_manager_test : ::testing::Test {
    callsign::testing::temp_dir folder;
    std::string name = folder.path() / "notify";
    std::map<std::string, std::string> variables{{"NOTIFY_SOCKET", name}};

    service_manager opened() {
        return service_manager([this](const char* variable) -> const char* {
            const auto found = variables.find(variable);
            return found == variables.end() ? nullptr : found->second.c_str();
        });
    }
};

TEST_F(service_manager_test, receives_one_state_per_datagram) {
    notify_socket socket(name);
    const service_manager manager = opened();
    EXPECT_FALSE(manager.ready());
    EXPECT_FALSE(manager.reloading());
    EXPECT_FALSE(manager.alive());
    EXPECT_FALSE(manager.stopping());
    EXPECT_EQ(socket.next(), "READY=1");
    EXPECT_THAT(socket.next(), MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
    EXPECT_EQ(socket.next(), "WATCHDOG=1");
    EXPECT_EQ(socket.next(), "STOPPING=1");
    EXPECT_EQ(socket.next(), "");
}

TEST_F(service_manager_test, may_have_an_abstract_name) {
    variables["NOTIFY_SOCKET"] = "@callsign-test-" + std::to_string(::getpid());
    notify_socket socket(variables["NOTIFY_SOCKET"]);
    EXPECT_FALSE(opened().ready());
    EXPECT_EQ(socket.next(), "READY=1");
}

TEST_F(service_manager_test, without_one_nothing_happens) {
    variables = {{"WATCHDOG_USEC", "1000000"}};
    const service_manager manager = opened();
    EXPECT_FALSE(manager.ready());
    EXPECT_FALSE(manager.stopping());
    EXPECT_EQ(manager.timeout(), 0us);
}

TEST_F(service_manager_test, an_unreachable_one_is_an_error) {
    EXPECT_EQ(opened().ready(), std::errc::no_such_file_or_directory);
    variables["NOTIFY_SOCKET"] = "vsock:2:1234";
    EXPECT_EQ(opened().ready(), std::errc::address_family_not_supported);
    variables["NOTIFY_SOCKET"] = "/" + std::string(200, 'x');
    EXPECT_EQ(opened().ready(), std::errc::filename_too_long);
}

TEST_F(service_manager_test, one_that_does_not_read_is_not_waited_for) {
    notify_socket socket(name);
    const service_manager manager = opened();
    std::error_code error;
    for (int i = 0; i < 100'000 && !error; ++i) error = manager.alive();
    EXPECT_EQ(error, std::errc::resource_unavailable_try_again);
}

TEST_F(service_manager_test, sets_the_watchdog_interval) {
    variables["WATCHDOG_USEC"] = "60000000";
    EXPECT_EQ(opened().timeout(), 60s);
    variables["WATCHDOG_PID"] = std::to_string(::getpid());
    EXPECT_EQ(opened().timeout(), 60s);
    variables["WATCHDOG_PID"] = std::to_string(::getpid() + 1);
    EXPECT_EQ(opened().timeout(), 0s) << "the interval is for another process";
    variables.erase("WATCHDOG_PID");
    for (const char* const none : {"", "0", "-5", "5s"}) {
        variables["WATCHDOG_USEC"] = none;
        EXPECT_EQ(opened().timeout(), 0s) << none;
    }
}

}  // namespace
}  // namespace callsign::platform
