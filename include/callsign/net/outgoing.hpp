#pragma once
// Calls to servers that strangers name: what a webhook's owner gives as its URL must not become a
// way to reach this machine, or what is beside it. A name is looked up here, each of its addresses
// is judged, and one of those that pass is connected to: what the name says another time does not
// matter. This machine's own addresses are not called either, public or not. Each call has a
// connection of its own, and redirections are answers.
//
// Network executor. A name is looked up by the system, in the system's own time, on threads for
// that: a server of names that does not answer holds one of them up.

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
    // From connecting to the last byte of the answer.
    milliseconds deadline{std::chrono::seconds{10}};
    // A larger body is a failure, but for a 2xx: what it says is said by its header.
    std::size_t answer_bytes_max = 64u << 10;
    // May be called, besides what is public.
    std::vector<address_block> allow{};
    // Who may vouch for servers, besides those the system trusts; a PEM file. Empty: nobody.
    std::filesystem::path ca_file{};
};

// What an http or https URL asks for.
struct outgoing_url {
    bool tls = false;
    std::string host;
    std::string port;
    std::string target;

    friend bool operator==(const outgoing_url&, const outgoing_url&) = default;
};

// Or what is wrong with it, in a sentence.
std::variant<outgoing_url, std::string> parse_outgoing_url(const std::string& text);

class outgoing {
  public:
    virtual ~outgoing() = default;

    // False: its host is an address that may not be called. Of a name nothing is known.
    virtual bool may_call(const outgoing_url& url) const = 0;
    // Where it is: one address at least. Error access_denied: none that may be called. Each that is
    // under way may hold a thread up, whoever wants it: how many, is for the caller to share out.
    virtual boost::asio::awaitable<
        boost::system::result<std::vector<boost::asio::ip::tcp::endpoint>>>
    look_up(outgoing_url url) = 0;
    // `addresses`: what it was looked up to be, for this call.
    virtual boost::asio::awaitable<http_outcome> exchange(
        outgoing_url url, std::vector<boost::asio::ip::tcp::endpoint> addresses,
        http_call call) = 0;
    // Look-ups and calls that have not begun yet will not: operation_aborted.
    virtual void stop() = 0;
};

// Throws std::runtime_error if `ca_file` cannot be read.
std::unique_ptr<outgoing> make_outgoing(boost::asio::any_io_executor network,
                                        boost::asio::any_io_executor lookups,
                                        outgoing_options options);

}  // namespace callsign::net
