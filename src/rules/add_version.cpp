// Adds a device's segment to the chain of its managed account. Everything is decided on copies
// before anything is written.

#include "chain_place.hpp"
#include "changes.hpp"
#include "resync.hpp"
#include "room.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/forks.hpp>
#include <callsign/rules/rows/instance.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/rules/transform.hpp>

#include <algorithm>
#include <span>

namespace callsign::rules {
namespace {

// Returns whether none of these tasks has changed since `left_at`, not even by the device itself:
// missed and sent operations are then independent. Each operation on a task updates its last_seq.
// Only on a chain that was sealed can a task without a row have existed.
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

const missed_changes& known_to(const add_version& c) {
    static const missed_changes nothing;
    return c.missed ? *c.missed : nothing;
}

// Returns others' operations up to `through` that the device lacks at `place` and that its own can
// meet. Returns nullopt if they exceed what is known and what the command reads.
std::optional<missed_changes> missed_at(read_tx& tx, const add_version& c, const device& sender,
                                        const chain_place& place, const can_meet& its,
                                        std::int64_t through) {
    const missed_changes& known = known_to(c);
    const auto rest =
        read_missed(tx, sender.account, sender.id, place, its, known.through, through, c.read_max);
    if (rest.through < through) return std::nullopt;
    missed_changes missed;
    const auto take = [&](const missed_changes& some) {
        for (std::size_t n = 0; n < some.operations.size(); ++n) {
            const chain_position& at = some.places[n];
            if (at.seq > through || !lacks(place, at) || !its(some.operations[n])) continue;
            missed.operations.push_back(some.operations[n]);
            missed.places.push_back(at);
        }
    };
    take(known);
    take(rest);
    return missed;
}

// Transforms operations sent at `place` over the versions up to `through`. `is_there` is called for
// tasks without missed operations. nullopt: not all missed operations are known.
template <class IsThere>
std::optional<decision> transform_over(read_tx& tx, const add_version& c, const device& sender,
                                       std::vector<operation> sent, const chain_place& place,
                                       std::int64_t through, IsThere is_there) {
    auto missed = missed_at(tx, c, sender, place, can_meet(sent), through);
    if (!missed) return std::nullopt;
    const presence before = there_before(missed->operations);
    sent = effective_only(std::move(sent), [&](const uuid& id) {
        const auto known = before.find(id);
        return known == before.end() ? is_there(id) : known->second;
    });
    const auto lists =
        transform_lists(std::move(missed->operations), drop_transient(std::move(sent), before));
    return decision{lists.local, merged(place.dropped, missed->places, lists.dropped)};
}

std::optional<decision> decide_at(write_tx& tx, const add_version& c, const device& sender,
                                  std::vector<operation> sent, const chain_place& place,
                                  const chain_head& head, touched_tasks& tasks) {
    const auto is_there = [&](const uuid& id) { return tasks.is_there(id); };
    const bool stale = place.left_at != head.seq;
    if (stale && !are_untouched(sent, tasks, place.left_at, head.sealed_seq)) {
        return transform_over(tx, c, sender, std::move(sent), place, head.seq, is_there);
    }
    return decision{drop_transient(effective_only(std::move(sent), is_there), {}), place.dropped};
}

// Returns the ID of the state of a device at `place` that also has its own version `seq`.
uuid name_place(write_tx& tx, const add_version& c, account_id account, chain_place place,
                std::int64_t seq, const moment& m) {
    place.own.push_back(seq);
    if (const auto on_chain = pass_own(place)) {
        return versions::find_id(tx, account, *on_chain).value();
    }
    const fork_version side{{fork_name(m.ids.next(m.now)), place.left_at, m.now},
                            {std::move(place.own), std::move(place.dropped)}};
    // No device has received the former fork version's ID, and the new version replaces it.
    if (c.continues) forks::forget(tx, account, c.parent);
    forks::put(tx, account, side,
               {add_version::fork_versions_max, add_version::fork_version_bytes_max});
    return name_of_fork(side);
}

// Returns the first of the device's own versions after its place: it did not commit the acceptance
// and sends that version again. nullopt: none is within what is known and read. A later one is
// about the same tasks, so missed versions must be read first.
std::optional<version> find_next_own(read_tx& tx, const add_version& c, const device& sender,
                                     const chain_head& head, const chain_place& place) {
    // A device's versions are in the order in which it sent them.
    std::int64_t seq = place.beside() ? place.own.back() : place.left_at;
    const missed_changes& known = known_to(c);
    auto next_known = std::ranges::upper_bound(known.own, seq);
    for (std::size_t work = 0; work <= c.read_max;) {
        const bool is_known = next_known != known.own.end();
        seq = is_known ? *next_known++ : std::max(seq, known.through) + 1;
        if (seq > head.seq) break;
        version next = version_at(tx, sender.account, seq);
        if (!is_known) work += work_of(next);
        std::erase_if(next.operations, is_scrubbed);
        if (next.author == author{sender.id} && !next.operations.empty()) return next;
    }
    return std::nullopt;
}

// The part of `sent` that an earlier version was made of. `end` is 0 if an operation is missing.
struct resent {
    std::ptrdiff_t begin = 0;
    std::ptrdiff_t end = 0;
};

resent find_resent(const version& own, std::span<const operation> sent) {
    const auto begin = std::ranges::find(sent, own.operations.front());
    auto end = begin;
    for (const operation& o : own.operations) {
        end = std::find(end, sent.end(), o);
        if (end == sent.end()) return {begin - sent.begin(), 0};
        ++end;
    }
    return {begin - sent.begin(), end - sent.begin()};
}

// Does not append a resent version again: the device gets a place after the version that holds it.
// Returns nullopt if nothing is resent.
std::optional<add_version::answer> accept_resent(write_tx& tx, const add_version& c,
                                                 const device& sender, const chain_head& head,
                                                 chain_place& place, const moment& m) {
    const auto first = c.operations.begin();
    const auto own = find_next_own(tx, c, sender, head, place);
    if (!own) return std::nullopt;
    const auto found = find_resent(*own, c.operations);
    if (found.end == 0) {
        // Operations before the resent ones had no effect. The next command has the rest.
        const bool is_another = found.begin == 0 || found.begin == std::ssize(c.operations);
        if (is_another) return std::nullopt;
        return add_version::added{.version = c.parent, .taken = std::size_t(found.begin)};
    }
    // `is_there` is irrelevant: only operations that meet others' change what is pulled.
    auto decided = transform_over(tx, c, sender, {first, first + found.end}, place, own->seq - 1,
                                  [](const uuid&) { return false; });
    if (!decided) return add_version::needs_missed{};
    place.dropped = std::move(decided->dropped);
    return add_version::added{
        .version = name_place(tx, c, sender.account, std::move(place), own->seq, m),
        .stale = true,
        .taken = std::size_t(found.end)};
}

// Accepts a segment of a device that is ahead of the restored backup (resync.hpp).
std::optional<add_version::added> take_up(write_tx& tx, const add_version& c, const device& sender,
                                          const moment& m) {
    if (!sender.resync) return std::nullopt;
    const auto its = resync_versions_of(instance_of(tx));
    const bool is_its = c.parent == its.ahead || c.parent == its.sent ||
                        is_ahead(tx, sender.account, version_of_name(c.parent), *sender.resync);
    if (!is_its) return std::nullopt;
    set_resync(tx, sender, resync::state::expected, m);
    return add_version::added{
        .version = its.sent, .taken = c.operations.size(), .wants_snapshot = true};
}

}  // namespace

add_version::answer apply(write_tx& tx, const add_version& c, const moment& m) {
    const auto sender = devices::find(tx, c.client_id);
    if (!sender || sender->mode != account_mode::managed) return no_such_client{};
    if (sender->revoked_at) return device_revoked{};
    const account_id account = sender->account;

    const chain_head head = accounts::head_of(tx, account);
    auto place = head.version == c.parent ? chain_place{head.seq, {}, {}, {}}
                                          : place_of(tx, account, c.parent);
    if (!place) {
        if (auto taken = take_up(tx, c, *sender, m)) return *taken;
        return add_version::unknown_parent{};
    }
    if (place->own.size() >= add_version::own_versions_max) return add_version::too_far_behind{};
    if (!c.continues && !has_room(tx, account, c.bytes, m)) return account_full{};
    touched_tasks tasks(tx, account);
    if (c.continues || is_push_first_name(c.parent)) {
        if (auto again = accept_resent(tx, c, *sender, head, *place, m)) return *again;
    }
    const bool stale = place->left_at != head.seq;
    add_version::added done;
    done.stale = stale;
    done.taken = operations_within(c.work_max, c.operations, [&](std::size_t n) {
        return tasks.look_at(c.operations[n].uuid);
    });
    auto decided = decide_at(
        tx, c, *sender, {c.operations.begin(), c.operations.begin() + std::ptrdiff_t(done.taken)},
        *place, head, tasks);
    if (!decided) return add_version::needs_missed{};
    if (decided->dropped.size() > missed_changes::operations_max) {
        return add_version::too_far_behind{};
    }
    // The transform keeps only effective operations. One without effect must not enter the chain.
    std::erase_if(decided->local, [&](const operation& o) { return !tasks.carry_out(o); });

    const appended_changes appended =
        append_changes(tx, account, decided->local, tasks, {.by = sender->id, .cuts = true}, m);
    done.numbered = appended.numbered;
    done.cut = appended.cut;
    done.version = appended.version;
    if (stale) {
        place->dropped = std::move(decided->dropped);
        done.version = name_place(tx, c, account, *std::move(place), appended.seq, m);
    }
    return done;
}

}  // namespace callsign::rules
