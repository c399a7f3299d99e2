#include "chain_place.hpp"
#include "resync.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/instance.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>

namespace callsign::rules {

find_head::answer read(read_tx& tx, const find_head& q) {
    return accounts::head_of(tx, q.account);
}

namespace {

// Returns the place of a device that is ahead of the restored backup (resync.hpp).
std::variant<chain_place, find_child::answer> place_of_returning(read_tx& tx, const find_child& q) {
    const uuid instance = instance_of(tx);
    const uuid parent = version_of_name(q.parent);
    const auto its = resync_versions_of(instance);
    if (parent == its.ahead) return find_child::awaits_change{};
    if (parent == its.sent) {
        if (q.resync->now == resync::state::expected) return find_child::awaits_snapshot{};
        return find_child::next_version{its.cleared,
                                        {{operation_kind::remove, its.note, {}, {}, {}}}};
    }
    if (parent == its.cleared) return chain_place{q.resync->from, {}, {}, {}};
    if (!is_ahead(tx, q.account, parent, *q.resync)) return unknown_version{};
    return find_child::ahead{{its.ahead, note_operations(instance)}};
}

// The devices of an account that was opaque share a client ID.
bool is_shared(read_tx& tx, const find_child& q, const chain_head& head) {
    if (q.device == device_id{} || q.at.is_shared) return true;
    return head.sealed_seq != 0 && devices::of(tx, q.account).front().id == q.device;
}

// Returns whether this is the server's own version after a device's. If a device overwrites what it
// sets, another one corrects that.
bool is_correction(const version& v) {
    return v.author == author{} && std::ranges::all_of(v.operations, [](const operation& o) {
               return o.kind == operation_kind::update;
           });
}

}  // namespace

find_child::answer read(read_tx& tx, const find_child& q) {
    const chain_head head = accounts::head_of(tx, q.account);
    if (head.version == q.parent) return up_to_date{head.seq};
    auto place = place_of(tx, q.account, q.parent);
    if (!place && q.resync) {
        auto found = place_of_returning(tx, q);
        if (auto* const other = std::get_if<find_child::answer>(&found)) return std::move(*other);
        place = std::get<chain_place>(std::move(found));
    }
    if (!place) return unknown_version{};
    if (place->left_at == head.seq && !place->beside()) return up_to_date{head.seq};
    // Versions that other servers made can have any ID.
    const bool is_named =
        is_push_first_name(q.parent) && !versions::find_seq(tx, q.account, q.parent);
    const bool may_push_first =
        !is_shared(tx, q, head) && (is_named || version_of_name(q.parent) == q.parent);
    const find_child::push_first push_first{push_first_name(q.parent), head.seq, place->left_at};
    if (is_named && !q.at.own_through && !q.at.pulls_first) {
        // The device needs another push-first ID than the one its sync began with.
        if (q.at.may_be_resumed) return up_to_date{place->left_at};
        return push_first;
    }
    if (may_push_first && q.at.pushes_first) return push_first;
    if (may_push_first && q.at.has_another_batch && !q.at.pulls_first) return push_first;
    version child = version_at(tx, q.account, place->left_at + 1);
    const bool is_own = child.author == author{q.device};
    const bool is_by_others = may_push_first && !is_own && !is_correction(child);
    if (place->beside()) leave_out_dropped(*place, child.operations);
    std::erase_if(child.operations, is_scrubbed);
    if (may_push_first && is_own && !q.at.pulls_own && !child.operations.empty() &&
        child.seq > q.at.own_through.value_or(0)) {
        return push_first;
    }
    return find_child::next_version{place->beside() ? place->after_next : child.id,
                                    std::move(child.operations), is_by_others, place->left_at};
}

find_missed::answer read(read_tx& tx, const find_missed& q) {
    const auto sender = devices::find(tx, q.client_id);
    const auto place = place_of(tx, q.account, q.parent);
    if (!sender || !place) return unknown_version{};
    const std::int64_t head = accounts::head_of(tx, q.account).seq;
    auto next =
        read_missed(tx, q.account, sender->id, *place, can_meet(q.sent), q.after, head, q.work_max);
    const bool is_all = next.through == head;
    return find_missed::found{std::move(next), is_all};
}

// One at a time, because versions may be large.
read_versions::answer read(read_tx& tx, const read_versions& q) {
    read_versions::answer found;
    std::int64_t after = q.after;
    for (std::size_t work = 0; work < q.work_max;) {
        auto next = versions::some(tx, q.account, after, 1);
        if (next.empty()) return found;
        after = next.front().seq;
        work += work_of(next.front());
        found.push_back(std::move(next.front()));
    }
    return found;
}

}  // namespace callsign::rules
