#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/effects.hpp>

#include <algorithm>

namespace callsign::rules {

list_remotes::answer read(read_tx& tx, const list_remotes& q) {
    return tx.remotes(q.after, q.limit);
}

find_remote::answer read(read_tx& tx, const find_remote& q) {
    auto remote = tx.find_remote(q.account);
    if (!remote) return std::nullopt;
    return find_remote::found{std::move(*remote), effects::tally(tx, q.account),
                              tx.head_of(q.account).seq};
}

list_in_flight::answer read(read_tx& tx, const list_in_flight& q) {
    constexpr std::int64_t remotes_at_once = 100;
    list_in_flight::answer all;
    for (account_id after{};;) {
        const auto some = tx.remotes(after, remotes_at_once);
        for (const remote_chain& r : some) {
            const outbox_tally waiting = effects::tally(tx, r.account);
            if (waiting.creations == 0) continue;
            const auto owner = tx.find_account(r.account);
            all.push_back({owner ? owner->name : std::string(), waiting});
            if (all.size() == q.listed_max) return all;
        }
        if (std::ssize(some) < remotes_at_once) return all;
        after = some.back().account;
    }
}

knows_version::answer read(read_tx& tx, const knows_version& q) {
    return std::ranges::any_of(
        q.versions, [&](const uuid& id) { return tx.find_version_seq(q.account, id).has_value(); });
}

}  // namespace callsign::rules
