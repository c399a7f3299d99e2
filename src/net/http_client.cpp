#include "use_result.hpp"

#include <callsign/base/errc.hpp>
#include <callsign/net/http_client.hpp>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <tuple>

namespace callsign::net {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using answer_parser = http::response_parser<http::string_body>;

constexpr std::uint32_t answer_header_bytes_max = 64u << 10;
constexpr std::size_t read_bytes = 16u << 10;

// Of one response. A server sends one or two, or one every few seconds while it works.
constexpr int interim_answers_max = 100;

// More than one read returns. A body of this size needs no call of make_room.
constexpr std::size_t small_body_bytes_max = 128u << 10;

std::string authority_of(const http_client_options& options) {
    const bool is_v6 = options.host.find(':') != options.host.npos;
    return (is_v6 ? "[" + options.host + "]" : options.host) + ":" + options.port;
}

std::string head_of(const http_call& call, const std::string& authority) {
    std::string text = call.method + " " + call.target + " HTTP/1.1\r\nHost: " + authority + "\r\n";
    for (const auto& [name, value] : call.headers) {
        text.append(name).append(": ").append(value).append("\r\n");
    }
    const bool has_length = !call.body.empty() || call.method == "POST" || call.method == "PUT" ||
                            call.method == "PATCH";
    if (has_length) text += "Content-Length: " + std::to_string(call.body.size()) + "\r\n";
    return text += "\r\n";
}

// Whether the response is still to come: not after 101, where another protocol begins.
bool is_interim(unsigned status) {
    return status / 100 == 1 && status != 101;
}

http_answer answer_of(http::response<http::string_body> response) {
    http_answer answer{response.result_int(), {}, std::move(response.body())};
    for (const auto& field : response) {
        answer.headers.emplace_back(field.name_string(), field.value());
    }
    return answer;
}

// Also sets the error for a certificate of another name, so that it is reported.
auto named_rightly(const std::string& host) {
    return [names = asio::ssl::host_name_verification(host)](bool holds,
                                                             asio::ssl::verify_context& c) {
        const bool is_right = names(holds, c);
        if (holds && !is_right) {
            X509_STORE_CTX_set_error(c.native_handle(), X509_V_ERR_HOSTNAME_MISMATCH);
        }
        return is_right;
    };
}

}  // namespace

std::string http_answer::header(std::string_view name) const {
    for (const auto& [have, value] : headers) {
        if (boost::beast::iequals(have, {name.data(), name.size()})) return value;
    }
    return {};
}

bool http_failure::timed_out() const noexcept {
    return error == boost::beast::error::timeout;
}

// The stream has the deadline. Its timer is checked after what has arrived, so a response that has
// arrived is never dropped because it is read late.
class http_client::impl {
  public:
    impl(asio::any_io_executor executor, http_client_options options)
        : options_(std::move(options)), stream_(std::move(executor)) {}

    void begin_call() { stream_.expires_after(options_.deadline); }

    asio::awaitable<http_outcome> exchange(http_call call) {
        if (!connected()) {
            const error_code unreachable = co_await connect();
            if (unreachable) co_return http_failure{unreachable, false, distrust_};
        }
        const bool has_body = call.method != "HEAD";
        std::string head = head_of(call, authority_of(options_));
        // A server may respond and close before it has read everything, for instance to reject a
        // large body: its response matters more than the broken pipe.
        const error_code broken = co_await write(std::move(head), std::move(call.body));
        http_outcome outcome = co_await receive_final(has_body);
        if (!outcome && broken) co_return http_failure{broken, true};
        co_return outcome;
    }

    asio::awaitable<error_code> connect() {
        close();
        distrust_.clear();
        std::vector<tcp::endpoint> addresses = options_.addresses;
        if (addresses.empty()) {
            const error_code unknown = co_await look_up(addresses);
            if (unknown) co_return unknown;
        }
        // After a cancel during the lookup: there was nothing to close yet.
        if (cancelled_) co_return make_error_code(asio::error::operation_aborted);
        const auto [unreachable, address] = co_await stream_.async_connect(addresses, use_result);
        if (unreachable) {
            close();
            co_return unreachable;
        }
        error_code ignored;
        stream_.socket().set_option(tcp::no_delay(true), ignored);
        if (options_.tls == nullptr) co_return error_code{};
        const error_code unproven = co_await shake_hands();
        if (unproven) close();
        co_return unproven;
    }

