#include "touched_tasks.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <algorithm>
#include <boost/range/adaptor/reversed.hpp>
#include <cstdint>
#include <string_view>

namespace callsign::rules {
namespace {

const attributes& attributes_before(const touched_tasks::touched& t) {
    static const attributes nothing;
    return t.was_there() ? t.before->attributes : nothing;
}

// Limits of a task after a change: its size before the change, if that was larger.
struct bounds {
    std::size_t count;
    std::size_t bytes;

    bounds(const touched_tasks::touched& t, std::size_t count_max, std::size_t bytes_max)
        : count(std::max(attributes_before(t).size(), count_max)),
          bytes(std::max(size_of(attributes_before(t)), bytes_max)) {}
};

// In order of removal; unchanged attributes stay.
enum class excess : std::uint8_t { added, changed, needed, none };

excess kind_of(const touched_tasks::touched& t, std::string_view name, std::string_view value) {
    const attributes& before = attributes_before(t);
    const auto was = before.find(name);
    if (was != before.end() && was->second == value) return excess::none;
    // Taskwarrior requires these attributes.
    for (const std::string_view each : {"description", "entry", "modified", "status"}) {
        if (name == each) return excess::needed;
    }
    return was == before.end() ? excess::added : excess::changed;
}

std::vector<std::string> excess_of(const touched_tasks::touched& t, std::size_t bytes_max) {
    std::vector<std::string> names;
    const bounds most(t, task_attributes_max, bytes_max);
    std::size_t count = t.now.size();
    std::size_t bytes = size_of(t.now);
    for (const excess kind : {excess::added, excess::changed, excess::needed}) {
        for (const auto& [name, value] : boost::adaptors::reverse(t.now)) {
            if (count <= most.count && bytes <= most.bytes) return names;
            if (kind_of(t, name, value) != kind) continue;
            names.push_back(name);
            --count;
            bytes -= name.size() + value.size();
        }
    }
    return names;
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
    for (touched& t : all_) merge(t.now, t.changes);
    return all_;
}

std::optional<uuid> touched_tasks::too_large(std::size_t attributes_max, std::size_t bytes_max) {
    for (const touched& t : all()) {
        const bounds most(t, attributes_max, bytes_max);
        if (t.now.size() > most.count || size_of(t.now) > most.bytes) return t.id;
    }
    return std::nullopt;
}

std::vector<operation> touched_tasks::cut(touched& t, precise_time at, std::size_t bytes_max) {
    std::vector<operation> operations;
    for (std::string& name : excess_of(t, bytes_max)) {
        t.changes.emplace(name, std::nullopt);
        operations.push_back({operation_kind::update, t.id, std::move(name), {}, at});
    }
    merge(t.now, t.changes);
    return operations;
}

touched_tasks::touched& touched_tasks::find(const uuid& id) {
    const auto known = places_.find(id);
    if (known != places_.end()) return all_[known->second];
    return add(id, tasks::find(tx_, account_, id));
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
