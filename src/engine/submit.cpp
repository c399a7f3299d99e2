// Instantiates engine::submit_by for each command.

#include <callsign/engine/engine.hpp>

namespace callsign {

using boost::asio::awaitable;
using asker = std::optional<actor>;

template <class Command>
awaitable<result<typename Command::answer>> engine::submit_by(Command command, asker by) {
    callsign::command any(std::in_place_type<Command>, std::move(command));
    std::optional<answer> done;
    const auto error = co_await submit_any(std::move(any), std::move(by), done);
    if (error) co_return error;
    co_return std::get<typename Command::answer>(std::move(*done));
}

template awaitable<result<reserve::answer>> engine::submit_by(reserve, asker);
template awaitable<result<fulfil::answer>> engine::submit_by(fulfil, asker);
template awaitable<result<reconcile_pending::answer>> engine::submit_by(reconcile_pending, asker);
template awaitable<result<forget_settled::answer>> engine::submit_by(forget_settled, asker);
template awaitable<result<keep_retry_times::answer>> engine::submit_by(keep_retry_times, asker);
template awaitable<result<create_account::answer>> engine::submit_by(create_account, asker);
template awaitable<result<create_token::answer>> engine::submit_by(create_token, asker);
template awaitable<result<revoke_token::answer>> engine::submit_by(revoke_token, asker);
template awaitable<result<create_series::answer>> engine::submit_by(create_series, asker);
template awaitable<result<create_device::answer>> engine::submit_by(create_device, asker);
template awaitable<result<revoke_device::answer>> engine::submit_by(revoke_device, asker);
template awaitable<result<edit_task::answer>> engine::submit_by(edit_task, asker);
template awaitable<result<import_tasks::answer>> engine::submit_by(import_tasks, asker);
template awaitable<result<edit_series::answer>> engine::submit_by(edit_series, asker);
template awaitable<result<import_numbers::answer>> engine::submit_by(import_numbers, asker);
template awaitable<result<add_version::answer>> engine::submit_by(add_version, asker);
template awaitable<result<manage_account::answer>> engine::submit_by(manage_account, asker);
template awaitable<result<take_over_history::answer>> engine::submit_by(take_over_history, asker);
template awaitable<result<undo_take_over::answer>> engine::submit_by(undo_take_over, asker);
template awaitable<result<remove_sealed::answer>> engine::submit_by(remove_sealed, asker);
template awaitable<result<add_sealed_version::answer>> engine::submit_by(add_sealed_version, asker);
template awaitable<result<add_sealed_snapshot::answer>> engine::submit_by(add_sealed_snapshot,
                                                                          asker);
template awaitable<result<register_client::answer>> engine::submit_by(register_client, asker);
template awaitable<result<import_sealed_version::answer>> engine::submit_by(import_sealed_version,
                                                                            asker);
template awaitable<result<import_sealed_snapshot::answer>> engine::submit_by(import_sealed_snapshot,
                                                                             asker);
template awaitable<result<create_webhook::answer>> engine::submit_by(create_webhook, asker);
template awaitable<result<edit_webhook::answer>> engine::submit_by(edit_webhook, asker);
template awaitable<result<remove_webhook::answer>> engine::submit_by(remove_webhook, asker);
template awaitable<result<give_key::answer>> engine::submit_by(give_key, asker);
template awaitable<result<settle_delivery::answer>> engine::submit_by(settle_delivery, asker);
template awaitable<result<begin_delivery::answer>> engine::submit_by(begin_delivery, asker);
template awaitable<result<take_delivery::answer>> engine::submit_by(take_delivery, asker);
template awaitable<result<settle::answer>> engine::submit_by(settle, asker);
template awaitable<result<apply_remote_version::answer>> engine::submit_by(apply_remote_version,
                                                                           asker);
template awaitable<result<apply_remote_state::answer>> engine::submit_by(apply_remote_state, asker);
template awaitable<result<give_up_effect::answer>> engine::submit_by(give_up_effect, asker);
template awaitable<result<fail_in_flight::answer>> engine::submit_by(fail_in_flight, asker);
template awaitable<result<halt_remote::answer>> engine::submit_by(halt_remote, asker);
template awaitable<result<edit_remote::answer>> engine::submit_by(edit_remote, asker);
template awaitable<result<move_there::answer>> engine::submit_by(move_there, asker);
template awaitable<result<begin_restored::answer>> engine::submit_by(begin_restored, asker);
template awaitable<result<resume_series::answer>> engine::submit_by(resume_series, asker);
template awaitable<result<merge_snapshot::answer>> engine::submit_by(merge_snapshot, asker);
template awaitable<result<tell_again::answer>> engine::submit_by(tell_again, asker);
template awaitable<result<edit_account::answer>> engine::submit_by(edit_account, asker);
template awaitable<result<delete_account::answer>> engine::submit_by(delete_account, asker);
template awaitable<result<remove_deleted::answer>> engine::submit_by(remove_deleted, asker);
template awaitable<result<end_resync::answer>> engine::submit_by(end_resync, asker);
template awaitable<result<move_here::answer>> engine::submit_by(move_here, asker);
template awaitable<result<reseal::answer>> engine::submit_by(reseal, asker);
template awaitable<result<note_action::answer>> engine::submit_by(note_action, asker);
template awaitable<result<forget_actions::answer>> engine::submit_by(forget_actions, asker);
template awaitable<result<number_tasks::answer>> engine::submit_by(number_tasks, asker);
template awaitable<result<scrub_purged::answer>> engine::submit_by(scrub_purged, asker);
template awaitable<result<clear_log::answer>> engine::submit_by(clear_log, asker);

}  // namespace callsign
