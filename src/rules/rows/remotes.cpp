#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/remotes.hpp>
#include <callsign/rules/rows/remotes.hpp>

#include <utility>

namespace callsign::remotes {
namespace {

void set_remote(write_tx& tx, account_id id, bool is_remote) {
    tx.edit(tx.expect<accounts_by_id>(id), [&](account& a) { a.is_remote = is_remote; });
}

}  // namespace

std::optional<remote_chain> find(read_tx& tx, account_id account) {
    return copy_of(tx.get<remotes_by_account>(account));
}

std::vector<remote_chain> some(read_tx& tx, account_id after, std::int64_t limit) {
    return tx.copies(range_of<remotes_by_account>().after(after).limit(limit));
}

void put(write_tx& tx, remote_chain made) {
    set_remote(tx, made.account, true);
    tx.put(std::move(made));
}

void update(write_tx& tx, remote_chain now) {
    const auto was = tx.expect<remotes_by_account>(now.account);
    tx.put(was, std::move(now));
}

void remove(write_tx& tx, account_id account) {
    set_remote(tx, account, false);
    tx.erase(tx.expect<remotes_by_account>(account));
}

}  // namespace callsign::remotes
