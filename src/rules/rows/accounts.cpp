#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/series.hpp>
#include <callsign/rules/rows/accounts.hpp>

#include <algorithm>
#include <utility>

namespace callsign::accounts {
std::optional<account> find(read_tx& tx, account_id id) {
    return copy_of(tx.get<accounts_by_id>(id));
}

std::optional<account> find(read_tx& tx, std::string_view name) {
    return copy_of(tx.get<accounts_by_name>(name));
}

std::vector<account> some(read_tx& tx, account_id after, std::int64_t limit) {
    return tx.copies(range_of<accounts_by_id>().after(after).limit(limit));
}

std::vector<account> all(read_tx& tx) {
    return tx.copies(range_of<accounts_by_id>());
}

std::vector<account> deleted(read_tx& tx, time_point before, std::int64_t limit) {
    std::vector<account> some;
    tx.scan(range_of<accounts_deleted>().limit(limit), [&](const row_of<account>& each) {
        if (*each->deleted_at >= before) return false;
        some.push_back(*each);
        return true;
    });
    return some;
}

account shown(read_tx& tx, account a) {
    if (const auto its = tx.get<series_default>(a.id)) a.default_prefix = its->prefix;
    return a;
}

chain_head head_of(read_tx& tx, account_id id) {
    const auto found = tx.get<accounts_by_id>(id);
    return found ? found->head : chain_head{};
}

bool is_remote(read_tx& tx, account_id id) {
    return tx.expect<accounts_by_id>(id)->is_remote;
}

std::int64_t history_from(read_tx& tx, account_id id) {
    const auto found = tx.expect<accounts_by_id>(id);
    return std::max(found->history_from, found->head.sealed_seq);
}

account_id put(write_tx& tx, std::string_view name, time_point now, account_mode mode) {
    tx.raise_last_moment(now);
    const account_id id{tx.draw(drawn_id::account)};
    tx.put(account{.id = id, .name = std::string(name), .created_at = now, .mode = mode});
    return id;
}

void update(write_tx& tx, const account& now) {
    tx.edit(tx.expect<accounts_by_id>(now.id), [&](account& a) {
        a.name = now.name;
        a.state = now.state;
        a.deleted_at = now.deleted_at;
    });
}

void add_stored(write_tx& tx, account_id id, std::size_t more, std::size_t less) {
    tx.edit(tx.expect<accounts_by_id>(id), [&](account& a) {
        a.stored_bytes += static_cast<std::int64_t>(more) - static_cast<std::int64_t>(less);
    });
}

void become_managed(write_tx& tx, account_id id, const chain_head& last) {
    tx.edit(tx.expect<accounts_by_id>(id), [&](account& a) {
        a.mode = account_mode::managed;
        a.head = {last.seq, last.version, std::exchange(a.head.seq, 0)};
    });
}

}  // namespace callsign::accounts
