#pragma once
// Applies operations to tasks one after the other. Changes of a task are collected first, at
// logarithmic cost each, and then merged at the cost of the task's size: inserting one attribute
// into the sorted list moves all behind it. Pure.

#include <callsign/domain/version.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace callsign {

// By name; none: the attribute is removed.
using attribute_changes = std::map<std::string, std::optional<std::string>, std::less<>>;

// Applies the changes to `all` and clears `changes`.
void merge(attributes& all, attribute_changes& changes);

class replay {
  public:
    replay() = default;
    explicit replay(task_map begun) : tasks_(std::move(begun)) {}

    // Adds a task with these attributes, unless it exists.
    void put(const uuid& id, attributes all) { tasks_.emplace(id, std::move(all)); }

    // False: the operation has no effect, and nothing was changed.
    bool carry_out(const operation& o);

    // Returns the task as it is now; nullptr: it does not exist.
    const attributes* find(const uuid& id);
    // Returns all tasks as they are now.
    task_map& tasks();

  private:
    task_map tasks_;  // without `changed_`
    std::map<uuid, attribute_changes> changed_;
};

}  // namespace callsign
