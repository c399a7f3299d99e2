#pragma once
// Tasks on which operations are carried out one after the other. A change costs the logarithm of
// the changes of its task so far, and all of them together the task's size once: put into the
// attributes one by one, each would move all that stand behind it. Pure.

#include <callsign/domain/version.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace callsign {

// By name; none: the attribute goes.
using attribute_changes = std::map<std::string, std::optional<std::string>, std::less<>>;

// `changes` is empty then.
void merge(attributes& all, attribute_changes& changes);

class replay {
  public:
    replay() = default;
    explicit replay(task_map begun) : tasks_(std::move(begun)) {}

    // A task that it has not heard of is there, as it stands.
    void put(const uuid& id, attributes all) { tasks_.emplace(id, std::move(all)); }

    // False: it is without effect, and nothing was changed.
    bool carry_out(const operation& o);

    // As it is now; nullptr: it is not there.
    const attributes* find(const uuid& id);
    // As they are now.
    task_map& tasks();

  private:
    task_map tasks_;  // but for `changed_`
    std::map<uuid, attribute_changes> changed_;
};

}  // namespace callsign
