#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>

namespace callsign::rules {

list_remotes::answer read(read_tx& tx, const list_remotes& q) {
    return remotes::some(tx, q.after, q.limit);
}

find_remote::answer read(read_tx& tx, const find_remote& q) {
    auto remote = remotes::find(tx, q.account);
    if (!remote) return std::nullopt;
    return find_remote::found{std::move(*remote), effects::tally(tx, q.account),
                              accounts::head_of(tx, q.account).seq};
}

list_in_flight::answer read(read_tx& tx, const list_in_flight& q) {
    constexpr std::int64_t remotes_at_once = 100;
    list_in_flight::answer all;
    for (account_id after{};;) {
        const auto some = remotes::some(tx, after, remotes_at_once);
        for (const remote_chain& r : some) {
            const outbox_tally waiting = effects::tally(tx, r.account);
            if (waiting.creations == 0) continue;
            const auto owner = accounts::find(tx, r.account);
            all.push_back({owner ? owner->name : std::string(), waiting});
            if (all.size() == q.listed_max) return all;
        }
        if (std::ssize(some) < remotes_at_once) return all;
        after = some.back().account;
    }
}

knows_version::answer read(read_tx& tx, const knows_version& q) {
    return std::ranges::any_of(q.versions, [&](const uuid& id) {
        return versions::find_seq(tx, q.account, id).has_value();
    });
}

}  // namespace callsign::rules
