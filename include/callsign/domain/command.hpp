#pragma once
// All changes of a store, as values. The rule of its name (rules/rules.hpp) applies a command
// inside the writer's transaction and returns one of the command's answers; an answer that rejects
// the command has written nothing. Beside each command stands its claim: whose share it counts
// against, and its cost.
//
// To add one: a struct in commands/ and its claim_of, an apply() in rules/, a line below and one in
// src/engine/submit.cpp.

#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/commands/auditing.hpp>
#include <callsign/domain/commands/chain.hpp>
#include <callsign/domain/commands/creation.hpp>
#include <callsign/domain/commands/devices.hpp>
#include <callsign/domain/commands/reaping.hpp>
#include <callsign/domain/commands/remote_chain.hpp>
#include <callsign/domain/commands/restoring.hpp>
#include <callsign/domain/commands/scrubbing.hpp>
#include <callsign/domain/commands/sealed_chain.hpp>
#include <callsign/domain/commands/series.hpp>
#include <callsign/domain/commands/tasks.hpp>
#include <callsign/domain/commands/webhooks.hpp>

#include <variant>

namespace callsign {

using command =
    std::variant<reserve, fulfil, reconcile_pending, forget_settled, create_account, create_token,
                 revoke_token, create_series, add_version, edit_task, manage_account,
                 add_sealed_version, add_sealed_snapshot, register_client, import_sealed_version,
                 import_sealed_snapshot, create_device, revoke_device, import_tasks, edit_series,
                 import_numbers, create_webhook, edit_webhook, remove_webhook, settle_delivery,
                 give_key, keep_retry_times, begin_delivery, take_delivery, settle,
                 apply_remote_version, apply_remote_state, give_up_effect, fail_in_flight,
                 halt_remote, edit_remote, move_there, move_here, begin_restored, resume_series,
                 merge_snapshot, tell_again, number_tasks, end_resync, edit_account, delete_account,
                 remove_deleted, note_action, forget_actions, reseal, scrub_purged, clear_log,
                 take_over_history, undo_take_over, remove_sealed>;

using answer = std::variant<
    std::monostate, reserve::answer, fulfil::answer, reconcile_pending::answer,
    forget_settled::answer, create_account::answer, create_token::answer, revoke_token::answer,
    create_series::answer, add_version::answer, edit_task::answer, manage_account::answer,
    add_sealed_version::answer, add_sealed_snapshot::answer, register_client::answer,
    import_sealed_version::answer, import_sealed_snapshot::answer, create_device::answer,
    revoke_device::answer, import_tasks::answer, edit_series::answer, import_numbers::answer,
    create_webhook::answer, edit_webhook::answer, remove_webhook::answer, settle_delivery::answer,
    give_key::answer, keep_retry_times::answer, begin_delivery::answer, take_delivery::answer,
    settle::answer, apply_remote_version::answer, apply_remote_state::answer,
    give_up_effect::answer, fail_in_flight::answer, halt_remote::answer, edit_remote::answer,
    move_there::answer, move_here::answer, begin_restored::answer, resume_series::answer,
    merge_snapshot::answer, tell_again::answer, number_tasks::answer, end_resync::answer,
    edit_account::answer, delete_account::answer, remove_deleted::answer, note_action::answer,
    forget_actions::answer, reseal::answer, scrub_purged::answer, clear_log::answer,
    take_over_history::answer, undo_take_over::answer, remove_sealed::answer>;

// Returns the claim of the command in `c`. Not called claim_of: commands convert to `command`
// implicitly, so a command without a claim_of of its own would recurse forever.
claim claim_of_any(const command& c);

}  // namespace callsign
