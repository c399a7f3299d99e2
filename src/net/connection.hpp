#pragma once
// A connection's bytes, in clear or through TLS, whichever it is: what reads and writes it is the
// same for both. An AsyncStream.

#include "use_result.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <utility>

namespace callsign::net {

class connection {
  public:
    using tcp_socket = boost::asio::ip::tcp::socket;
    using executor_type = tcp_socket::executor_type;

    explicit connection(tcp_socket socket) : socket_(std::move(socket)) {}
    // TLS holds on to the socket.
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    executor_type get_executor() { return socket_.get_executor(); }
    // To cancel, to close, and to wait; with TLS its bytes are not the client's.
    tcp_socket& socket() noexcept { return socket_; }
    bool is_tls() const noexcept { return tls_.has_value(); }

    // Requires: something has arrived, and TLS has not begun. A record of TLS begins with no
    // letter.
    bool speaks_clear_text() {
        unsigned char first = 0;
        const auto peeked = ::recv(socket_.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
        return peeked == 1 && ((first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z'));
    }

    // Also when there is still something of its to be read.
    bool client_has_gone() {
        tcp_info now{};
        socklen_t size = sizeof now;
        const int failed =
            ::getsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_INFO, &now, &size);
        return failed == 0 && now.tcpi_state != TCP_ESTABLISHED;
    }

    // From here on through TLS.
    boost::asio::awaitable<boost::system::error_code> shake_hands(
        boost::asio::ssl::context& context) {
        tls_.emplace(socket_, context);
        const auto [failed] =
            co_await tls_->async_handshake(boost::asio::ssl::stream_base::server, use_result);
        co_return failed;
    }

    // Tells the client that all was said, so that it knows that nobody cut it short.
    boost::asio::awaitable<void> say_end() {
        if (!tls_) co_return;
        const std::string end = last_record();
        const auto bytes = boost::asio::buffer(end);
        co_await boost::asio::async_write(socket_, bytes, use_result);
    }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return boost::asio::async_initiate<Token, outcome>(
            [this](auto handler, const Buffers& into) {
                if (tls_) return tls_->async_read_some(into, std::move(handler));
                socket_.async_read_some(into, std::move(handler));
            },
            token, buffers);
    }

    template <class Buffers, class Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        return boost::asio::async_initiate<Token, outcome>(
            [this](auto handler, const Buffers& from) {
                if (tls_) return tls_->async_write_some(from, std::move(handler));
                socket_.async_write_some(from, std::move(handler));
            },
            token, buffers);
    }

    // What TLS says last, if it has begun, to be sent by whoever ends the connection. Nothing is
    // read or written through TLS after that.
    std::string last_record() {
        if (!tls_) return {};
        // Asio's own way to end TLS waits for the client to say the same, which many never do.
        BIO* const out = BIO_new(BIO_s_mem());
        SSL_set0_wbio(tls_->native_handle(), out);
        SSL_shutdown(tls_->native_handle());
        char* bytes = nullptr;
        const long size = BIO_get_mem_data(out, &bytes);
        ERR_clear_error();
        return {bytes, static_cast<std::size_t>(size)};
    }

  private:
    using outcome = void(boost::system::error_code, std::size_t);

    tcp_socket socket_;
    std::optional<boost::asio::ssl::stream<tcp_socket&>> tls_;
};

}  // namespace callsign::net
