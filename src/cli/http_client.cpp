#include "http_client.hpp"

#include "failure.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

namespace callsign::cli {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr auto use_result = asio::as_tuple(asio::use_awaitable);
constexpr std::uint64_t answer_bytes_max = 64u << 20;

// How far a request came. What was sent may have been done, whatever became of the answer.
struct progress {
    bool sent = false;
    bool finished = false;
    boost::system::error_code error;
    http_answer answer;
};

http::request<http::string_body> make_request(const server_url& server, const http_call& call) {
    http::request<http::string_body> request(call.method, server.base + call.target, 11);
    const bool v6 = server.host.find(':') != server.host.npos;
    request.set(http::field::host,
                (v6 ? "[" + server.host + "]" : server.host) + ":" + server.port);
    request.set(http::field::user_agent, "callsign/" CALLSIGN_VERSION);
    request.set(http::field::accept, "application/json");
    request.set(http::field::connection, "close");
    if (!call.token.empty()) request.set(http::field::authorization, "Bearer " + call.token);
    if (!call.body.empty()) request.set(http::field::content_type, call.content_type);
    for (const auto& [name, value] : call.headers) request.set(name, value);
    request.body() = call.body;
    request.prepare_payload();
    return request;
}

asio::awaitable<boost::system::error_code> talk(server_url server,
                                                http::request<http::string_body> request,
                                                progress& made) {
    const auto executor = co_await asio::this_coro::executor;
    tcp::resolver resolver(executor);
    auto [unknown, addresses] =
        co_await resolver.async_resolve(server.host, server.port, use_result);
    if (unknown) co_return unknown;
    tcp::socket socket(executor);
    auto [unreachable, address] = co_await asio::async_connect(socket, addresses, use_result);
    if (unreachable) co_return unreachable;
    made.sent = true;
    // A server may answer and close before it has read everything, to refuse a large body say: its
    // answer is worth more than the broken pipe.
    auto [broken, written] = co_await http::async_write(socket, request, use_result);
    boost::beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(answer_bytes_max);
    auto [cut, read] = co_await http::async_read(socket, buffer, parser, use_result);
    if (cut) co_return broken ? broken : cut;
    auto response = parser.release();
    made.answer.status = response.result_int();
    made.answer.content_type = std::string(response[http::field::content_type]);
    made.answer.body = std::move(response.body());
    co_return boost::system::error_code{};
}

asio::awaitable<void> talk_to_the_end(server_url server, http::request<http::string_body> request,
                                      progress& made) {
    made.error = co_await talk(std::move(server), std::move(request), made);
    made.finished = true;
}

}  // namespace

// Boost.URL 1.81 reads "http://h:x" as a path without its slash and does not bound the port, so
// both are looked at here.
server_url parse_server_url(std::string_view text) {
    const auto parsed = boost::urls::parse_uri(text);
    const bool understood = parsed && parsed->scheme() == "http" && !parsed->host().empty() &&
                            !parsed->has_userinfo() && !parsed->has_query() &&
                            !parsed->has_fragment();
    const std::string port = understood && parsed->has_port() ? parsed->port() : "80";
    const std::string path = understood ? std::string(parsed->encoded_path()) : "";
    const bool is_port = !port.empty() && port.size() <= 5 && std::stoi(port) <= 65'535;
    if (!understood || !is_port || (!path.empty() && path.front() != '/')) {
        throw failure("the server's URL must be http://HOST:PORT, not " + std::string(text),
                      exit_status::not_understood);
    }
    server_url url{parsed->host_address(), port, path, std::string(text)};
    while (!url.base.empty() && url.base.back() == '/') url.base.pop_back();
    return url;
}

bool is_loopback(const server_url& server) {
    if (server.host == "localhost") return true;
    boost::system::error_code not_an_address;
    const auto address = asio::ip::make_address(server.host, not_an_address);
    // Nobody else can be meant by the address that stands for none.
    return !not_an_address && (address.is_loopback() || address.is_unspecified());
}

http_answer exchange(const server_url& server, const http_call& call, milliseconds patience) {
    progress made;
    asio::io_context context(1);
    asio::co_spawn(context, talk_to_the_end(server, make_request(server, call), made),
                   asio::detached);
    context.run_for(patience);
    if (made.finished && !made.error) return std::move(made.answer);
    const std::string why =
        made.finished ? made.error.message() : "no answer within " + to_duration_text(patience);
    if (!made.sent) throw failure("cannot reach " + server.text + ": " + why);
    throw failure("no whole answer from " + server.text + ": " + why +
                  (call.method == verb::get ? "" : "; what was asked may have been done"));
}

std::string percent_encode(std::string_view text) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
                                c == '~';
        if (unreserved) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += '%';
            out += hex[byte >> 4];
            out += hex[byte & 15];
        }
    }
    return out;
}

}  // namespace callsign::cli
