#include "sync_sessions.hpp"

#include <callsign/engine/engine.hpp>

namespace callsign::api {

sync_sessions::sync_sessions(std::size_t devices_max, clock& clock)
    : devices_max_(devices_max), clock_(clock), since_(clock.elapsed()) {}

sync_session& sync_sessions::of(const uuid& client) {
    const auto found = sessions_.find(client);
    if (found != sessions_.end()) return found->second;
    if (sessions_.size() >= devices_max_) {
        sessions_.clear();
        since_ = clock_.elapsed();
    }
    const bool may_be_resumed = clock_.elapsed() - since_ < resumed_within;
    return sessions_.try_emplace(client, may_be_resumed).first->second;
}

}  // namespace callsign::api
