#pragma once
// Where the server listens: as it is configured, as a socket has it, as people and programs write
// it.

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

namespace callsign::setup {

// load_config has seen that it is ADDRESS:PORT.
boost::asio::ip::tcp::endpoint to_endpoint(const std::string& listen);

std::string to_url(const boost::asio::ip::address& address, std::uint16_t port, bool tls);

// Where a program on this machine reaches it: a server that listens everywhere is also here.
std::string local_url(const boost::asio::ip::tcp::endpoint& at, bool tls);

}  // namespace callsign::setup
