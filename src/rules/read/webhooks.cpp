#include <callsign/rules/read.hpp>

namespace callsign::rules {

list_webhooks::answer read(read_tx& tx, const list_webhooks& q) {
    return page_from(tx.webhooks_of(q.account), q.page);
}

find_webhook::answer read(read_tx& tx, const find_webhook& q) {
    auto found = tx.find_webhook(q.account, q.uuid);
    if (!found) return found;
    const auto owner = tx.find_account(q.account);
    found->is_closed = !owner || owner->state != account_state::active;
    return found;
}

list_deliveries::answer read(read_tx& tx, const list_deliveries& q) {
    const auto found = tx.find_webhook(q.account, q.uuid);
    if (!found) return std::nullopt;
    return tx.deliveries_of(found->id);
}

list_active_webhooks::answer read(read_tx& tx, const list_active_webhooks& q) {
    return tx.active_webhooks(q.after, q.limit);
}

}  // namespace callsign::rules
