#pragma once
// Calls to URLs that users name, webhooks' above all, which must not become a way to reach this
// host or its network. A host name is looked up here, each address is checked, and only one that
// passes is connected to: later lookups of the name do not matter. This host's own addresses are
// excluded too, public or not, unless allowed. Each call has a connection of its own; redirections
// are not followed.
//
// Network executor. The system looks up names on separate threads, without a deadline: a name
// server that does not respond blocks one of them.

#include <callsign/net/address.hpp>
#include <callsign/net/http_client.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/result.hpp>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace callsign::net {

struct outgoing_options {
    // From connecting to the last byte of the response.
    milliseconds deadline{std::chrono::seconds{10}};
    // A larger body is a failure, except of a 2xx, whose header is sufficient.
    std::size_t answer_bytes_max = 64u << 10;
    // Addresses that may be called besides public ones.
    std::vector<address_block> allow{};
    // PEM file with additional CA certificates. Empty: none.
    std::filesystem::path ca_file{};
};

// The parts of an http or https URL.
struct outgoing_url {
    bool tls = false;
    std::string host;
    std::string port;
    std::string target;

    friend bool operator==(const outgoing_url&, const outgoing_url&) = default;
};

// Returns the parts, or what is wrong with the URL, in a sentence.
std::variant<outgoing_url, std::string> parse_outgoing_url(const std::string& text);

class outgoing {
  public:
    virtual ~outgoing() = default;

    // False: the host is an address that may not be called. Host names are not looked up.
    virtual bool may_call(const outgoing_url& url) const = 0;
    // Returns the addresses that may be called, at least one. Error access_denied: none. Each
    // lookup in progress may block a thread: the caller limits them per account.
    virtual boost::asio::awaitable<
        boost::system::result<std::vector<boost::asio::ip::tcp::endpoint>>>
    look_up(outgoing_url url) = 0;
    // `addresses`: the result of look_up() for this call.
    virtual boost::asio::awaitable<http_outcome> exchange(
        outgoing_url url, std::vector<boost::asio::ip::tcp::endpoint> addresses,
        http_call call) = 0;
    // Lookups and calls not yet begun fail with operation_aborted.
    virtual void stop() = 0;
};

// Throws std::runtime_error if `ca_file` cannot be read.
std::unique_ptr<outgoing> make_outgoing(boost::asio::any_io_executor network,
                                        boost::asio::any_io_executor lookups,
                                        outgoing_options options);

}  // namespace callsign::net
