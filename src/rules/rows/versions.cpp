#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/versions.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <utility>

namespace callsign::versions {
namespace {

version version_in(version_row row) {
    return {row.seq, row.id, row.parent, row.created_at, std::move(row.operations), row.author};
}

version_row row_of_version(write_tx& tx, account_id account, version made) {
    version_row row;
    row.row = tx.draw(drawn_id::version);
    row.account = account;
    row.seq = made.seq;
    row.id = made.id;
    row.parent = made.parent;
    row.created_at = made.created_at;
    row.author = made.author;
    row.bytes = size_of(made.operations);
    row.operations = std::move(made.operations);
    return row;
}

template <class Row>
row_of<Row> expected(row_of<Row> found, account_id account) {
    if (!found) throw_damaged("versions of account", account.value, "one of them does not exist");
    return found;
}

}  // namespace

std::vector<version> some(read_tx& tx, account_id account, std::int64_t after, std::int64_t limit) {
    std::vector<version> some;
    for (auto& row : tx.all(range_of<versions_by_seq>(account).after(after).limit(limit))) {
        some.push_back(version_in(taken(std::move(row))));
    }
    return some;
}

void visit(read_tx& tx, account_id account, std::int64_t after, const visitor& show) {
    tx.scan(range_of<versions_by_seq>(account).after(after), [&](row_of<version_row> row) {
        show(version_in(taken(std::move(row))));
        return true;
    });
}

std::optional<uuid> find_id(read_tx& tx, account_id account, std::int64_t seq) {
    const auto found = tx.get_head<versions_by_seq>(account, seq);
    return found ? std::optional(found->id) : std::nullopt;
}

std::optional<std::int64_t> find_seq(read_tx& tx, account_id account, const uuid& id) {
    const auto found = tx.get_head<versions_by_id>(id, account);
    return found ? std::optional(found->seq) : std::nullopt;
}

std::int64_t append(write_tx& tx, account_id account, const uuid& id, time_point now,
                    std::vector<operation> operations, const author& by) {
    tx.raise_last_moment(now);
    const auto owner = tx.expect<accounts_by_id>(account);
    const chain_head& last = owner->head;
    version_row row = row_of_version(
        tx, account, {last.seq + 1, id, last.version, now, std::move(operations), by});
    tx.edit(owner, [&](callsign::account& a) {
        ++a.head.seq;
        a.head.version = id;
        a.stored_bytes += static_cast<std::int64_t>(row.bytes);
    });
    return tx.put(std::move(row))->seq;
}

void scrub(write_tx& tx, account_id account, const uuid& id, std::vector<operation> operations) {
    const auto found = expected(tx.get<versions_by_id>(id, account), account);
    const std::size_t bytes = size_of(operations);
    accounts::add_stored(tx, account, bytes, found->bytes);
    tx.edit(found, [&](version_row& v) {
        v.bytes = bytes;
        v.operations = std::move(operations);
    });
}

void take_over(write_tx& tx, account_id account, version made) {
    tx.raise_last_moment(made.created_at);
    if (made.seq > 1 && find_seq(tx, account, made.parent) != made.seq - 1) {
        throw_damaged("accounts", account.value, "another head than was taken over");
    }
    version_row row = row_of_version(tx, account, std::move(made));
    accounts::add_stored(tx, account, row.bytes, 0);
    tx.put(std::move(row));
}

void drop(write_tx& tx, account_id account, const uuid& id) {
    const auto found = expected(tx.get_head<versions_by_id>(id, account), account);
    accounts::add_stored(tx, account, 0, found->bytes);
    tx.erase(found);
}

}  // namespace callsign::versions
