// A segment of a device's, on the chain of its managed account. Everything is decided on copies
// first; then it is written.

#include "brought_keys.hpp"
#include "chain_place.hpp"
#include "changes.hpp"
#include "resync.hpp"
#include "room.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/transform.hpp>

#include <algorithm>
#include <span>

namespace callsign::rules {
namespace {

// Whether nobody has touched these tasks since `left_at`, the device itself included: then what it
// missed and what it sends have nothing to do with each other. Each operation on a task moves its
// last_seq; a task without a row has never been, but for those of a chain that was sealed.
bool are_untouched(const std::vector<operation>& sent, touched_tasks& tasks, std::int64_t left_at,
                   std::int64_t sealed_seq) {
    if (left_at < sealed_seq) return false;
    return std::all_of(sent.begin(), sent.end(),
                       [&](const operation& o) { return tasks.last_seq(o.uuid) <= left_at; });
}

// The operations to append, and the positions of others' operations that the device need not apply.
struct decision {
    std::vector<operation> local;
    std::vector<chain_position> dropped;  // in order
};

std::vector<chain_position> merged(std::vector<chain_position> known,
                                   std::span<const chain_position> places,
                                   std::span<const std::size_t> dropped) {
    const auto middle = static_cast<std::ptrdiff_t>(known.size());
    for (const std::size_t each : dropped) known.push_back(places[each]);
    std::inplace_merge(known.begin(), known.begin() + middle, known.end());
    return known;
}

// nullopt: it has missed too much.
std::optional<decision> decide(write_tx& tx, account_id account, std::vector<operation> sent,
                               const chain_place& place, const chain_head& head,
                               touched_tasks& tasks) {
    const auto is_there = [&](const uuid& id) { return tasks.is_there(id); };
    const bool stale = place.left_at != head.seq;
    if (!stale || are_untouched(sent, tasks, place.left_at, head.sealed_seq)) {
        return decision{without_passing(effective_only(std::move(sent), is_there), {}),
                        place.dropped};
    }
    auto missed = missed_at(tx, account, place, head.seq);
    if (!missed) return std::nullopt;
    const presence before = there_before(missed->all);
    sent = effective_only(std::move(sent), [&](const uuid& id) {
        const auto known = before.find(id);
        return known == before.end() ? tasks.is_there(id) : known->second;
    });
    const auto lists =
        transform_lists(std::move(missed->all), without_passing(std::move(sent), before));
    auto dropped = merged(place.dropped, missed->places, lists.dropped);
    if (dropped.size() > add_version::missed_operations_max) return std::nullopt;
    return decision{lists.local, std::move(dropped)};
}

void put_fork(write_tx& tx, account_id account, const add_version& c, const fork_version& side) {
    // Its name was told to nobody, and the new one says all that it said.
    if (c.continues) tx.forget_fork_version(account, c.parent);
    tx.put_fork_version(account, side,
                        {add_version::fork_versions_max, add_version::fork_version_bytes_max});
}

// A device that is further than the backup which the store was put back from.
std::optional<add_version::added> take_up(write_tx& tx, const add_version& c, const device& sender,
                                          const moment& m) {
    if (!sender.resync) return std::nullopt;
    const auto its = resync_versions_of(tx.instance());
    const bool is_its = c.parent == its.ahead || c.parent == its.sent ||
                        is_ahead(tx, sender.account, c.parent, *sender.resync);
    if (!is_its) return std::nullopt;
    // Until its snapshot is here.
    set_resync(tx, sender, resync::state::expected, m);
    return add_version::added{
        .version = its.sent, .taken = c.operations.size(), .wants_snapshot = true};
}

}  // namespace

add_version::answer apply(write_tx& tx, const add_version& c, const moment& m) {
    const auto sender = tx.find_device(c.client_id);
    if (!sender || sender->mode != account_mode::managed) return no_such_client{};
    if (sender->revoked_at) return device_revoked{};
    const account_id account = sender->account;

    const chain_head head = tx.head_of(account);
    const bool stale = head.version != c.parent;
    auto place = stale ? place_of(tx, account, c.parent) : chain_place{head.seq, {}, {}, {}};
    if (!place) {
        if (auto taken = take_up(tx, c, *sender, m)) return *taken;
        return add_version::unknown_parent{};
    }
    if (place->own.size() >= add_version::own_versions_max) return add_version::missed_too_much{};
    if (!c.continues && !has_room(tx, account, c.bytes, m)) return account_full{};
    touched_tasks tasks(tx, account);
    add_version::added done;
    done.stale = stale;
    done.taken = operations_within(c.work_max, c.operations, [&](std::size_t n) {
        return tasks.look_at(c.operations[n].uuid);
    });
    auto decided = decide(tx, account,
                          {c.operations.begin(), c.operations.begin() + std::ptrdiff_t(done.taken)},
                          *place, head, tasks);
    if (!decided) return add_version::missed_too_much{};
    // All have an effect here too: the transform keeps it so. Were one without, it would do no one
    // any good on the chain.
    std::erase_if(decided->local, [&](const operation& o) { return !tasks.carry_out(o); });
    if (auto held = held_series_of(tx, account, tasks, m)) return *std::move(held);

    const appended_changes appended =
        append_changes(tx, account, decided->local, tasks, {.by = sender->id, .cuts = true}, m);
    done.numbered = appended.numbered;
    done.cut = appended.cut;
    done.version = appended.version;
    if (stale) {
        done.version = fork_name(m.ids.next(m.now));
        fork_version side{done.version,
                          place->left_at,
                          m.now,
                          std::move(place->own),
                          std::move(decided->dropped),
                          {}};
        side.own.push_back(appended.seq);
        put_fork(tx, account, c, side);
    }
    return done;
}

}  // namespace callsign::rules
