#pragma once
// Writes that take effect once: a request that is repeated with its idempotency key changes
// nothing, and gets the first response (the IETF httpapi draft on Idempotency-Key). Creations of
// tasks have slots instead (slot.hpp).

#include <callsign/base/sha256.hpp>
#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace callsign {

// The key was used with another request.
struct key_conflict {};

struct request_key {
    std::string key;       // the client's: 1..255 visible ASCII characters
    digest fingerprint{};  // of the request
    std::string sealed{};  // a secret in the response, which only a retry can decrypt; empty: none
};

// The outcome of a request, by its key: enough to return the first response.
struct kept_request {
    account_id account;  // 0: a request of an operator
    std::string key;
    digest fingerprint{};
    time_point at{};
    std::int64_t subject = 0;  // ID of the row that was created or changed
    std::int64_t seq = 0;      // of a task: the state in the response
    std::string sealed{};
};

// Bytes that the outcome of one request counts for in account::stored_bytes: its row with its
// indexes takes about as much.
inline std::size_t size_of_outcome(std::string_view key, std::string_view sealed = {}) noexcept {
    return 128 + 2 * key.size() + sealed.size();
}

inline std::size_t size_of_outcome(const kept_request& r) noexcept {
    return size_of_outcome(r.key, r.sealed);
}

// An outcome that is not the first of its request.
template <class Outcome>
struct replayed {
    Outcome first;
    std::string sealed{};  // as in request_key
};

}  // namespace callsign
