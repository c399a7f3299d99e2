#include <callsign/rules/read.hpp>

#include <algorithm>

namespace callsign::rules {

list_remotes::answer read(read_tx& tx, const list_remotes& q) {
    return tx.remotes(q.after, q.limit);
}

find_remote::answer read(read_tx& tx, const find_remote& q) {
    auto remote = tx.find_remote(q.account);
    if (!remote) return std::nullopt;
    return find_remote::found{std::move(*remote), tx.outbox_of(q.account),
                              tx.head_of(q.account).seq};
}

knows_version::answer read(read_tx& tx, const knows_version& q) {
    return std::ranges::any_of(
        q.versions, [&](const uuid& id) { return tx.find_version_seq(q.account, id).has_value(); });
}

}  // namespace callsign::rules
