// Instantiates engine::ask for each query.

#include <callsign/engine/engine.hpp>
#include <callsign/rules/read.hpp>

namespace callsign {

using boost::asio::awaitable;

template <class Query>
awaitable<result<typename Query::answer>> engine::ask(Query query) {
    std::optional<typename Query::answer> found;
    std::function<void(read_tx*)> run = [&](read_tx* tx) {
        found.emplace(rules::read(*tx, query));
    };
    const claim asks = claim_of(query);
    const boost::system::error_code error = co_await run_query(asks, std::move(run));
    using answered = result<typename Query::answer>;
    if (error) co_return answered(boost::system::in_place_error, error);
    co_return answered(boost::system::in_place_value, std::move(*found));
}

template awaitable<result<find_account::answer>> engine::ask(find_account);
template awaitable<result<list_accounts::answer>> engine::ask(list_accounts);
template awaitable<result<list_series::answer>> engine::ask(list_series);
template awaitable<result<find_principal::answer>> engine::ask(find_principal);
template awaitable<result<list_tokens::answer>> engine::ask(list_tokens);
template awaitable<result<find_device::answer>> engine::ask(find_device);
template awaitable<result<list_devices::answer>> engine::ask(list_devices);
template awaitable<result<find_device_with_key::answer>> engine::ask(find_device_with_key);
template awaitable<result<foresee_create_device::answer>> engine::ask(foresee_create_device);
template awaitable<result<find_task::answer>> engine::ask(find_task);
template awaitable<result<read_tasks::answer>> engine::ask(read_tasks);
template awaitable<result<list_tasks::answer>> engine::ask(list_tasks);
template awaitable<result<scan_tasks::answer>> engine::ask(scan_tasks);
template awaitable<result<find_listed_tasks::answer>> engine::ask(find_listed_tasks);
template awaitable<result<find_slot::answer>> engine::ask(find_slot);
template awaitable<result<list_slots::answer>> engine::ask(list_slots);
template awaitable<result<count_pending_slots::answer>> engine::ask(count_pending_slots);
template awaitable<result<find_retry_times::answer>> engine::ask(find_retry_times);
template awaitable<result<find_head::answer>> engine::ask(find_head);
template awaitable<result<find_child::answer>> engine::ask(find_child);
template awaitable<result<find_missed::answer>> engine::ask(find_missed);
template awaitable<result<read_versions::answer>> engine::ask(read_versions);
template awaitable<result<read_changes::answer>> engine::ask(read_changes);
template awaitable<result<find_opaque_account::answer>> engine::ask(find_opaque_account);
template awaitable<result<find_sealed_child::answer>> engine::ask(find_sealed_child);
template awaitable<result<find_sealed_snapshot::answer>> engine::ask(find_sealed_snapshot);
template awaitable<result<read_sealed_versions::answer>> engine::ask(read_sealed_versions);
template awaitable<result<find_half_managed::answer>> engine::ask(find_half_managed);
template awaitable<result<list_remotes::answer>> engine::ask(list_remotes);
template awaitable<result<callsign::find_remote::answer>> engine::ask(callsign::find_remote);
template awaitable<result<list_in_flight::answer>> engine::ask(list_in_flight);
template awaitable<result<knows_version::answer>> engine::ask(knows_version);
template awaitable<result<find_numbering::answer>> engine::ask(find_numbering);
template awaitable<result<find_purged::answer>> engine::ask(find_purged);
template awaitable<result<find_purged_text::answer>> engine::ask(find_purged_text);
template awaitable<result<list_sealed::answer>> engine::ask(list_sealed);
template awaitable<result<list_actions::answer>> engine::ask(list_actions);
template awaitable<result<list_webhooks::answer>> engine::ask(list_webhooks);
template awaitable<result<find_webhook::answer>> engine::ask(find_webhook);
template awaitable<result<list_deliveries::answer>> engine::ask(list_deliveries);
template awaitable<result<list_active_webhooks::answer>> engine::ask(list_active_webhooks);

}  // namespace callsign
