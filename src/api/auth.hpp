#pragma once
// Who is asking: a bearer token's principal, remembered for as long as it holds.
//
// What it says is exact on revocation. A read of the store may have begun before a revocation
// became durable and end after it was announced: then it is read again, since what the answer lets
// in, a stream say, would not hear of that any more.

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

// What follows "Authorization: Bearer "; nullopt: no such field, or another scheme.
std::optional<std::string_view> bearer_token(const net::http_header& request);

class authenticator {
  public:
    // Reads a principal from the store.
    using reader =
        std::function<boost::asio::awaitable<result<std::optional<principal>>>(const digest&)>;

    authenticator(reader read, std::size_t principals_max)
        : read_(std::move(read)), half_max_(principals_max / 2 + 1) {}

    // From memory alone; nullptr: ask.
    const principal* remembered(const digest& token_hash);

    // From the store, revoked ones too; an empty optional: nobody's token. errc::overloaded: tokens
    // were revoked meanwhile, again and again.
    boost::asio::awaitable<result<std::optional<principal>>> ask(digest token_hash);

    // What has happened to the store: before a revocation is answered, it is noticed here.
    void follow(const event& happened);

    std::size_t size() const noexcept { return young_.size() + old_.size(); }

  private:
    // The first bytes of a SHA-256 are as good a hash as any.
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
    // Two halves bound the memory and keep what is used: a full young half becomes the old one, and
    // what nobody asked for since then goes with the old one before it.
    principals young_;
    principals old_;
    std::uint64_t revocations_ = 0;
};

}  // namespace callsign::api
