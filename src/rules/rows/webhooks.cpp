#include "latest.hpp"

#include <callsign/rules/rows/webhooks.hpp>

#include <utility>

namespace callsign::webhooks {

std::optional<webhook> find(read_tx& tx, account_id account, const uuid& id) {
    return copy_of(tx.get<webhooks_by_uuid>(id, account));
}

std::vector<webhook> of(read_tx& tx, account_id account) {
    return tx.copies(range_of<webhooks_by_account>(account));
}

std::vector<webhook> active(read_tx& tx, webhook_id after, std::int64_t limit) {
    std::vector<webhook> some;
    tx.scan(range_of<webhooks_by_id>().after(after), [&](const row_of<webhook>& each) {
        if (std::ssize(some) == limit) return false;
        if (!each->disabled) some.push_back(*each);
        return true;
    });
    return some;
}

std::vector<webhook_delivery> deliveries_of(read_tx& tx, webhook_id id) {
    std::vector<webhook_delivery> all;
    for (const auto& each : tx.all(range_of<deliveries_by_webhook>(id).descending())) {
        all.push_back(each->what);
    }
    return all;
}

webhook_id put(write_tx& tx, webhook made) {
    tx.raise_last_moment(made.created_at);
    made.id = webhook_id{tx.draw(drawn_id::webhook)};
    return tx.put(std::move(made))->id;
}

void update(write_tx& tx, const webhook& now) {
    tx.put(tx.expect<webhooks_by_id>(now.id), now);
}

void remove(write_tx& tx, webhook_id id) {
    for (const auto& each : tx.all(range_of<deliveries_by_webhook>(id))) tx.erase(each);
    tx.erase(tx.expect<webhooks_by_id>(id));
}

void put_delivery(write_tx& tx, webhook_id id, const webhook_delivery& delivery) {
    tx.raise_last_moment(delivery.at);
    const std::int64_t place =
        take_place(tx, range_of<deliveries_by_webhook>(id), webhook_deliveries_kept);
    tx.put(delivery_row{tx.draw(drawn_id::delivery), id, place, delivery});
}

}  // namespace callsign::webhooks
