#include "once.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/webhooks.hpp>

namespace callsign::rules {

list_webhooks::answer read(read_tx& tx, const list_webhooks& q) {
    return page_from(webhooks::of(tx, q.account), q.page);
}

find_webhook::answer read(read_tx& tx, const find_webhook& q) {
    auto found = webhooks::find(tx, q.account, q.uuid);
    if (!found) return found;
    const auto owner = accounts::find(tx, q.account);
    found->is_closed = !owner || owner->state != account_state::active;
    return found;
}

find_repeated_webhook::answer read(read_tx& tx, const find_repeated_webhook& q) {
    return repeated_webhook<find_repeated_webhook::answer::value_type>(tx, q.account, q.once);
}

list_deliveries::answer read(read_tx& tx, const list_deliveries& q) {
    const auto found = webhooks::find(tx, q.account, q.uuid);
    if (!found) return std::nullopt;
    return webhooks::deliveries_of(tx, found->id);
}

list_active_webhooks::answer read(read_tx& tx, const list_active_webhooks& q) {
    return webhooks::active(tx, q.after, q.limit);
}

}  // namespace callsign::rules
