#pragma once
// Applies commands to a store. Pure and synchronous: no clock, no randomness, no I/O except the
// transaction's. A rule checks first and writes last, so a rejected command has written nothing and
// needs no savepoint. Rules report what happened as events (domain/event.hpp). store_failure passes
// through.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/command.hpp>
#include <callsign/domain/event.hpp>
#include <callsign/ports/store.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace callsign::rules {

// Generates UUIDv7s that sort in the order of generation.
class id_source {
  public:
    virtual ~id_source() = default;
    virtual uuid next(time_point now) = 0;
};

// Ages of timestamps by a monotonic clock (engine/store_time.hpp).
class age_source {
  public:
    virtual ~age_source() = default;
    // Rows stamped before the returned instant are at least `span` old.
    virtual time_point stamped_before(milliseconds span) const = 0;
    // Returns the age of a row with this timestamp. Never negative.
    virtual milliseconds age_of(time_point stamp) const = 0;
};

// The context of a batch: its instant, its IDs, the settings, and where its events go.
struct moment {
    // The timestamp of new rows. Never earlier than a timestamp in the store.
    time_point now;
    id_source& ids;
    // The attribute that holds a task's key, for clients to display. Empty: none.
    std::string_view key_attribute = "key";
    // The wall clock, for times that users read and that replicas compare with their own. May go
    // backwards.
    time_point wall = now;
    // Limits per account: stored bytes, live tokens, and former prefixes of series; 0: unlimited.
    std::size_t stored_bytes_max = 0;
    std::size_t tokens_max = 0;
    std::size_t former_prefixes_max = 0;
    // Maximum size of a task after a sync by a device or a remote server. Requests are limited by
    // task_bytes_max.
    std::size_t synced_task_bytes_max = task_bytes_max;
    // Null: ages are computed from `now`.
    const age_source* ages = nullptr;
    // Null: events are dropped.
    std::vector<event>* events = nullptr;

    time_point stamped_before(milliseconds span) const {
        return ages ? ages->stamped_before(span) : now - span;
    }
    milliseconds age_of(time_point stamp) const {
        return ages ? ages->age_of(stamp) : std::max(now - stamp, milliseconds{0});
    }
    void tell(const event& happened) const {
        if (events) events->push_back(happened);
    }
};

// Applies a command; one for each, in the file of its name.
#define CALLSIGN_APPLY(name) name::answer apply(write_tx& tx, const name& c, const moment& m);
CALLSIGN_COMMANDS(CALLSIGN_APPLY)
#undef CALLSIGN_APPLY

// Returns true if the command's account was removed, or its removal began, after the request was
// admitted (for reserve: if the account was deleted): the command must not be applied. Commands
// that name the account otherwise than by an ID or a client ID are checked by their own rules.
// Commands on slots need no check: an account with slots is not removed.
bool is_for_gone(write_tx& tx, const command& c);

// Adds an applied command to the audit log, if the log covers it. Requires: the transaction that
// applied the command, after it.
void record_action(write_tx& tx, const command& c, const answer& done, const actor& by,
                   const moment& m);

}  // namespace callsign::rules
