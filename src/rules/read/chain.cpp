#include "chain_place.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/read.hpp>

namespace callsign::rules {

find_head::answer read(read_tx& tx, const find_head& q) {
    return tx.head_of(q.account);
}

find_child::answer read(read_tx& tx, const find_child& q) {
    if (tx.head_of(q.account).version == q.parent) return up_to_date{};
    const auto place = place_of(tx, q.account, q.parent);
    if (!place) return unknown_version{};
    auto next = tx.versions(q.account, place->left_at, 1);
    if (next.size() != 1) throw_damaged("accounts", q.account.value, "its chain has a hole");
    version& child = next.front();
    if (!place->beside()) return find_child::next_version{child.id, std::move(child.operations)};
    leave_out_dropped(*place, child.operations);
    return find_child::next_version{place->after_next, std::move(child.operations)};
}

// One at a time, for each may be a large one.
read_versions::answer read(read_tx& tx, const read_versions& q) {
    read_versions::answer found;
    std::int64_t after = q.after;
    for (std::size_t work = 0; work < q.work_max;) {
        auto next = tx.versions(q.account, after, 1);
        if (next.empty()) return found;
        after = next.front().seq;
        work += work_of_task;
        for (const operation& o : next.front().operations) work += work_of(o);
        found.push_back(std::move(next.front()));
    }
    return found;
}

}  // namespace callsign::rules
