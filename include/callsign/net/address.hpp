#pragma once
// The address that a connection or a request counts for: an IPv4 address, or the /64 of an IPv6
// address, since a client with one address of it has them all. Behind a trusted proxy: the
// client's, as named in X-Forwarded-For or Forwarded.

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

// IPv4 as IPv4-mapped IPv6 (::ffff:a.b.c.d), so that there is one form.
using address_bytes = std::array<std::uint8_t, 16>;

address_bytes to_bytes(const boost::asio::ip::address& address);
// Returns the address with all bits that do not count set to zero.
address_bytes counted_as(address_bytes address) noexcept;

// A prefix of addresses: "10.0.0.0/8", "::1", "192.0.2.7".
struct address_block {
    address_bytes first{};
    unsigned bits = 128;  // significant bits of `first`; for IPv4 96 more than written

    bool contains(const address_bytes& address) const noexcept;
    friend bool operator==(const address_block&, const address_block&) = default;
};

// 127.0.0.0/8 and ::1.
std::vector<address_block> loopback_blocks();

// False for addresses of this host and its network: private, loopback, link-local, shared,
// multicast and other special-purpose ones (IANA's registries, RFC 6890), also where an IPv6
// address embeds such an IPv4 address.
bool is_public(const address_bytes& address);

std::optional<address_block> parse_address_block(std::string_view text);
std::string to_string(const address_block& block);
// IPv4 and IPv6, each in its usual notation.
std::string to_string(const address_bytes& address);

// Returns the right-most address of X-Forwarded-For that is not trusted, or the first one if all
// are; `fields`: the field's values in order; nullopt: none. An entry may have a port. Entries
// before an invalid one are ignored.
std::optional<address_bytes> forwarded_for(std::span<const std::string_view> fields,
                                           std::span<const address_block> trusted);

// As forwarded_for(), for the field Forwarded (RFC 7239).
std::optional<address_bytes> forwarded_by(std::span<const std::string_view> fields,
                                          std::span<const address_block> trusted);

}  // namespace callsign::net
