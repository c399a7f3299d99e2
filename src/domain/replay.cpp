#include <callsign/domain/replay.hpp>

#include <utility>

namespace callsign {

// Merges two sorted lists.
void merge(attributes& all, attribute_changes& changes) {
    if (changes.empty()) return;
    auto before = all.extract_sequence();
    decltype(before) after;
    after.reserve(before.size() + changes.size());
    auto old = before.begin();
    const auto keep_old = [&] { after.push_back(std::move(*old++)); };
    for (auto& [name, value] : changes) {
        while (old != before.end() && old->first < name) keep_old();
        if (old != before.end() && old->first == name) ++old;
        if (value) after.emplace_back(name, std::move(*value));
    }
    while (old != before.end()) keep_old();
    all.adopt_sequence(boost::container::ordered_unique_range, std::move(after));
    changes.clear();
}

bool replay::carry_out(const operation& o) {
    const auto found = tasks_.find(o.uuid);
    if (!is_effective(o, found != tasks_.end())) return false;
    switch (o.kind) {
    case operation_kind::create: tasks_.emplace(o.uuid, attributes{}); break;
    case operation_kind::remove:
        tasks_.erase(found);
        changed_.erase(o.uuid);
        break;
    case operation_kind::update: changed_[o.uuid].insert_or_assign(o.property, o.value); break;
    }
    return true;
}

const attributes* replay::find(const uuid& id) {
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) return nullptr;
    if (const auto changes = changed_.find(id); changes != changed_.end()) {
        merge(found->second, changes->second);
        changed_.erase(changes);
    }
    return &found->second;
}

task_map& replay::tasks() {
    for (auto& [id, changes] : std::exchange(changed_, {})) merge(tasks_.at(id), changes);
    return tasks_;
}

}  // namespace callsign
