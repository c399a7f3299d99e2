#pragma once
// Changes of a store, as values. A rule returns events beside its answer; the engine delivers those
// of a batch once it is durable, in order, before it answers the requests (engine/hub.hpp). Events
// identify what changed and carry no content.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/slot.hpp>

#include <cstdint>
#include <optional>
#include <variant>

namespace callsign::events {

// The account's chain has grown to `seq`, so its tasks may have changed.
struct version_appended {
    account_id account;
    std::int64_t seq = 0;
};

// An open slot was committed or failed.
struct slot_settled {
    account_id account;
    slot_id slot;
    slot_state state = slot_state::committed;
};

// A request used a known key, `after` the key was reserved, by the monotonic clock, as the reaper
// determines a slot's age. `found` is the slot's state; failed: the retry came too late. A request
// that waits for another one with the same key is not reported: its delay is irrelevant, since the
// reaper fails no slot that a request is working on.
struct retry_seen {
    account_id account;
    account_class accounts = account_class::local;
    slot_id slot;
    slot_state found = slot_state::pending;
    milliseconds after{0};
};

struct account_created {
    account_id account;
    std::optional<uuid> client_id;  // the credential of an opaque account
};

// The account was disabled, enabled, deleted or restored, or its removal has begun.
struct account_state_changed {
    account_id account;
};

// The account has a new name.
struct account_renamed {
    account_id account;
};

// A change was rejected because the account has reached this limit.
struct account_full {
    account_id account;
    account_limit limit = account_limit::stored_bytes;
};

// All rows of the account were removed.
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

// The series was resumed or renamed, and some of its tasks have no number, or their former key.
struct series_steps_due {
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

// The device's state after a restore has changed.
struct device_resynced {
    account_id account;
    uuid client_id{};
};

struct token_created {
    token_id token;
    std::optional<account_id> account;  // none: an operator token
};

struct token_revoked {
    token_id token;
    std::optional<account_id> account;
};

// Effects wait in the outbox of a remote account.
struct effect_waiting {
    account_id account;
};

// The account's remote_chain was created, changed, halted, resumed or removed.
struct remote_changed {
    account_id account;
};

// Another client overwrote a task's key attribute so often that it is no longer corrected.
struct key_contested {
    account_id account;
};

// A webhook was created, edited or removed.
struct webhook_changed {
    account_id account;
    callsign::uuid uuid{};
};

// It is unknown whether the last batch is durable: cached rows of the store may be wrong.
struct outcome_lost {};

}  // namespace callsign::events

namespace callsign {

using event =
    std::variant<events::version_appended, events::slot_settled, events::retry_seen,
                 events::account_created, events::account_managed, events::account_state_changed,
                 events::account_renamed, events::account_full, events::account_removed,
                 events::series_created, events::series_steps_due, events::device_created,
                 events::device_revoked, events::device_resynced, events::token_created,
                 events::token_revoked, events::effect_waiting, events::remote_changed,
                 events::key_contested, events::webhook_changed, events::outcome_lost>;

}  // namespace callsign