    asio::awaitable<error_code> write(std::string head, std::string body) {
        const std::array parts{asio::buffer(std::as_const(head)),
                               asio::buffer(std::as_const(body))};
        if (tls_) {
            const auto [error, written] = co_await asio::async_write(*tls_, parts, use_result);
            co_return error;
        }
        const auto [error, written] = co_await asio::async_write(stream_, parts, use_result);
        co_return error;
    }

    // Skips interim responses.
    asio::awaitable<http_outcome> receive_final(bool has_body) {
        for (int interim = 0; interim <= interim_answers_max; ++interim) {
            http_outcome outcome = co_await receive(has_body);
            if (!outcome || !is_interim(outcome->status)) co_return outcome;
        }
        close();
        co_return http_failure{http::error::unexpected_body, true};
    }

    asio::awaitable<http_outcome> receive(bool has_body) {
        answer_parser parser;
        parser.header_limit(answer_header_bytes_max);
        parser.body_limit(options_.answer_bytes_max);
        parser.skip(!has_body);
        error_code error;
        while (!error && !parser.is_header_done()) error = co_await read_some(parser);
        parser.eager(true);
        if (!error && options_.make_room) error = co_await read_with_room(parser);
        while (!error && !parser.is_done()) error = co_await read_some(parser);
        if (error || !parser.keep_alive()) close();
        const bool has_succeeded = parser.is_header_done() && parser.get().result_int() / 100 == 2;
        if (error && !(options_.header_suffices && has_succeeded)) {
            co_return http_failure{error, true};
        }
        co_return answer_of(parser.release());
    }

    asio::awaitable<error_code> read_more() {
        const error_code error = co_await fill();
        if (error) stream_.close();
        co_return error;
    }

    bool connected() const noexcept { return stream_.socket().is_open(); }
    void close() noexcept {
        tls_.reset();
        stream_.close();
        unread_.clear();
    }
    void cancel() noexcept {
        cancelled_ = true;
        stream_.close();
    }
    int native_handle() { return stream_.socket().native_handle(); }

  private:
    asio::awaitable<error_code> look_up(std::vector<tcp::endpoint>& addresses) {
        tcp::resolver resolver(stream_.get_executor());
        error_code is_name;
        auto found =
            resolver.resolve(options_.host, options_.port, tcp::resolver::numeric_host, is_name);
        if (is_name) {
            auto [unknown, named] =
                co_await resolver.async_resolve(options_.host, options_.port, use_result);
            if (unknown) co_return unknown;
            found = std::move(named);
        }
        addresses.assign(found.begin(), found.end());
        co_return error_code{};
    }

    asio::awaitable<error_code> shake_hands() {
        tls_.emplace(stream_, *options_.tls);
        error_code error;
        const auto mode = options_.unproven ? asio::ssl::verify_none : asio::ssl::verify_peer;
        tls_->set_verify_mode(mode, error);
        if (!error && !options_.unproven)
            tls_->set_verify_callback(named_rightly(options_.host), error);
        if (error) co_return error;
        // An address is not allowed in SNI (RFC 6066 section 3).
        asio::ip::make_address(options_.host, error);
        const bool is_name = error.failed();
        if (is_name &&
            SSL_set_tlsext_host_name(tls_->native_handle(), options_.host.c_str()) != 1) {
            co_return asio::error::invalid_argument;
        }
        const auto [rejected] =
            co_await tls_->async_handshake(asio::ssl::stream_base::client, use_result);
        const long fault = SSL_get_verify_result(tls_->native_handle());
        if (rejected && fault != X509_V_OK) distrust_ = X509_verify_cert_error_string(fault);
        co_return rejected;
    }

    // Makes room for twice what has arrived, as it arrives: a server that announces a large body
    // and sends nothing takes no memory.
    asio::awaitable<error_code> read_with_room(answer_parser& parser) {
        for (std::size_t room = small_body_bytes_max; !parser.is_done();) {
            const std::size_t held = parser.get().body().size();
            if (held + small_body_bytes_max / 2 > room) {
                room = std::min(2 * room, options_.answer_bytes_max);
                if (!options_.make_room(room)) co_return errc::overloaded;
            }
            const error_code error = co_await read_some(parser);
            if (error) co_return error;
        }
        co_return error_code{};
    }

