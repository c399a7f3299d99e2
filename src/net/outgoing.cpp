#include "use_result.hpp"

#include <callsign/base/text.hpp>
#include <callsign/net/outgoing.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/url/parse.hpp>
#include <ifaddrs.h>
#include <iterator>
#include <memory>
#include <netinet/in.h>
#include <stdexcept>

namespace callsign::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t url_bytes_max = 2048;

// Of one name; connecting to each may fail.
constexpr std::size_t addresses_max = 8;

struct looked_up {
    error_code error{};
    std::vector<tcp::endpoint> addresses{};
    std::vector<address_bytes> own{};  // this host's
};

std::vector<address_bytes> own_addresses() {
    std::vector<address_bytes> own;
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) return own;
    for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
        if (at->ifa_addr == nullptr) continue;
        if (at->ifa_addr->sa_family == AF_INET) {
            const auto& v4 = reinterpret_cast<const sockaddr_in&>(*at->ifa_addr);
            own.push_back(to_bytes(asio::ip::address_v4(ntohl(v4.sin_addr.s_addr))));
        } else if (at->ifa_addr->sa_family == AF_INET6) {
            const auto& v6 = reinterpret_cast<const sockaddr_in6&>(*at->ifa_addr);
            address_bytes bytes{};
            std::copy_n(std::begin(v6.sin6_addr.s6_addr), bytes.size(), bytes.begin());
            own.push_back(bytes);
        }
    }
    ::freeifaddrs(first);
    return own;
}

// Blocks its thread.
asio::awaitable<looked_up> resolve(std::string host, std::string port,
                                   std::shared_ptr<const std::atomic<bool>> stopped) {
    const auto executor = co_await asio::this_coro::executor;
    looked_up found;
    if (*stopped) co_return found;
    found.own = own_addresses();
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

    asio::awaitable<boost::system::result<std::vector<tcp::endpoint>>> look_up(
        outgoing_url url) override {
        // A lookup cannot be interrupted, and a cancellation must not reach its thread.
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        auto lookup = resolve(url.host, url.port, stopped_);
        looked_up found = co_await asio::co_spawn(lookups_, std::move(lookup), asio::use_awaitable);
        co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
        if (*stopped_) co_return make_error_code(asio::error::operation_aborted);
        if (found.error) co_return found.error;
        std::erase_if(found.addresses, [&](const tcp::endpoint& e) {
            return !may_call(e.address()) || (is_own(found, e) && !is_allowed(e.address()));
        });
        if (found.addresses.empty()) co_return make_error_code(asio::error::access_denied);
        found.addresses.resize(std::min(found.addresses.size(), addresses_max));
        co_return std::move(found.addresses);
    }

    asio::awaitable<http_outcome> exchange(outgoing_url url, std::vector<tcp::endpoint> addresses,
                                           http_call call) override {
        if (*stopped_) {
            co_return http_failure{make_error_code(asio::error::operation_aborted), false};
        }
        call.target = url.target;
        call.headers.emplace_back("Connection", "close");
        http_client client(network_, {.host = url.host,
                                      .port = url.port,
                                      .deadline = options_.deadline,
                                      .answer_bytes_max = options_.answer_bytes_max,
                                      .header_suffices = true,
                                      .addresses = std::move(addresses),
                                      .tls = url.tls ? &tls_ : nullptr});
        co_return co_await client.exchange(std::move(call));
    }

    void stop() override { *stopped_ = true; }

  private:
    bool is_allowed(const asio::ip::address& address) const {
        const address_bytes bytes = to_bytes(address);
        return std::any_of(options_.allow.begin(), options_.allow.end(),
                           [&](const address_block& block) { return block.contains(bytes); });
    }
    bool may_call(const asio::ip::address& address) const {
        return is_public(to_bytes(address)) || is_allowed(address);
    }
    // This host by one of its other addresses, where services that a firewall hides would be
    // reachable.
    static bool is_own(const looked_up& found, const tcp::endpoint& e) {
        return std::ranges::find(found.own, to_bytes(e.address())) != found.own.end();
    }

    asio::any_io_executor network_;
    asio::any_io_executor lookups_;
    const outgoing_options options_;
    asio::ssl::context tls_{asio::ssl::context::tls_client};
    // Shared: a lookup may outlive this object.
    std::shared_ptr<std::atomic<bool>> stopped_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

std::variant<outgoing_url, std::string> parse_outgoing_url(const std::string& text) {
    if (text.size() > url_bytes_max) return "Must have at most 2048 bytes.";
    const auto url = boost::urls::parse_uri(text);
    if (!url) return "Must be a URL such as https://example.com/hook.";
    const auto scheme = url->scheme_id();
    if (scheme != boost::urls::scheme::https && scheme != boost::urls::scheme::http) {
        return "Must begin with https:// or http://.";
    }
    if (url->has_userinfo()) return "Must not have a user or a password.";
    if (url->has_fragment()) return "Must not have a fragment (#...).";
    outgoing_url found;
    found.tls = scheme == boost::urls::scheme::https;
    found.host = url->host_address();
    if (found.host.empty()) return "Must have a host.";
    if (url->host_type() == boost::urls::host_type::name &&
        std::any_of(found.host.begin(), found.host.end(), [](char c) {
            return static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f;
        })) {
        return "Must have a valid host name.";
    }
    found.port = found.tls ? "443" : "80";
    if (url->has_port()) {
        // Boost.URL 1.81 truncates a port to 16 bits.
        const auto port = parse_integer(std::string_view(url->port()));
        if (!port || *port < 1 || *port > 65'535) return "A URL's port is 1 to 65535.";
        found.port = std::to_string(*port);
    }
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
