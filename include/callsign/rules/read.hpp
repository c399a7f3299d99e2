#pragma once
// Executes queries on a store. Pure and synchronous, as the rules of commands are; writes nothing.
// store_failure passes through.

#include <callsign/domain/commands/restoring.hpp>
#include <callsign/domain/query.hpp>
#include <callsign/ports/store.hpp>

namespace callsign::rules {

find_account::answer read(read_tx& tx, const find_account& q);
list_accounts::answer read(read_tx& tx, const list_accounts& q);
list_series::answer read(read_tx& tx, const list_series& q);
find_principal::answer read(read_tx& tx, const find_principal& q);
list_tokens::answer read(read_tx& tx, const list_tokens& q);
find_device::answer read(read_tx& tx, const find_device& q);
list_devices::answer read(read_tx& tx, const list_devices& q);
find_device_with_key::answer read(read_tx& tx, const find_device_with_key& q);
foresee_create_device::answer read(read_tx& tx, const foresee_create_device& q);
find_task::answer read(read_tx& tx, const find_task& q);
read_tasks::answer read(read_tx& tx, const read_tasks& q);
list_tasks::answer read(read_tx& tx, const list_tasks& q);
scan_tasks::answer read(read_tx& tx, const scan_tasks& q);
find_listed_tasks::answer read(read_tx& tx, const find_listed_tasks& q);
find_slot::answer read(read_tx& tx, const find_slot& q);
list_slots::answer read(read_tx& tx, const list_slots& q);
count_pending_slots::answer read(read_tx& tx, const count_pending_slots& q);
find_retry_times::answer read(read_tx& tx, const find_retry_times& q);
find_head::answer read(read_tx& tx, const find_head& q);
find_child::answer read(read_tx& tx, const find_child& q);
find_missed::answer read(read_tx& tx, const find_missed& q);
read_versions::answer read(read_tx& tx, const read_versions& q);
read_changes::answer read(read_tx& tx, const read_changes& q);
find_opaque_account::answer read(read_tx& tx, const find_opaque_account& q);
find_sealed_child::answer read(read_tx& tx, const find_sealed_child& q);
find_sealed_snapshot::answer read(read_tx& tx, const find_sealed_snapshot& q);
read_sealed_versions::answer read(read_tx& tx, const read_sealed_versions& q);
find_half_managed::answer read(read_tx& tx, const find_half_managed& q);
list_remotes::answer read(read_tx& tx, const list_remotes& q);
find_remote::answer read(read_tx& tx, const find_remote& q);
list_in_flight::answer read(read_tx& tx, const list_in_flight& q);
knows_version::answer read(read_tx& tx, const knows_version& q);
find_numbering::answer read(read_tx& tx, const find_numbering& q);
find_purged::answer read(read_tx& tx, const find_purged& q);
find_purged_text::answer read(read_tx& tx, const find_purged_text& q);
list_sealed::answer read(read_tx& tx, const list_sealed& q);
list_actions::answer read(read_tx& tx, const list_actions& q);
list_webhooks::answer read(read_tx& tx, const list_webhooks& q);
find_webhook::answer read(read_tx& tx, const find_webhook& q);
list_deliveries::answer read(read_tx& tx, const list_deliveries& q);
list_active_webhooks::answer read(read_tx& tx, const list_active_webhooks& q);

}  // namespace callsign::rules
