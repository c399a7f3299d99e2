#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/fork_versions.hpp>
#include <callsign/rules/rows/forks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>

namespace callsign::forks {

std::optional<fork_version> find(read_tx& tx, account_id account, const uuid& id) {
    const auto found = tx.get<forks_by_id>(id, account);
    if (!found) return std::nullopt;
    const auto last = versions::find_id(tx, account, found->seq);
    if (!last) return std::nullopt;
    return fork_version{found->fork, found->way, *last};
}

std::vector<fork_return> returns(read_tx& tx, const fork_return& after, std::int64_t limit) {
    std::vector<fork_return> some;
    for (const auto& each :
         tx.all(range_of<forks_by_id>().after(after.id, after.account).limit(limit).heads())) {
        some.push_back({each->fork.id, each->account, each->seq});
    }
    return some;
}

void put(write_tx& tx, account_id account, const fork_version& made, const bounds& keep) {
    tx.raise_last_moment(made.created_at);
    fork_row row{
        {.row = tx.draw(drawn_id::fork), .account = account, .fork = made, .seq = made.own.back()},
        made};
    std::int64_t bytes = 0;  // of all fork versions so far
    tx.edit(tx.expect<accounts_by_id>(account), [&](callsign::account& a) {
        row.place = ++a.forks.versions;
        row.bytes_before = a.forks.bytes;
        bytes = a.forks.bytes += static_cast<std::int64_t>(size_of(made));
    });
    // Maximum that one call removes: after a change of the limits there may be more.
    constexpr std::int64_t gone_max = 64;
    const auto oldest = range_of<forks_by_place>(account).limit(gone_max).expect(1).heads();
    tx.scan(oldest, [&](const row_of<fork_head>& each) {
        const bool stays = each->place > row.place - keep.count_max &&
                           each->bytes_before >= bytes - keep.bytes_max;
        if (!stays) tx.erase(each);
        return !stays;
    });
    tx.put(std::move(row));
}

void forget(write_tx& tx, account_id account, const uuid& id) {
    if (const auto found = tx.get_head<forks_by_id>(id, account)) tx.erase(found);
}

std::int64_t forget_before(write_tx& tx, time_point before, std::int64_t limit) {
    std::int64_t gone = 0;
    for (const auto& each : tx.all(range_of<forks_by_id>().limit(limit).heads())) {
        if (each->fork.created_at >= before) continue;
        tx.erase(each);
        ++gone;
    }
    return gone;
}

}  // namespace callsign::forks
