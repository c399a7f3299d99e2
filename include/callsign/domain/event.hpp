#pragma once
// What has happened to a store, as values: a rule yields them beside its answer, and the engine
// delivers those of a batch after its commit, in order, before anybody is answered
// (engine/hub.hpp). They say what to look at, and carry no content.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/slot.hpp>

#include <cstdint>
#include <optional>
#include <variant>

namespace callsign::events {

// Something of the account's tasks has changed: its chain has come to `seq`.
struct version_appended {
    account_id account;
    std::int64_t seq = 0;
};

// A pending slot was committed or failed.
struct slot_settled {
    account_id account;
    slot_id slot;
    slot_state state = slot_state::committed;
};

// A request came with a key that was known, so long after it was reserved: by the clock that is
// never set, as the reaper sees a slot's age. `found`: failed, and the retry came too late. Who
// waits for another request with the key is not told of: nothing depends on how long that takes,
// since age alone decides nothing while somebody works on a slot.
struct retry_seen {
    account_id account;
    account_class accounts = account_class::here;
    slot_id slot;
    slot_state found = slot_state::pending;
    milliseconds after{0};
};

struct account_created {
    account_id account;
    std::optional<uuid> client_id;  // of an opaque one: what opens it
};

// It was disabled, enabled, deleted or had back, or it goes.
struct account_state_changed {
    account_id account;
};

// It has another name.
struct account_renamed {
    account_id account;
};

// Something was refused because it has as much of this as it may.
struct account_full {
    account_id account;
    account_limit limit = account_limit::stored_bytes;
};

// All of its rows are gone.
struct account_removed {
    account_id account;
};

// An opaque account has become managed.
struct account_managed {
    account_id account;
    uuid client_id{};
};

struct series_created {
    account_id account;
    series_id series;
};

// It is held no more, and some of its tasks have no number yet.
struct series_numbering {
    account_id account;
    series_id series;
};

struct device_created {
    account_id account;
    uuid client_id{};
};

struct device_revoked {
    account_id account;
    uuid client_id{};
};

// Where a device stands after a restore is another.
struct device_resynced {
    account_id account;
    uuid client_id{};
};

struct token_created {
    token_id token;
    std::optional<account_id> account;  // none: the operator's
};

struct token_revoked {
    token_id token;
    std::optional<account_id> account;
};

// Something waits in the outbox of an account that lives elsewhere.
struct effect_waiting {
    account_id account;
};

// An account lives elsewhere from now on, or elsewhere than before, or goes on, or lives here.
struct remote_changed {
    account_id account;
};

// Another writer has set a task's key attribute to something else so often that it is left so.
struct key_contested {
    account_id account;
};

// Made, edited or removed by its owner.
struct webhook_changed {
    account_id account;
    callsign::uuid uuid{};
};

// Nobody knows whether the last batch is durable: what is remembered of the store may be wrong.
struct outcome_lost {};

}  // namespace callsign::events

namespace callsign {

using event =
    std::variant<events::version_appended, events::slot_settled, events::retry_seen,
                 events::account_created, events::account_managed, events::account_state_changed,
                 events::account_renamed, events::account_full, events::account_removed,
                 events::series_created, events::series_numbering, events::device_created,
                 events::device_revoked, events::device_resynced, events::token_created,
                 events::token_revoked, events::effect_waiting, events::remote_changed,
                 events::key_contested, events::webhook_changed, events::outcome_lost>;

}  // namespace callsign
