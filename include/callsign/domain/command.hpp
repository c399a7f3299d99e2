#pragma once
// All changes of a store, as values. The rule of its name (rules/rules.hpp) applies a command
// inside the writer's transaction and returns one of the command's answers; an answer that rejects
// the command has written nothing. Each has a claim: whose share it counts against, and its cost.
//
// To add one: a struct in commands/, a line below, its claim_of() in src/domain/claims.cpp, and an
// apply() in rules/.

#include <callsign/domain/claim.hpp>
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

// The only list of commands: for claim_of(), the variants, rules::apply() and engine::submit().
// clang-format off
#define CALLSIGN_COMMANDS(DO) \
    DO(reserve) \
    DO(fulfil) \
    DO(reconcile_pending) \
    DO(forget_settled) \
    DO(create_account) \
    DO(create_token) \
    DO(revoke_token) \
    DO(create_series) \
    DO(add_version) \
    DO(edit_task) \
    DO(manage_account) \
    DO(add_sealed_version) \
    DO(add_sealed_snapshot) \
    DO(register_client) \
    DO(import_sealed_version) \
    DO(import_sealed_snapshot) \
    DO(create_device) \
    DO(revoke_device) \
    DO(import_tasks) \
    DO(edit_series) \
    DO(import_numbers) \
    DO(create_webhook) \
    DO(edit_webhook) \
    DO(remove_webhook) \
    DO(settle_delivery) \
    DO(assign_key) \
    DO(keep_retry_times) \
    DO(begin_delivery) \
    DO(take_delivery) \
    DO(settle) \
    DO(apply_remote_version) \
    DO(apply_remote_state) \
    DO(suspend_effect) \
    DO(fail_in_flight) \
    DO(halt_remote) \
    DO(edit_remote) \
    DO(move_to_remote) \
    DO(move_to_local) \
    DO(mark_restored) \
    DO(resume_series) \
    DO(merge_snapshot) \
    DO(recreate_tasks) \
    DO(number_tasks) \
    DO(update_keys) \
    DO(end_resync) \
    DO(edit_account) \
    DO(delete_account) \
    DO(remove_deleted) \
    DO(note_action) \
    DO(forget_actions) \
    DO(reseal) \
    DO(scrub_purged) \
    DO(clear_log) \
    DO(take_over_history) \
    DO(undo_take_over) \
    DO(remove_sealed)
// clang-format on

namespace callsign {

namespace commands {
template <class, class... Command>
struct variants {
    using command = std::variant<Command...>;
    using answer = std::variant<std::monostate, typename Command::answer...>;
};
#define CALLSIGN_COMMAND(name) , name
using all = variants<void CALLSIGN_COMMANDS(CALLSIGN_COMMAND)>;
#undef CALLSIGN_COMMAND
}  // namespace commands

using command = commands::all::command;
using answer = commands::all::answer;

#define CALLSIGN_CLAIM(name) claim claim_of(const name& c);
CALLSIGN_COMMANDS(CALLSIGN_CLAIM)
#undef CALLSIGN_CLAIM

// Returns the claim of the command in `c`.
claim claim_of_any(const command& c);

}  // namespace callsign
