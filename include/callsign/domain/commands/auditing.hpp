#pragma once
// The audit log's own commands. What other commands do is written with them, in their transaction
// (engine::submit with an actor).

#include <callsign/domain/admin_action.hpp>
#include <callsign/domain/claim.hpp>

#include <cstdint>
#include <string>

namespace callsign {

// Something is done that changes no row: a sweep, a backup.
struct note_action {
    std::string what;
    std::string account{};  // its name; empty: the server
    std::string subject{};

    struct answer {};
};
claim claim_of(const note_action& c);

// The oldest actions, if they were done longer than `keep` ago: at most `limit`.
struct forget_actions {
    milliseconds keep{0};
    std::int64_t limit = 0;

    struct answer {
        bool has_more = false;
    };
};
claim claim_of(const forget_actions& c);

}  // namespace callsign
