// Goal: service managers receive correct notifications: ready, watchdog, reloading, stopping.
// Method: the real program, with a notification socket as systemd provides it.

#include "fixture.hpp"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/datagram_protocol.hpp>
#include <poll.h>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
using asio::local::datagram_protocol;

class service_manager_test : public system_test {
  protected:
    environment given(const std::string& watchdog_usec) const {
        return {{"NOTIFY_SOCKET", temp_path("notify").string()},
                {"WATCHDOG_USEC", watchdog_usec},
                {"WATCHDOG_PID", ""}};
    }

    // Returns the first line of the next notification; empty: none.
    std::string next_told() {
        pollfd waiting{socket_.native_handle(), POLLIN, 0};
        const auto at_most = static_cast<int>(milliseconds{timeout}.count());
        if (::poll(&waiting, 1, at_most) != 1) return "";
        std::array<char, 256> text;
        const std::size_t size = socket_.receive(asio::buffer(text));
        const std::string told(text.data(), size);
        return told.substr(0, told.find('\n'));
    }

  private:
    asio::io_context context_;
    datagram_protocol::socket socket_{context_,
                                      datagram_protocol::endpoint(temp_path("notify").string())};
};

TEST_F(service_manager_test, is_notified_of_start_reload_and_stop) {
    auto s = start({}, given(""));
    EXPECT_EQ(next_told(), "READY=1");
    s->child().signal(SIGHUP);
    EXPECT_EQ(next_told(), "RELOADING=1");
    EXPECT_EQ(next_told(), "READY=1");
    s->child().signal(SIGTERM);
    EXPECT_EQ(next_told(), "STOPPING=1");
    EXPECT_EQ(s->child().wait(timeout), (exit_status{0, 0}));
}

TEST_F(service_manager_test, is_notified_repeatedly_that_the_server_is_alive) {
    auto s = start({}, given("200000"));
    EXPECT_EQ(next_told(), "READY=1");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(next_told(), "WATCHDOG=1");
}

}  // namespace
}  // namespace callsign::testing
