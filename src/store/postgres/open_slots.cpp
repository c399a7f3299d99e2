#include "open_slots.hpp"

#include <callsign/base/assert.hpp>

#include <limits>

namespace callsign::postgres {

void open_slots::load(std::int64_t through, std::span<const row_ptr> slots) {
    through_ = through;
    for (const row_ptr& row : slots) {
        const auto& s = *static_cast<const slot*>(row.get());
        ids_.insert(s.id.value);
        by_task_.emplace(place_of(s), s.id.value);
    }
}

std::vector<std::int64_t> open_slots::in(const row_range& range) const {
    CALLSIGN_ASSERT(!range.descending);
    const std::int64_t after = range.after_parts > 0 ? key_reader(range.after).integer()
                                                     : std::numeric_limits<std::int64_t>::min();
    const auto is_full = [&](const auto& ids) { return std::ssize(ids) > range.limit; };
    std::vector<std::int64_t> ids;
    if (range.prefix_parts == 0) {
        for (auto at = ids_.upper_bound(after); at != ids_.end() && !is_full(ids); ++at) {
            ids.push_back(*at);
        }
        return ids;
    }
    CALLSIGN_ASSERT(range.prefix_parts == 2);
    for (auto at = by_task_.lower_bound(range.prefix);
         at != by_task_.end() && at->first.starts_with(range.prefix) && !is_full(ids); ++at) {
        if (at->second > after) ids.push_back(at->second);
    }
    return ids;
}

bool open_slots::was_open(const row_change& c) {
    return c.before && is_open(static_cast<const slot*>(c.before.get())->state);
}

bool open_slots::is_open_now(const row_change& c) {
    return c.now && is_open(static_cast<const slot*>(c.now.get())->state);
}

open_slots::list_changes open_slots::foresee(const table_changes* changes,
                                             std::int64_t last_slot) const {
    list_changes list{.through = through_};
    if (last_slot - through_ >= 2 * window_) list.through = last_slot - window_;
    std::set<std::int64_t> leaving;
    if (list.through > through_) {
        leaving.insert(ids_.upper_bound(through_), ids_.upper_bound(list.through));
    }
    for (const row_change& c : changes ? changes->rows : std::vector<row_change>{}) {
        const row_ptr& row = c.now ? c.now : c.before;
        const std::int64_t id = static_cast<const slot*>(row.get())->id.value;
        if (id > through_ && id <= list.through) {
            is_open_now(c) ? void(leaving.insert(id)) : void(leaving.erase(id));
        }
        if (was_open(c) && !is_open_now(c) && id <= through_) list.removed.push_back(id);
    }
    list.listed.assign(leaving.begin(), leaving.end());
    return list;
}

void open_slots::committed(const table_changes* changes, const list_changes& list) {
    through_ = list.through;
    for (const row_change& c : changes ? changes->rows : std::vector<row_change>{}) {
        if (was_open(c)) {
            const auto& s = *static_cast<const slot*>(c.before.get());
            ids_.erase(s.id.value);
            by_task_.erase(place_of(s));
        }
        if (is_open_now(c)) {
            const auto& s = *static_cast<const slot*>(c.now.get());
            ids_.insert(s.id.value);
            by_task_.emplace(place_of(s), s.id.value);
        }
    }
}

}  // namespace callsign::postgres
