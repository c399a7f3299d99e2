#pragma once
// A server's certificate and private key for TLS, loaded together and checked against each other,
// so that a pair that would fail is never used.
//
// TLS 1.2 and 1.3, HTTP/1.1 alone, no renegotiation, no early data. Sessions are resumed by
// tickets, which clients keep: the server stores nothing for them.

#include <callsign/base/time.hpp>

#include <boost/asio/ssl/context.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace callsign::net {

struct server_certificate {
    // Shared: connections may still use a context that was replaced.
    std::shared_ptr<boost::asio::ssl::context> context{};
    time_point expires{};
};

struct certificate_fault {
    bool of_key = false;  // otherwise of the certificate
    std::string text;
};

// PEM: the certificate followed by its chain; the key without a passphrase. Returns all errors,
// none of which quotes a file.
std::variant<server_certificate, std::vector<certificate_fault>> load_certificate(
    const std::filesystem::path& certificate, const std::filesystem::path& key);

// Whether a certificate names this host: a host name, or an address.
bool is_for_host(const std::filesystem::path& certificate, const std::string& host);

}  // namespace callsign::net
