#pragma once
// Webhooks, and the logs of their deliveries.

#include <callsign/domain/account.hpp>
#include <callsign/domain/webhook.hpp>
#include <callsign/ports/store.hpp>
#include <callsign/ports/tables/webhooks.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace callsign::webhooks {

std::optional<webhook> find(read_tx& tx, account_id account, const uuid& id);
// In the order of IDs.
std::vector<webhook> of(read_tx& tx, account_id account);
// At most `limit` enabled webhooks of all accounts after `after`, in the order of IDs.
std::vector<webhook> active(read_tx& tx, webhook_id after, std::int64_t limit);
// Latest first.
std::vector<webhook_delivery> deliveries_of(read_tx& tx, webhook_id id);

// Ignores `made.id`. Requires: the UUID is unused.
webhook_id put(write_tx& tx, webhook made);
// Replaces the row: position, failures, disabled, edits, secret.
void update(write_tx& tx, const webhook& now);
// Deletes the webhook and its deliveries.
void remove(write_tx& tx, webhook_id id);
// Adds a delivery; keeps the latest webhook_deliveries_kept.
void put_delivery(write_tx& tx, webhook_id id, const webhook_delivery& delivery);

}  // namespace callsign::webhooks
