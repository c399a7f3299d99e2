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

reserve::answer apply(write_tx& tx, const reserve& c, const moment& m);
fulfil::answer apply(write_tx& tx, const fulfil& c, const moment& m);
reconcile_pending::answer apply(write_tx& tx, const reconcile_pending& c, const moment& m);
forget_settled::answer apply(write_tx& tx, const forget_settled& c, const moment& m);
keep_retry_times::answer apply(write_tx& tx, const keep_retry_times& c, const moment& m);
create_account::answer apply(write_tx& tx, const create_account& c, const moment& m);
edit_account::answer apply(write_tx& tx, const edit_account& c, const moment& m);
delete_account::answer apply(write_tx& tx, const delete_account& c, const moment& m);
remove_deleted::answer apply(write_tx& tx, const remove_deleted& c, const moment& m);
create_token::answer apply(write_tx& tx, const create_token& c, const moment& m);
revoke_token::answer apply(write_tx& tx, const revoke_token& c, const moment& m);
create_series::answer apply(write_tx& tx, const create_series& c, const moment& m);
add_version::answer apply(write_tx& tx, const add_version& c, const moment& m);
edit_task::answer apply(write_tx& tx, const edit_task& c, const moment& m);
manage_account::answer apply(write_tx& tx, const manage_account& c, const moment& m);
take_over_history::answer apply(write_tx& tx, const take_over_history& c, const moment& m);
undo_take_over::answer apply(write_tx& tx, const undo_take_over& c, const moment& m);
remove_sealed::answer apply(write_tx& tx, const remove_sealed& c, const moment& m);
add_sealed_version::answer apply(write_tx& tx, const add_sealed_version& c, const moment& m);
add_sealed_snapshot::answer apply(write_tx& tx, const add_sealed_snapshot& c, const moment& m);
register_client::answer apply(write_tx& tx, const register_client& c, const moment& m);
import_sealed_version::answer apply(write_tx& tx, const import_sealed_version& c, const moment& m);
import_sealed_snapshot::answer apply(write_tx& tx, const import_sealed_snapshot& c,
                                     const moment& m);
create_device::answer apply(write_tx& tx, const create_device& c, const moment& m);
revoke_device::answer apply(write_tx& tx, const revoke_device& c, const moment& m);
import_tasks::answer apply(write_tx& tx, const import_tasks& c, const moment& m);
edit_series::answer apply(write_tx& tx, const edit_series& c, const moment& m);
import_numbers::answer apply(write_tx& tx, const import_numbers& c, const moment& m);
create_webhook::answer apply(write_tx& tx, const create_webhook& c, const moment& m);
edit_webhook::answer apply(write_tx& tx, const edit_webhook& c, const moment& m);
remove_webhook::answer apply(write_tx& tx, const remove_webhook& c, const moment& m);
give_key::answer apply(write_tx& tx, const give_key& c, const moment& m);
settle_delivery::answer apply(write_tx& tx, const settle_delivery& c, const moment& m);
begin_delivery::answer apply(write_tx& tx, const begin_delivery& c, const moment& m);
take_delivery::answer apply(write_tx& tx, const take_delivery& c, const moment& m);
settle::answer apply(write_tx& tx, const settle& c, const moment& m);
apply_remote_version::answer apply(write_tx& tx, const apply_remote_version& c, const moment& m);
apply_remote_state::answer apply(write_tx& tx, const apply_remote_state& c, const moment& m);
give_up_effect::answer apply(write_tx& tx, const give_up_effect& c, const moment& m);
fail_in_flight::answer apply(write_tx& tx, const fail_in_flight& c, const moment& m);
halt_remote::answer apply(write_tx& tx, const halt_remote& c, const moment& m);
edit_remote::answer apply(write_tx& tx, const edit_remote& c, const moment& m);
move_there::answer apply(write_tx& tx, const move_there& c, const moment& m);
begin_restored::answer apply(write_tx& tx, const begin_restored& c, const moment& m);
resume_series::answer apply(write_tx& tx, const resume_series& c, const moment& m);
merge_snapshot::answer apply(write_tx& tx, const merge_snapshot& c, const moment& m);
tell_again::answer apply(write_tx& tx, const tell_again& c, const moment& m);
end_resync::answer apply(write_tx& tx, const end_resync& c, const moment& m);
number_tasks::answer apply(write_tx& tx, const number_tasks& c, const moment& m);
move_here::answer apply(write_tx& tx, const move_here& c, const moment& m);
reseal::answer apply(write_tx& tx, const reseal& c, const moment& m);
scrub_purged::answer apply(write_tx& tx, const scrub_purged& c, const moment& m);
clear_log::answer apply(write_tx& tx, const clear_log& c, const moment& m);
note_action::answer apply(write_tx& tx, const note_action& c, const moment& m);
forget_actions::answer apply(write_tx& tx, const forget_actions& c, const moment& m);

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
