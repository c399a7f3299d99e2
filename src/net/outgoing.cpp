#include "use_result.hpp"

#include <callsign/net/outgoing.hpp>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/url/parse.hpp>
#include <stdexcept>

namespace callsign::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t url_bytes_max = 2048;

struct looked_up {
    error_code error{};
    std::vector<tcp::endpoint> addresses{};
};

// On a thread that may wait.
asio::awaitable<looked_up> look_up(std::string host, std::string port) {
    const auto executor = co_await asio::this_coro::executor;
    looked_up found;
    const auto all = tcp::resolver(executor).resolve(host, port, found.error);
    found.addresses.assign(all.begin(), all.end());
    co_return found;
}

class real_outgoing final : public outgoing {
  public:
    real_outgoing(asio::any_io_executor network, asio::any_io_executor lookups,
                  outgoing_options options)
        : network_(std::move(network)), lookups_(std::move(lookups)), options_(std::move(options)) {
        error_code error;
        tls_.set_default_verify_paths(error);
        if (!options_.ca_file.empty()) tls_.load_verify_file(options_.ca_file.string(), error);
        if (!options_.ca_file.empty() && error) {
            throw std::runtime_error("cannot read certificates from " + options_.ca_file.string() +
                                     ": " + error.message());
        }
    }

    bool may_call(const outgoing_url& url) const override {
        error_code is_name;
        const auto address = asio::ip::make_address(url.host, is_name);
        return is_name || may_call(address);
    }

    asio::awaitable<http_outcome> exchange(outgoing_url url, http_call call) override {
        auto lookup = look_up(url.host, url.port);
        looked_up found = co_await asio::co_spawn(lookups_, std::move(lookup), asio::use_awaitable);
        if (found.error) co_return http_failure{found.error, false};
        std::erase_if(found.addresses, [this](const auto& e) { return !may_call(e.address()); });
        if (found.addresses.empty()) {
            co_return http_failure{make_error_code(asio::error::access_denied), false};
        }
        call.target = url.target;
        call.headers.emplace_back("Connection", "close");
        http_client client(network_, {.host = url.host,
                                      .port = url.port,
                                      .deadline = options_.deadline,
                                      .answer_bytes_max = options_.answer_bytes_max,
                                      .addresses = std::move(found.addresses),
                                      .tls = url.tls ? &tls_ : nullptr});
        co_return co_await client.exchange(std::move(call));
    }

  private:
    bool may_call(const asio::ip::address& address) const {
        const address_bytes bytes = to_bytes(address);
        return is_public(bytes) ||
               std::any_of(options_.allow.begin(), options_.allow.end(),
                           [&](const address_block& block) { return block.contains(bytes); });
    }

    asio::any_io_executor network_;
    asio::any_io_executor lookups_;
    const outgoing_options options_;
    asio::ssl::context tls_{asio::ssl::context::tls_client};
};

}  // namespace

std::variant<outgoing_url, std::string> parse_outgoing_url(const std::string& text) {
    if (text.size() > url_bytes_max) return "A URL has at most 2048 bytes.";
    const auto url = boost::urls::parse_uri(text);
    if (!url) return "This is no URL: https://example.com/hook is one.";
    const auto scheme = url->scheme_id();
    if (scheme != boost::urls::scheme::https && scheme != boost::urls::scheme::http) {
        return "A URL begins with https:// or http://.";
    }
    if (url->has_userinfo())
        return "A URL has no user and no password here; sign in by the secret.";
    if (url->has_fragment()) return "What is behind a # is never sent: leave it out.";
    outgoing_url found;
    found.tls = scheme == boost::urls::scheme::https;
    found.host = url->host_address();
    if (found.host.empty()) return "The URL names no host.";
    if (url->host_type() == boost::urls::host_type::name &&
        std::any_of(found.host.begin(), found.host.end(), [](char c) {
            return static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f;
        })) {
        return "The URL's host is no name.";
    }
    if (url->has_port() && url->port_number() == 0) return "The URL's port is none.";
    found.port = url->has_port() ? std::to_string(url->port_number()) : found.tls ? "443" : "80";
    found.target = std::string(url->encoded_target());
    if (!found.target.starts_with('/')) found.target.insert(0, 1, '/');
    return found;
}

std::unique_ptr<outgoing> make_outgoing(asio::any_io_executor network,
                                        asio::any_io_executor lookups, outgoing_options options) {
    return std::make_unique<real_outgoing>(std::move(network), std::move(lookups),
                                           std::move(options));
}

}  // namespace callsign::net
