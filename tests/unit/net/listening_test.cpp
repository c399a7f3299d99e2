// A port that the former process still holds is taken as soon as it is free.

#include "net/listening.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace callsign::net {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

class listening : public ::testing::Test {
  protected:
    asio::io_context io_;
    tcp::acceptor former_{io_, {asio::ip::address_v4::loopback(), 0}, true};
    const tcp::endpoint endpoint_ = former_.local_endpoint();
    milliseconds waited_{0};
};

TEST_F(listening, waits_for_a_port_that_is_still_in_use) {
    int pauses = 0;
    const tcp::acceptor mine = listen_on(io_.get_executor(), endpoint_, [&](milliseconds) {
        if (++pauses == 3) former_.close();
    });
    EXPECT_EQ(pauses, 3);
    EXPECT_EQ(mine.local_endpoint(), endpoint_);
}

TEST_F(listening, fails_when_the_port_is_in_use_for_a_second) {
    try {
        listen_on(io_.get_executor(), endpoint_, [&](milliseconds pause) { waited_ += pause; });
        FAIL() << "two sockets listen on one port";
    } catch (const boost::system::system_error& error) {
        EXPECT_EQ(error.code(), asio::error::address_in_use);
    }
    EXPECT_EQ(waited_, std::chrono::seconds{1});
}

TEST_F(listening, fails_at_once_for_an_address_of_another_host) {
    const tcp::endpoint elsewhere(asio::ip::make_address("192.0.2.1"), 0);
    EXPECT_THROW(
        listen_on(io_.get_executor(), elsewhere, [&](milliseconds pause) { waited_ += pause; }),
        boost::system::system_error);
    EXPECT_EQ(waited_, milliseconds{0});
}

}  // namespace
}  // namespace callsign::net
