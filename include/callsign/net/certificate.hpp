#pragma once
// What a server proves itself with over TLS: a certificate, and the key that belongs to it, loaded
// together and checked against each other, so that a pair that would fail is never put to use.
//
// TLS 1.2 and 1.3, HTTP/1.1 alone, no renegotiation, no early data. Sessions are resumed by
// tickets, which the clients keep: nothing is held here for a client that has gone.

#include <callsign/base/time.hpp>

#include <boost/asio/ssl/context.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace callsign::net {

struct server_certificate {
    // Shared: what is under way may have begun with one that another has taken the place of.
    std::shared_ptr<boost::asio::ssl::context> context{};
    time_point expires{};
};

struct certificate_fault {
    bool of_key = false;  // or else of the certificate
    std::string text;
};

// PEM: the certificate with those that vouch for it behind it; the key without a passphrase. Every
// fault, and none repeats what is in a file.
std::variant<server_certificate, std::vector<certificate_fault>> load_certificate(
    const std::filesystem::path& certificate, const std::filesystem::path& key);

}  // namespace callsign::net
