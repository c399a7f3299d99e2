#include <callsign/net/http.hpp>

#include <boost/beast/websocket/rfc6455.hpp>

namespace callsign::net {

bool http_request::wants_socket() const noexcept {
    return boost::beast::websocket::is_upgrade(*this);
}

std::string_view http_request::path() const noexcept {
    const std::string_view whole(target().data(), target().size());
    return whole.substr(0, whole.find('?'));
}

std::string_view http_request::query() const noexcept {
    const std::string_view whole(target().data(), target().size());
    const std::size_t mark = whole.find('?');
    return mark == std::string_view::npos ? std::string_view() : whole.substr(mark + 1);
}

}  // namespace callsign::net
