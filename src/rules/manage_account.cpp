// An opaque account becomes managed: its opened history takes the place of the sealed one, and its
// tasks get their numbers, in one transaction.

#include "changes.hpp"
#include "numbering.hpp"

#include <algorithm>
#include <span>

namespace callsign::rules {
namespace {

// Who reads a version reads it whole.
constexpr std::size_t keys_of_version_max = 10'000;

// Makes those tasks. What tells clients their keys is version `seq`.
std::vector<operation> number(write_tx& tx, account_id account,
                              std::span<const manage_account::made_task> tasks, std::int64_t seq,
                              const moment& m) {
    std::vector<operation> keys;
    for (const auto& made : tasks) {
        auto known = tx.find_task(account, made.uuid);
        task t = known ? *std::move(known) : task{};
        t.attributes = made.attributes;
        // What was numbered unseen keeps its number.
        if (t.numbered) {
            t.last_seq = seq;
            if (auto key = correct_key(t, t.attributes, m)) keys.push_back(*std::move(key));
            tx.reveal_task(t.id, t.attributes, made.seq, t.last_seq);
            continue;
        }
        t.account = account;
        t.uuid = made.uuid;
        t.created_at = made.created_at;
        const series_id series = give_number(tx, t, {}, project_of(t.attributes), m);
        t.numbered->seq = made.seq;
        t.numbered->created_at = made.created_at;
        t.last_seq = seq;
        if (auto key = correct_key(t, t.attributes, m)) keys.push_back(*std::move(key));
        tx.put_task(t, series);
    }
    return keys;
}

}  // namespace

manage_account::answer apply(write_tx& tx, const manage_account& c, const moment& m) {
    const auto owner = tx.find_account(c.account);
    if (!owner) return no_such_account{};
    if (owner->mode != account_mode::opaque) return manage_account::not_opaque{};
    const chain_head head = tx.head_of(c.account);
    for (const series& s : tx.series_of(c.account)) {
        if (s.held && !c.tasks.empty()) return series_held{s.prefix};
    }
    if (head.seq == 0) return manage_account::no_history{};
    if (head.seq != c.head.seq || head.version != c.head.version) return manage_account::moved_on{};
    const auto clients = tx.devices_of(c.account);
    if (clients.size() != 1) {
        throw_damaged("accounts", c.account.value, "an opaque account has one client id");
    }

    tx.become_managed(c.account, c.history);
    for (const version& v : c.history) {
        tx.take_over_version(c.account, v);
        put_purges(tx, c.account, v.operations, v.seq);
    }
    tx.give_key(clients.front().id, c.device_name, c.sealed_key);
    m.tell(events::account_managed{c.account, clients.front().client_id});

    // Versions that carry the keys come behind the history.
    std::int64_t seq = head.seq;
    for (std::span<const manage_account::made_task> rest = c.tasks; !rest.empty();) {
        const auto some = rest.first(std::min(rest.size(), keys_of_version_max));
        rest = rest.subspan(some.size());
        if (!m.key_attribute.empty()) ++seq;
        const auto keys = number(tx, c.account, some, seq, m);
        if (seq > head.seq) tx.append_version(c.account, m.ids.next(m.now), m.now, keys);
    }
    m.tell(events::version_appended{c.account, seq});
    return manage_account::managed{static_cast<std::int64_t>(c.history.size()),
                                   static_cast<std::int64_t>(c.tasks.size())};
}

}  // namespace callsign::rules
