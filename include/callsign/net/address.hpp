#pragma once
// Whom a connection or a request counts for: an IPv4 address, or the /64 that an IPv6 address is
// in, since whoever has one such address has them all. Behind a proxy that is trusted it is the
// client that the proxy names in X-Forwarded-For or Forwarded.

#include <array>
#include <boost/asio/ip/address.hpp>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::net {

// IPv4 as IPv6 writes it (::ffff:a.b.c.d), so that there is one form.
using address_bytes = std::array<std::uint8_t, 16>;

address_bytes to_bytes(const boost::asio::ip::address& address);
// The address with all but what it counts for set to zero.
address_bytes counted_as(address_bytes address) noexcept;

// Addresses that begin alike: "10.0.0.0/8", "::1", "192.0.2.7".
struct address_block {
    address_bytes first{};
    unsigned bits = 128;  // of `first` that count; an IPv4 block's are 96 more than written

    bool contains(const address_bytes& address) const noexcept;
    friend bool operator==(const address_block&, const address_block&) = default;
};

// This machine: 127.0.0.0/8 and ::1.
std::vector<address_block> loopback_blocks();

// Whether anybody may be at this address who is not a neighbour of this machine: not where it is
// private, loopback, link-local, shared, multicast or set apart otherwise (IANA's special-purpose
// registries, RFC 6890), also where an IPv6 address has such an IPv4 address within.
bool is_public(const address_bytes& address);

std::optional<address_block> parse_address_block(std::string_view text);
std::string to_string(const address_block& block);
// IPv4 and IPv6, each as it is usually written.
std::string to_string(const address_bytes& address);

// The address that the right-most untrusted entry of X-Forwarded-For names, `fields` being the
// field's values in their order; nullopt: there is none. An entry may have a port.
std::optional<address_bytes> forwarded_for(std::span<const std::string_view> fields,
                                           std::span<const address_block> trusted);

// The same of Forwarded (RFC 7239).
std::optional<address_bytes> forwarded_by(std::span<const std::string_view> fields,
                                          std::span<const address_block> trusted);

}  // namespace callsign::net
