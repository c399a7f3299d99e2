#include "listen_address.hpp"

namespace callsign::setup {

namespace asio = boost::asio;
using asio::ip::tcp;

tcp::endpoint to_endpoint(const std::string& listen) {
    const auto colon = listen.rfind(':');
    std::string host = listen.substr(0, colon);
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    return {asio::ip::make_address(host),
            static_cast<std::uint16_t>(std::stoul(listen.substr(colon + 1)))};
}

std::string to_url(const asio::ip::address& address, std::uint16_t port, bool tls) {
    const std::string host =
        address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
    return (tls ? "https://" : "http://") + host + ":" + std::to_string(port);
}

std::string local_url(const tcp::endpoint& at, bool tls) {
    if (!at.address().is_unspecified()) return to_url(at.address(), at.port(), tls);
    if (at.address().is_v4()) return to_url(asio::ip::address_v4::loopback(), at.port(), tls);
    return to_url(asio::ip::address_v6::loopback(), at.port(), tls);
}

}  // namespace callsign::setup
