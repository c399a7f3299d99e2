#include "touched_tasks.hpp"

#include <callsign/domain/work.hpp>

#include <algorithm>

namespace callsign::rules {
namespace {

// Two sorted lists into one: put in one by one, each change would move all that stands behind it.
void merge_changes(touched_tasks::touched& t) {
    if (t.changes.empty()) return;
    auto before = t.now.extract_sequence();
    decltype(before) after;
    after.reserve(before.size() + t.changes.size());
    auto old = before.begin();
    const auto keep_old = [&] { after.push_back(std::move(*old++)); };
    for (auto& [name, value] : t.changes) {
        while (old != before.end() && old->first < name) keep_old();
        if (old != before.end() && old->first == name) ++old;
        if (value) after.emplace_back(name, std::move(*value));
    }
    while (old != before.end()) keep_old();
    t.now.adopt_sequence(boost::container::ordered_unique_range, std::move(after));
    t.changes.clear();
}

}  // namespace

std::size_t touched_tasks::look_at(const uuid& id) {
    const std::size_t known = all_.size();
    const touched& t = find(id);
    return all_.size() == known ? 0 : work_of_task + work_of(t.now);
}

bool touched_tasks::carry_out(const operation& o) {
    touched& t = find(o.uuid);
    if (!is_effective(o, t.there)) return false;
    t.changed = true;
    switch (o.kind) {
    case operation_kind::create: t.there = true; break;
    case operation_kind::remove:
        t.there = false;
        t.now.clear();
        t.changes.clear();
        break;
    case operation_kind::update: t.changes.insert_or_assign(o.property, o.value); break;
    }
    return true;
}

std::vector<touched_tasks::touched>& touched_tasks::all() {
    for (touched& t : all_) merge_changes(t);
    return all_;
}

std::optional<uuid> touched_tasks::too_large() {
    for (const touched& t : all()) {
        if (size_of(t.now) > task_bytes_max) return t.id;
    }
    return std::nullopt;
}

std::optional<uuid> touched_tasks::too_large_for_people() {
    for (const touched& t : all()) {
        const std::size_t before = t.was_there() ? t.before->attributes.size() : 0;
        if (t.now.size() > std::max(before, task_attributes_max)) return t.id;
    }
    return too_large();
}

touched_tasks::touched& touched_tasks::find(const uuid& id) {
    const auto known = places_.find(id);
    if (known != places_.end()) return all_[known->second];
    return add(id, tx_.find_task(account_, id));
}

touched_tasks::touched& touched_tasks::add(const uuid& id, std::optional<task> row) {
    places_.emplace(id, all_.size());
    touched t;
    t.id = id;
    t.before = std::move(row);
    t.there = t.was_there();
    if (t.there) t.now = t.before->attributes;
    return all_.emplace_back(std::move(t));
}

}  // namespace callsign::rules
