#pragma once
// A connection's bytes, unencrypted or through TLS, with the same interface. An AsyncStream.

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
    // Not movable: the TLS stream refers to the socket.
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    executor_type get_executor() { return socket_.get_executor(); }
    // To cancel, to close and to wait; with TLS, not to read or write the client's bytes.
    tcp_socket& socket() noexcept { return socket_; }
    bool is_tls() const noexcept { return tls_.has_value(); }

    // Whether the client has sent plain HTTP: no TLS record begins with a letter. Requires:
    // something has arrived, and TLS has not begun.
    bool speaks_clear_text() {
        unsigned char first = 0;
        const auto peeked = ::recv(socket_.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
        return peeked == 1 && ((first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z'));
    }

    // True even while bytes of the client remain to be read.
    bool client_has_gone() {
        tcp_info now{};
        socklen_t size = sizeof now;
        const int failed =
            ::getsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_INFO, &now, &size);
        return failed == 0 && now.tcpi_state != TCP_ESTABLISHED;
    }

    // Uses TLS from here on.
    boost::asio::awaitable<boost::system::error_code> shake_hands(
        boost::asio::ssl::context& context) {
        tls_.emplace(socket_, context);
        const auto [failed] =
            co_await tls_->async_handshake(boost::asio::ssl::stream_base::server, use_result);
        co_return failed;
    }

    // Sends TLS's close_notify, by which the client can tell that nothing was cut off.
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

    // Returns TLS's close_notify, to be sent by the caller; empty without TLS. Nothing is read or
    // written through TLS afterwards.
    std::string last_record() {
        if (!tls_) return {};
        // Asio's own shutdown waits for the client's close_notify, which many never send.
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
