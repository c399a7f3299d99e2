#pragma once
// The server's listening address: as configured, as an endpoint, and as a URL.

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

namespace callsign::setup {

// Requires: load_config() has accepted it as ADDRESS:PORT.
boost::asio::ip::tcp::endpoint to_endpoint(const std::string& listen);

std::string to_url(const boost::asio::ip::address& address, std::uint16_t port, bool tls);

// Returns the URL for programs on this host: loopback, if the server listens everywhere.
std::string local_url(const boost::asio::ip::tcp::endpoint& at, bool tls);

}  // namespace callsign::setup
