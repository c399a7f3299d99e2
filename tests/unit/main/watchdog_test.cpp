#include "main/watchdog.hpp"

#include "support/temp_dir.hpp"
#include "support/virtual_clock.hpp"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/datagram_protocol.hpp>
#include <gtest/gtest.h>
#include <string>

namespace callsign {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio::local::datagram_protocol;

// The network, the writer and sync executors run only when the test runs them.
struct watchdog_test : ::testing::Test {
    testing::temp_dir folder;
    testing::virtual_clock time;
    asio::io_context network;
    asio::io_context writer;
    asio::io_context sync;
    datagram_protocol::socket socket{network,
                                     datagram_protocol::endpoint(folder.path() / "notify")};
    std::string name = folder.path() / "notify";
    const char* timeout = "60000000";
    platform::service_manager manager{[](const char*) -> const char* { return nullptr; }};
    std::unique_ptr<watchdog> dog;

    void start() {
        socket.non_blocking(true);
        manager = platform::service_manager([this](const char* variable) -> const char* {
            const std::string_view asked = variable;
            if (asked == "NOTIFY_SOCKET") return name.c_str();
            return asked == "WATCHDOG_USEC" ? timeout : nullptr;
        });
        dog = std::make_unique<watchdog>(manager, time, network.get_executor(),
                                         writer.get_executor(), sync.get_executor());
        asio::co_spawn(network, dog->run(), asio::detached);
        turn(network);
    }

    static void turn(asio::io_context& executor) {
        executor.poll();
        executor.restart();
    }

    void pass(milliseconds span) {
        while (time.advance_to_next(span)) turn(network);
    }

    // The message that has arrived since the last call; empty if none.
    std::string told() {
        std::array<char, 64> text;
        boost::system::error_code none;
        const std::size_t size = socket.receive(asio::buffer(text), 0, none);
        return none ? "" : std::string(text.data(), size);
    }
};

TEST_F(watchdog_test, notifies_twice_per_timeout) {
    start();
    EXPECT_EQ(told(), "");
    for (int i = 0; i < 3; ++i) {
        const auto next = time.until_next();
        EXPECT_EQ(next, milliseconds{30s});
        time.advance_to_next(30s);
        for (auto* each : {&network, &writer, &network, &sync, &network}) turn(*each);
        EXPECT_EQ(told(), "WATCHDOG=1");
        EXPECT_EQ(told(), "");
    }
}

TEST_F(watchdog_test, does_not_notify_while_the_writer_is_stuck) {
    start();
    pass(1h);
    EXPECT_EQ(told(), "");
    for (auto* each : {&writer, &network, &sync}) turn(*each);
    EXPECT_EQ(told(), "") << "nor while the network executor is stuck";
    turn(network);
    EXPECT_EQ(told(), "WATCHDOG=1") << "a single message, however long that took";
    EXPECT_EQ(told(), "");
}

TEST_F(watchdog_test, does_not_notify_while_a_sync_hangs) {
    start();
    pass(1h);
    for (auto* each : {&writer, &network, &network}) turn(*each);
    EXPECT_EQ(told(), "");
    for (auto* each : {&sync, &network}) turn(*each);
    EXPECT_EQ(told(), "WATCHDOG=1");
}

TEST_F(watchdog_test, ends_when_it_is_stopped) {
    start();
    dog->stop();
    turn(network);
    EXPECT_FALSE(time.until_next());
    EXPECT_EQ(told(), "");
}

TEST_F(watchdog_test, does_nothing_without_a_service_manager) {
    timeout = nullptr;
    start();
    EXPECT_FALSE(time.until_next());
}

}  // namespace
}  // namespace callsign
