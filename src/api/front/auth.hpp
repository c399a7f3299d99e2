#pragma once
// Authenticates bearer tokens, with a cache of their principals.
//
// Revocation is exact: a read of the store may have begun before a revocation became durable and
// end after it was announced. Then it is repeated, since a stream, once admitted, would not learn
// of that revocation.

#include <callsign/base/result.hpp>
#include <callsign/base/sha256.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/event.hpp>
#include <callsign/net/http.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace callsign::api {

// Returns what follows "Authorization: Bearer "; nullopt: no such field, or another scheme.
std::optional<std::string_view> bearer_token(const net::http_header& request);

class authenticator {
  public:
    // Reads a principal from the store.
    using reader =
        std::function<boost::asio::awaitable<result<std::optional<principal>>>(const digest&)>;

    authenticator(reader read, std::size_t principals_max)
        : read_(std::move(read)), half_max_(principals_max / 2 + 1) {}

    // Returns a cached principal; nullptr: call ask().
    const principal* remembered(const digest& token_hash);

    // Reads the store; includes revoked tokens. An empty optional: the token is unknown.
    // errc::overloaded: tokens were revoked during each of several reads.
    boost::asio::awaitable<result<std::optional<principal>>> ask(digest token_hash);

    // Applies an event. A revocation is applied before its response is sent.
    void follow(const event& happened);

    std::size_t size() const noexcept { return young_.size() + old_.size(); }

  private:
    // The first bytes of a SHA-256 are a good hash.
    struct digest_hash {
        std::size_t operator()(const digest& d) const noexcept {
            std::size_t h = 0;
            std::memcpy(&h, d.data(), sizeof h);
            return h;
        }
    };
    using principals = std::unordered_map<digest, principal, digest_hash>;

    void remember(const digest& token_hash, const principal& who);
    void forget_all();

    reader read_;
    std::size_t half_max_;
    // Two halves limit the memory and keep what is used: a full young half becomes the old one, and
    // replaces the former old half with all that was not used since.
    principals young_;
    principals old_;
    std::uint64_t revocations_ = 0;
};

}  // namespace callsign::api
