#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/sealed.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/sealed.hpp>

#include <utility>

namespace callsign {
namespace sealed {

std::optional<sealed_version> find_child(read_tx& tx, account_id account, const uuid& parent) {
    auto found = tx.get<sealed_by_parent>(parent, account);
    return found ? std::optional(taken(std::move(found))) : std::nullopt;
}

std::optional<sealed_link> find_link(read_tx& tx, account_id account, const uuid& parent) {
    return copy_of(tx.get_head<sealed_by_parent>(parent, account));
}

std::optional<sealed_version> find_first(read_tx& tx, account_id account) {
    std::optional<sealed_version> first;
    tx.scan(range_of<sealed_by_place>().heads(), [&](const row_of<sealed_link>& each) {
        const bool is_it = each->account == account && each->seq == 1;
        if (is_it) first = find_child(tx, account, each->parent);
        return !is_it;
    });
    return first;
}

std::vector<sealed_link> links(read_tx& tx, std::int64_t place, std::int64_t limit) {
    return tx.copies(range_of<sealed_by_place>().after(place).limit(limit).heads());
}

std::int64_t append(write_tx& tx, account_id account, const uuid& id, const uuid& parent,
                    time_point now, std::string segment) {
    tx.raise_last_moment(now);
    sealed_version made;
    made.place = tx.draw(drawn_id::sealed);
    made.account = account;
    made.id = id;
    made.parent = parent;
    made.created_at = now;
    made.bytes = segment.size();
    made.segment = std::move(segment);
    tx.edit(tx.expect<accounts_by_id>(account), [&](callsign::account& a) {
        made.seq = ++a.head.seq;
        a.head.version = id;
        a.stored_bytes += static_cast<std::int64_t>(made.bytes);
    });
    return tx.put(std::move(made))->seq;
}

std::size_t remove(write_tx& tx, account_id account, const uuid& parent) {
    const auto found = tx.get_head<sealed_by_parent>(parent, account);
    if (!found) return 0;
    accounts::add_stored(tx, account, 0, found->bytes);
    tx.erase(found);
    return found->bytes;
}

}  // namespace sealed

namespace snapshots {

std::optional<snapshot_mark> find_mark(read_tx& tx, account_id account) {
    const auto found = tx.get_head<snapshots_by_account>(account);
    return found ? std::optional(found->mark) : std::nullopt;
}

std::optional<sealed_snapshot> find(read_tx& tx, account_id account) {
    auto found = tx.get<snapshots_by_account>(account);
    if (!found) return std::nullopt;
    snapshot_row row = taken(std::move(found));
    return sealed_snapshot{row.mark, std::move(row.bytes)};
}

std::size_t size_of(read_tx& tx, account_id account) {
    const auto found = tx.get_head<snapshots_by_account>(account);
    return found ? found->size : 0;
}

void put(write_tx& tx, account_id account, const snapshot_mark& mark, time_point now,
         std::string bytes) {
    tx.raise_last_moment(now);
    remove(tx, account);
    snapshot_row made;
    made.account = account;
    made.mark = mark;
    made.size = bytes.size();
    made.bytes = std::move(bytes);
    accounts::add_stored(tx, account, made.size, 0);
    tx.put(std::move(made));
}

void remove(write_tx& tx, account_id account) {
    const auto found = tx.get_head<snapshots_by_account>(account);
    if (!found) return;
    accounts::add_stored(tx, account, 0, found->size);
    tx.erase(found);
}

}  // namespace snapshots
}  // namespace callsign
