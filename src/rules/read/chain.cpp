#include "chain_place.hpp"
#include "resync.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/read.hpp>

namespace callsign::rules {

find_head::answer read(read_tx& tx, const find_head& q) {
    return tx.head_of(q.account);
}

namespace {

// A device that is further than the backup which the store was put back from, on its way back.
std::variant<chain_place, find_child::answer> place_of_returning(read_tx& tx, const find_child& q) {
    const uuid instance = tx.instance();
    const auto its = resync_versions_of(instance);
    if (q.parent == its.ahead) return find_child::awaits_change{};
    if (q.parent == its.sent) {
        if (q.resync->now == resync::state::expected) return find_child::awaits_snapshot{};
        return find_child::next_version{its.cleared,
                                        {{operation_kind::remove, its.note, {}, {}, {}}}};
    }
    if (q.parent == its.cleared) return chain_place{q.resync->from, {}, {}, {}};
    if (!is_ahead(tx, q.account, q.parent, *q.resync)) return unknown_version{};
    return find_child::ahead{{its.ahead, note_operations(instance)}};
}

}  // namespace

find_child::answer read(read_tx& tx, const find_child& q) {
    const chain_head head = tx.head_of(q.account);
    if (head.version == q.parent) return up_to_date{};
    auto place = place_of(tx, q.account, q.parent);
    if (!place && q.resync) {
        auto found = place_of_returning(tx, q);
        if (auto* const other = std::get_if<find_child::answer>(&found)) return std::move(*other);
        place = std::get<chain_place>(std::move(found));
        if (place->left_at == head.seq) return up_to_date{};
    }
    if (!place) return unknown_version{};
    version child = version_at(tx, q.account, place->left_at + 1);
    if (place->beside()) leave_out_dropped(*place, child.operations);
    std::erase_if(child.operations, is_scrubbed);
    return find_child::next_version{place->beside() ? place->after_next : child.id,
                                    std::move(child.operations)};
}

// One at a time, for each may be a large one.
read_versions::answer read(read_tx& tx, const read_versions& q) {
    read_versions::answer found;
    std::int64_t after = q.after;
    for (std::size_t work = 0; work < q.work_max;) {
        auto next = tx.versions(q.account, after, 1);
        if (next.empty()) return found;
        after = next.front().seq;
        work += work_of_task + work_of(next.front().operations);
        found.push_back(std::move(next.front()));
    }
    return found;
}

}  // namespace callsign::rules
