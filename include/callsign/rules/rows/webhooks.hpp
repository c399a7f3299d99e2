#pragma once
// Webhooks, and the log of their deliveries.

#include <callsign/domain/account.hpp>
#include <callsign/domain/webhook.hpp>
#include <callsign/ports/store.hpp>
#include <callsign/ports/tables/webhooks.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace callsign::webhooks {

std::optional<webhook> find(read_tx& tx, account_id account, const uuid& id);
// In the order of their ids, here and below.
std::vector<webhook> of(read_tx& tx, account_id account);
// At most `limit` of all accounts after `after` that are not disabled.
std::vector<webhook> active(read_tx& tx, webhook_id after, std::int64_t limit);
// The latest first.
std::vector<webhook_delivery> deliveries_of(read_tx& tx, webhook_id id);

// `made.id` is ignored. Requires: nobody has this uuid.
webhook_id put(write_tx& tx, webhook made);
// Where it stands, its failures, whether it is disabled, how often it was edited, its secret.
void update(write_tx& tx, const webhook& now);
// With its deliveries.
void remove(write_tx& tx, webhook_id id);
// The latest of its deliveries; of those before it, webhook_deliveries_kept stay with it.
void put_delivery(write_tx& tx, webhook_id id, const webhook_delivery& delivery);

}  // namespace callsign::webhooks
