#include "http_client.hpp"

#include "failure.hpp"

#include <callsign/net/http_client.hpp>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/url/encode.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <boost/url/url_view.hpp>
#include <memory>

namespace callsign::cli {
namespace {

namespace ssl = boost::asio::ssl;

net::http_call call_of(const server_url& server, const http_call& call) {
    net::http_call out{
        std::string(to_string(call.method)), server.base + call.target, {}, call.body};
    out.headers = {{"User-Agent", "callsign/" CALLSIGN_VERSION},
                   {"Accept", "application/json"},
                   {"Connection", "close"}};
    if (!call.token.empty()) out.headers.emplace_back("Authorization", "Bearer " + call.token);
    if (!call.body.empty()) out.headers.emplace_back("Content-Type", call.content_type);
    out.headers.insert(out.headers.end(), call.headers.begin(), call.headers.end());
    return out;
}

std::unique_ptr<ssl::context> trust_for(const server_url& server) {
    auto context = std::make_unique<ssl::context>(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    boost::system::error_code error;
    context->set_default_verify_paths(error);
    if (server.ca_file.empty()) return context;
    context->load_verify_file(server.ca_file, error);
    if (error) {
        throw failure("cannot read certificates from " + server.ca_file + ": " + error.message(),
                      exit_status::not_understood);
    }
    return context;
}

}  // namespace

// Boost.URL 1.81 reads "http://h:x" as a path without its slash and does not bound the port, so
// both are looked at here.
server_url parse_server_url(std::string_view text) {
    const auto parsed = boost::urls::parse_uri(text);
    const bool is_tls = parsed && parsed->scheme() == "https";
    const bool is_web = is_tls || (parsed && parsed->scheme() == "http");
    const bool understood = is_web && !parsed->host().empty() && !parsed->has_userinfo() &&
                            !parsed->has_query() && !parsed->has_fragment();
    const std::string port = understood && parsed->has_port() ? parsed->port()
                             : is_tls                         ? "443"
                                                              : "80";
    const std::string path = understood ? std::string(parsed->encoded_path()) : "";
    const bool is_port = !port.empty() && port.size() <= 5 && std::stoi(port) <= 65'535;
    if (!understood || !is_port || (!path.empty() && path.front() != '/')) {
        throw failure("the server's URL must be http://HOST:PORT or https://HOST:PORT, not " +
                          std::string(text),
                      exit_status::not_understood);
    }
    server_url url{parsed->host_address(), port, path, std::string(text), is_tls};
    while (!url.base.empty() && url.base.back() == '/') url.base.pop_back();
    return url;
}

bool is_loopback(const server_url& server) {
    if (server.host == "localhost") return true;
    boost::system::error_code not_an_address;
    const auto address = boost::asio::ip::make_address(server.host, not_an_address);
    // Nobody else can be meant by the address that stands for none.
    return !not_an_address && (address.is_loopback() || address.is_unspecified());
}

http_answer exchange(const server_url& server, const http_call& call, milliseconds patience) {
    auto trust = server.tls ? trust_for(server) : nullptr;
    net::http_client_options options{server.host, server.port, patience};
    options.tls = trust.get();
    options.unproven = server.is_known;
    net::blocking_http_client client(std::move(options));
    auto outcome = client.exchange(call_of(server, call));
    if (outcome) {
        return {outcome->status, outcome->header("Content-Type"), std::move(outcome->body)};
    }
    const net::http_failure& failed = outcome.error();
    std::string why = failed.timed_out() ? "no answer within " + to_duration_text(patience)
                                         : failed.error.message();
    if (!failed.distrust.empty()) {
        why = "its certificate is not trusted: " + failed.distrust + " (--cacert FILE)";
    }
    const std::string sentence =
        !failed.sent ? "cannot reach " + server.text + ": " + why
                     : "no whole answer from " + server.text + ": " + why +
                           (call.method == verb::get ? "" : "; what was asked may have been done");
    if (failed.timed_out()) throw too_late(sentence);
    throw failure(sentence);
}

std::string percent_encode(std::string_view text) {
    return boost::urls::encode(text, boost::urls::unreserved_chars);
}

}  // namespace callsign::cli
