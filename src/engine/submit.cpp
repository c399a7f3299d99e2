// engine::submit, once for each command.

#include <callsign/engine/engine.hpp>

namespace callsign {

using boost::asio::awaitable;

template <class Command>
awaitable<result<typename Command::answer>> engine::submit(Command command) {
    // Named first: GCC 12 destroys a temporary in a co_await twice.
    callsign::command any{std::move(command)};
    std::optional<actor> nobody;
    result<answer> done = co_await submit_any(std::move(any), std::move(nobody));
    if (!done) co_return done.error();
    co_return std::get<typename Command::answer>(std::move(*done));
}

template <class Command>
awaitable<result<typename Command::answer>> engine::submit(Command command, actor by) {
    callsign::command any{std::move(command)};
    std::optional<actor> known{std::move(by)};
    result<answer> done = co_await submit_any(std::move(any), std::move(known));
    if (!done) co_return done.error();
    co_return std::get<typename Command::answer>(std::move(*done));
}

template awaitable<result<reserve::answer>> engine::submit(reserve);
template awaitable<result<fulfil::answer>> engine::submit(fulfil);
template awaitable<result<reconcile_pending::answer>> engine::submit(reconcile_pending);
template awaitable<result<forget_settled::answer>> engine::submit(forget_settled);
template awaitable<result<keep_retry_times::answer>> engine::submit(keep_retry_times);
template awaitable<result<create_account::answer>> engine::submit(create_account);
template awaitable<result<create_token::answer>> engine::submit(create_token);
template awaitable<result<revoke_token::answer>> engine::submit(revoke_token);
template awaitable<result<create_series::answer>> engine::submit(create_series);
template awaitable<result<create_device::answer>> engine::submit(create_device);
template awaitable<result<revoke_device::answer>> engine::submit(revoke_device);
template awaitable<result<edit_task::answer>> engine::submit(edit_task);
template awaitable<result<import_tasks::answer>> engine::submit(import_tasks);
template awaitable<result<edit_series::answer>> engine::submit(edit_series);
template awaitable<result<import_numbers::answer>> engine::submit(import_numbers);
template awaitable<result<add_version::answer>> engine::submit(add_version);
template awaitable<result<manage_account::answer>> engine::submit(manage_account);
template awaitable<result<take_over_history::answer>> engine::submit(take_over_history);
template awaitable<result<undo_take_over::answer>> engine::submit(undo_take_over);
template awaitable<result<remove_sealed::answer>> engine::submit(remove_sealed);
template awaitable<result<add_sealed_version::answer>> engine::submit(add_sealed_version);
template awaitable<result<add_sealed_snapshot::answer>> engine::submit(add_sealed_snapshot);
template awaitable<result<register_client::answer>> engine::submit(register_client);
template awaitable<result<import_sealed_version::answer>> engine::submit(import_sealed_version);
template awaitable<result<import_sealed_snapshot::answer>> engine::submit(import_sealed_snapshot);
template awaitable<result<create_webhook::answer>> engine::submit(create_webhook);
template awaitable<result<edit_webhook::answer>> engine::submit(edit_webhook);
template awaitable<result<remove_webhook::answer>> engine::submit(remove_webhook);
template awaitable<result<give_key::answer>> engine::submit(give_key);
template awaitable<result<settle_delivery::answer>> engine::submit(settle_delivery);
template awaitable<result<begin_delivery::answer>> engine::submit(begin_delivery);
template awaitable<result<take_delivery::answer>> engine::submit(take_delivery);
template awaitable<result<settle::answer>> engine::submit(settle);
template awaitable<result<apply_remote_version::answer>> engine::submit(apply_remote_version);
template awaitable<result<apply_remote_state::answer>> engine::submit(apply_remote_state);
template awaitable<result<give_up_effect::answer>> engine::submit(give_up_effect);
template awaitable<result<fail_in_flight::answer>> engine::submit(fail_in_flight);
template awaitable<result<halt_remote::answer>> engine::submit(halt_remote);
template awaitable<result<edit_remote::answer>> engine::submit(edit_remote);
template awaitable<result<move_there::answer>> engine::submit(move_there);
template awaitable<result<begin_restored::answer>> engine::submit(begin_restored);
template awaitable<result<resume_series::answer>> engine::submit(resume_series);
template awaitable<result<merge_snapshot::answer>> engine::submit(merge_snapshot);
template awaitable<result<tell_again::answer>> engine::submit(tell_again);
template awaitable<result<edit_account::answer>> engine::submit(edit_account);
template awaitable<result<delete_account::answer>> engine::submit(delete_account);
template awaitable<result<remove_deleted::answer>> engine::submit(remove_deleted);
template awaitable<result<end_resync::answer>> engine::submit(end_resync);
template awaitable<result<move_here::answer>> engine::submit(move_here);
template awaitable<result<reseal::answer>> engine::submit(reseal);
template awaitable<result<forget_actions::answer>> engine::submit(forget_actions);
template awaitable<result<number_tasks::answer>> engine::submit(number_tasks);
template awaitable<result<scrub_purged::answer>> engine::submit(scrub_purged);
template awaitable<result<clear_log::answer>> engine::submit(clear_log);

// Those that the audit log keeps.
template awaitable<result<create_account::answer>> engine::submit(create_account, actor);
template awaitable<result<create_token::answer>> engine::submit(create_token, actor);
template awaitable<result<revoke_token::answer>> engine::submit(revoke_token, actor);
template awaitable<result<create_series::answer>> engine::submit(create_series, actor);
template awaitable<result<create_device::answer>> engine::submit(create_device, actor);
template awaitable<result<revoke_device::answer>> engine::submit(revoke_device, actor);
template awaitable<result<import_tasks::answer>> engine::submit(import_tasks, actor);
template awaitable<result<edit_series::answer>> engine::submit(edit_series, actor);
template awaitable<result<import_numbers::answer>> engine::submit(import_numbers, actor);
template awaitable<result<manage_account::answer>> engine::submit(manage_account, actor);
template awaitable<result<register_client::answer>> engine::submit(register_client, actor);
template awaitable<result<create_webhook::answer>> engine::submit(create_webhook, actor);
template awaitable<result<edit_webhook::answer>> engine::submit(edit_webhook, actor);
template awaitable<result<remove_webhook::answer>> engine::submit(remove_webhook, actor);
template awaitable<result<edit_remote::answer>> engine::submit(edit_remote, actor);
template awaitable<result<move_there::answer>> engine::submit(move_there, actor);
template awaitable<result<move_here::answer>> engine::submit(move_here, actor);
template awaitable<result<resume_series::answer>> engine::submit(resume_series, actor);
template awaitable<result<edit_account::answer>> engine::submit(edit_account, actor);
template awaitable<result<delete_account::answer>> engine::submit(delete_account, actor);
template awaitable<result<note_action::answer>> engine::submit(note_action, actor);

}  // namespace callsign
