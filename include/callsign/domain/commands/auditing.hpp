#pragma once
// The audit log's own commands. The actions of other commands are recorded in the same transaction
// (engine::submit with an actor).

#include <callsign/domain/admin_action.hpp>

#include <cstdint>
#include <string>

namespace callsign {

// Records an action that changes no row: a sweep, a backup.
struct note_action {
    std::string what;
    std::string account{};  // of the account; empty: the server
    std::string subject{};

    struct answer {};
};

// Removes the oldest actions, at most `limit`, if they are older than `keep`.
struct forget_actions {
    milliseconds keep{0};
    std::int64_t limit = 0;

    struct answer {
        bool has_more = false;
    };
};

}  // namespace callsign