    // One step of the parser; reads more if it needs more.
    asio::awaitable<error_code> read_some(answer_parser& parser) {
        error_code error = http::error::need_more;
        if (unread_.size() > 0) unread_.consume(parser.put(unread_.data(), error));
        while (error == http::error::need_more) {
            error = co_await fill();
            if (error) co_return put_end(error, parser);
            unread_.consume(parser.put(unread_.data(), error));
        }
        co_return error;
    }

    // Many servers end TLS without close_notify (RFC 9112 section 9.8). That is accepted as the end
    // of a body that the connection's end delimits: it has no length that could show a truncation.
    static error_code put_end(error_code why, answer_parser& parser) {
        const bool is_end = why == asio::error::eof ||
                            (why == asio::ssl::error::stream_truncated && parser.need_eof());
        if (!is_end) return why;
        if (!parser.got_some()) return http::error::end_of_stream;
        parser.put_eof(why);
        return why;
    }

    asio::awaitable<error_code> fill() {
        const auto room = unread_.prepare(read_bytes);
        std::tuple<error_code, std::size_t> read;
        if (tls_) {
            read = co_await tls_->async_read_some(room, use_result);
        } else {
            read = co_await stream_.async_read_some(room, use_result);
        }
        const auto [error, bytes] = read;
        unread_.commit(bytes);
        co_return error;
    }

    const http_client_options options_;
    boost::beast::tcp_stream stream_;
    std::optional<asio::ssl::stream<boost::beast::tcp_stream&>> tls_;
    boost::beast::flat_buffer unread_;
    std::string distrust_;  // of the last connect()
    bool cancelled_ = false;
};

http_client::http_client(asio::any_io_executor executor, http_client_options options)
    : impl_(std::make_unique<impl>(std::move(executor), std::move(options))) {}
http_client::~http_client() = default;
http_client::http_client(http_client&&) noexcept = default;
http_client& http_client::operator=(http_client&&) noexcept = default;

asio::awaitable<http_outcome> http_client::exchange(http_call call) {
    impl_->begin_call();
    return impl_->exchange(std::move(call));
}

asio::awaitable<error_code> http_client::connect() {
    impl_->begin_call();
    return impl_->connect();
}

asio::awaitable<error_code> http_client::send(std::string bytes) {
    impl_->begin_call();
    if (!connected()) {
        const error_code unreachable = co_await impl_->connect();
        if (unreachable) co_return unreachable;
    }
    std::string nothing;
    co_return co_await impl_->write(std::move(bytes), std::move(nothing));
}

asio::awaitable<http_outcome> http_client::receive(bool has_body) {
    impl_->begin_call();
    return impl_->receive(has_body);
}

asio::awaitable<error_code> http_client::read_more() {
    impl_->begin_call();
    return impl_->read_more();
}

bool http_client::connected() const noexcept {
    return impl_->connected();
}

void http_client::close() noexcept {
    impl_->close();
}

void http_client::cancel() noexcept {
    impl_->cancel();
}

int http_client::native_handle() {
    return impl_->native_handle();
}

blocking_http_client::blocking_http_client(http_client_options options)
    : client_(context_.get_executor(), std::move(options)) {}

template <class T>
T blocking_http_client::wait_for(asio::awaitable<T> call) {
    auto outcome = asio::co_spawn(context_, std::move(call), asio::use_future);
    context_.restart();
    context_.run();
    return outcome.get();
}

http_outcome blocking_http_client::exchange(http_call call) {
    return wait_for(client_.exchange(std::move(call)));
}

error_code blocking_http_client::connect() {
    return wait_for(client_.connect());
}

error_code blocking_http_client::send(std::string bytes) {
    return wait_for(client_.send(std::move(bytes)));
}

http_outcome blocking_http_client::receive(bool has_body) {
    return wait_for(client_.receive(has_body));
}

error_code blocking_http_client::read_more() {
    return wait_for(client_.read_more());
}

}  // namespace callsign::net
