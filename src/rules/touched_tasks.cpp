#include "touched_tasks.hpp"

namespace callsign::rules {

bool touched_tasks::carry_out(const operation& o) {
    touched& t = find(o.uuid);
    if (!is_effective(o, t.there)) return false;
    t.changed = true;
    switch (o.what) {
    case operation::kind::create: t.there = true; break;
    case operation::kind::remove:
        t.there = false;
        t.now.clear();
        break;
    case operation::kind::update:
        if (o.value) {
            t.now.insert_or_assign(o.property, *o.value);
        } else {
            t.now.erase(o.property);
        }
        break;
    }
    return true;
}

std::optional<uuid> touched_tasks::too_large() const {
    for (const touched& t : all_) {
        std::size_t bytes = 0;
        for (const auto& [name, value] : t.now) bytes += name.size() + value.size();
        if (bytes > task_bytes_max) return t.id;
    }
    return std::nullopt;
}

touched_tasks::touched& touched_tasks::find(const uuid& id) {
    const auto [known, fresh] = places_.emplace(id, all_.size());
    if (!fresh) return all_[known->second];
    touched t;
    t.id = id;
    t.before = tx_.find_task(account_, id);
    t.there = t.was_there();
    if (t.there) t.now = t.before->attributes;
    return all_.emplace_back(std::move(t));
}

}  // namespace callsign::rules
