// A segment of a device's, on the chain of its managed account. Everything is decided on copies
// first; then it is written.

#include "chain_place.hpp"
#include "changes.hpp"

#include <callsign/rules/transform.hpp>

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace callsign::rules {
namespace {

// Of what the device sent, what had an effect for it; `was_there`: before it sent anything. Tasks
// that come and go again within it are left out: nobody else need ever hear of them, and they would
// leave operations on the chain, but no row.
std::vector<operation> effective_for_device(std::vector<operation> sent,
                                            const std::function<bool(const uuid&)>& was_there) {
    std::unordered_map<uuid, bool, boost::hash<uuid>> passing;
    auto all = effective_only(std::move(sent), [&](const uuid& id) {
        const bool there = was_there(id);
        if (!there) passing.emplace(id, false);
        return there;
    });
    for (const operation& o : all) {
        const auto found = passing.find(o.uuid);
        if (found != passing.end()) found->second = o.what == operation::kind::remove;
    }
    std::erase_if(all, [&](const operation& o) {
        const auto found = passing.find(o.uuid);
        return found != passing.end() && found->second;
    });
    return all;
}

// Whether nobody has touched these tasks since `left_at`, the device itself included: then what it
// missed and what it sends have nothing to do with each other. Each operation on a task moves its
// last_seq; a task without a row has never been, but for those of a chain that was sealed.
bool are_untouched(const std::vector<operation>& sent, touched_tasks& tasks, std::int64_t left_at,
                   std::int64_t sealed_seq) {
    if (left_at < sealed_seq) return false;
    return std::all_of(sent.begin(), sent.end(),
                       [&](const operation& o) { return tasks.last_seq(o.uuid) <= left_at; });
}

// What is to be appended, and what leads the device back if it is late.
struct decision {
    std::vector<operation> local;
    std::optional<std::vector<operation>> edge;  // none: what it missed, as it is
};

// nullopt: it has missed too much.
std::optional<decision> decide(write_tx& tx, account_id account, const add_version& c,
                               const chain_place& place, const chain_head& head,
                               touched_tasks& tasks) {
    const auto is_there = [&](const uuid& id) { return tasks.is_there(id); };
    const bool late = head.version != c.parent;
    if (!late || are_untouched(c.operations, tasks, place.left_at, head.sealed_seq)) {
        return decision{effective_for_device(c.operations, is_there), std::nullopt};
    }
    auto missed = missed_at(tx, account, place, head.seq);
    if (!missed) return std::nullopt;
    const presence before = there_before(*missed);
    auto sent = effective_for_device(c.operations, [&](const uuid& id) {
        const auto known = before.find(id);
        return known == before.end() ? tasks.is_there(id) : known->second;
    });
    auto lists = transform_lists(std::move(*missed), std::move(sent));
    return decision{std::move(lists.local), std::move(lists.server)};
}

}  // namespace

add_version::answer apply(write_tx& tx, const add_version& c, const moment& m) {
    const auto sender = tx.find_device(c.client_id);
    if (!sender || sender->mode != account_mode::managed) return no_such_client{};
    if (sender->revoked_at) return device_revoked{};
    const account_id account = sender->account;

    const chain_head head = tx.head_of(account);
    const bool late = head.version != c.parent;
    const auto place =
        late ? place_of(tx, account, c.parent) : chain_place{head.seq, head.seq, std::nullopt};
    if (!place) return add_version::unknown_parent{};
    touched_tasks tasks(tx, account);
    auto decided = decide(tx, account, c, *place, head, tasks);
    if (!decided) return add_version::missed_too_much{};
    // All have an effect here too: the transform keeps it so. Were one without, it would do no one
    // any good on the chain.
    std::erase_if(decided->local, [&](const operation& o) { return !tasks.carry_out(o); });
    if (const auto grown = tasks.too_large()) return task_too_large{*grown};

    add_version::added done;
    done.late = late;
    const appended_changes appended = append_changes(tx, account, decided->local, tasks, m);
    done.numbered = appended.numbered;
    done.version = appended.version;
    if (late) {
        done.version = m.ids.next(m.now);
        tx.put_side_version(account, {done.version, c.parent, place->left_at, appended.seq, m.now,
                                      std::move(decided->edge)});
    }
    return done;
}

}  // namespace callsign::rules
