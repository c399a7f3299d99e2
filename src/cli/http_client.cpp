#include "http_client.hpp"

#include "failure.hpp"

#include <callsign/base/describe_file_error.hpp>
#include <callsign/base/text.hpp>
#include <callsign/net/http_client.hpp>
#include <callsign/wire/media_types.hpp>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/url/encode.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <boost/url/url_view.hpp>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace callsign::cli {
namespace {

namespace ssl = boost::asio::ssl;

net::http_call call_of(const server_url& server, const http_call& call) {
    net::http_call out{
        std::string(to_string(call.method)), server.base + call.target, {}, call.body};
    out.headers = {{"User-Agent", "callsign/" CALLSIGN_VERSION},
                   {"Accept", std::string(wire::media_type::json)},
                   {"Connection", "close"}};
    if (!call.token.empty()) out.headers.emplace_back("Authorization", "Bearer " + call.token);
    if (!call.body.empty()) out.headers.emplace_back("Content-Type", call.content_type);
    out.headers.insert(out.headers.end(), call.headers.begin(), call.headers.end());
    return out;
}

// Returns why a file cannot be read, or else the TLS error.
std::string reason_of(const std::string& file, const boost::system::error_code& error) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return describe_file_error(file, errno);
    ::close(fd);
    return error.message();
}

std::unique_ptr<ssl::context> trust_for(const server_url& server) {
    auto context = std::make_unique<ssl::context>(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    boost::system::error_code error;
    context->set_default_verify_paths(error);
    if (server.ca_file.empty()) return context;
    context->load_verify_file(server.ca_file, error);
    if (error) {
        throw failure("cannot read certificates from " + server.ca_file + ": " +
                          reason_of(server.ca_file, error),
                      exit_status::not_understood);
    }
    return context;
}

}  // namespace

namespace {

bool is_loopback_host(const std::string& host) {
    if (host == "localhost") return true;
    boost::system::error_code not_an_address;
    const auto address = boost::asio::ip::make_address(host, not_an_address);
    // The unspecified address can only mean this host.
    return !not_an_address && (address.is_loopback() || address.is_unspecified());
}

// Returns "localhost:8090", ":8090" and "example.org" as URLs; keeps a given scheme. Other hosts
// get https unless http:// is given.
std::string with_scheme(std::string_view text) {
    if (text.find("://") != text.npos) return std::string(text);
    std::string rest(text);
    if (rest.starts_with(':')) rest.insert(0, "127.0.0.1");
    const auto slash = std::min(rest.find('/'), rest.size());
    const std::string authority = rest.substr(0, slash);
    // A colon within brackets does not begin a port.
    const auto colon = authority.rfind(':');
    const bool has_port = colon != authority.npos && authority.find(']', colon) == authority.npos;
    std::string host = has_port ? authority.substr(0, colon) : authority;
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (!is_loopback_host(host)) return "https://" + rest;
    // The default port of callsignd.
    if (!has_port) rest.insert(slash, ":8080");
    return "http://" + rest;
}

}  // namespace

// Boost.URL 1.81 reads "http://h:x" as a path without its slash and does not limit the port, so
// both are checked here.
server_url parse_server_url(std::string_view given) {
    const std::string text = with_scheme(given);
    const auto parsed = boost::urls::parse_uri(text);
    const bool is_tls = parsed && parsed->scheme() == "https";
    const bool is_web = is_tls || (parsed && parsed->scheme() == "http");
    const bool understood = is_web && !parsed->host().empty() && !parsed->has_userinfo() &&
                            !parsed->has_query() && !parsed->has_fragment();
    const std::string port = understood && parsed->has_port() ? parsed->port()
                             : is_tls                         ? "443"
                                                              : "80";
    const std::string path = understood ? std::string(parsed->encoded_path()) : "";
    const auto number = parse_integer(port);
    const bool is_port = number && *number >= 1 && *number <= 65'535;
    if (!understood || !is_port || (!path.empty() && path.front() != '/')) {
        throw failure(
            "the server's URL must be http://HOST:PORT, https://HOST:PORT, HOST:PORT or "
            ":PORT, not " +
                std::string(given),
            exit_status::not_understood);
    }
    server_url url{parsed->host_address(), port, path, text, is_tls};
    while (!url.base.empty() && url.base.back() == '/') url.base.pop_back();
    return url;
}

bool is_loopback(const server_url& server) {
    return is_loopback_host(server.host);
}

http_answer exchange(const server_url& server, const http_call& call, milliseconds timeout) {
    auto trust = server.tls ? trust_for(server) : nullptr;
    net::http_client_options options{server.host, server.port, timeout};
    options.tls = trust.get();
    options.unproven = server.is_known;
    net::blocking_http_client client(std::move(options));
    auto outcome = client.exchange(call_of(server, call));
    if (outcome) {
        return {outcome->status, outcome->header("Content-Type"), std::move(outcome->body)};
    }
    const net::http_failure& failed = outcome.error();
    std::string why = failed.timed_out() ? "no response within " + to_duration_text(timeout)
                                         : failed.error.message();
    if (!failed.certificate_error.empty()) {
        why = "its certificate is not trusted: " + failed.certificate_error + " (--cacert FILE)";
    }
    const std::string sentence =
        !failed.sent
            ? "cannot reach " + server.text + ": " + why
            : "incomplete response from " + server.text + ": " + why +
                  (call.method == verb::get ? "" : "; the request may have been carried out");
    if (failed.timed_out()) throw too_late(sentence);
    throw failure(sentence);
}

std::string percent_encode(std::string_view text) {
    return boost::urls::encode(text, boost::urls::unreserved_chars);
}

}  // namespace callsign::cli
