#pragma once
// Sync sessions of managed accounts' devices, by client ID (domain/sync_session.hpp). Network
// executor.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/sync_session.hpp>

#include <chrono>
#include <cstddef>
#include <unordered_map>

namespace callsign {

class clock;

namespace api {

class sync_sessions {
  public:
    // A sync in progress makes its next request within this time after the start of the server, or
    // after the sessions were cleared.
    static constexpr std::chrono::minutes resumed_within{5};

    sync_sessions(std::size_t devices_max, clock& clock);

    // Valid until the next call.
    sync_session& of(const uuid& client);

  private:
    std::size_t devices_max_;
    clock& clock_;
    milliseconds since_;  // by clock::elapsed()
    std::unordered_map<uuid, sync_session, keyed_hash> sessions_;
};

}  // namespace api
}  // namespace callsign
