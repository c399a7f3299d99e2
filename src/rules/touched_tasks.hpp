#pragma once
// The tasks of a list of operations: each is read once, changed in memory, and written once. A
// change costs the logarithm of its task's changes, and all of them the task's size once, however
// large it is.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/replay.hpp>
#include <callsign/rules/rules.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace callsign::rules {

class touched_tasks {
  public:
    touched_tasks(read_tx& tx, account_id account) : tx_(tx), account_(account) {}
    // `known`: a row that was read already.
    touched_tasks(read_tx& tx, task known) : tx_(tx), account_(known.account) {
        const callsign::uuid id = known.uuid;
        add(id, std::move(known));
    }

    struct touched {
        uuid id{};
        std::optional<task> before;  // the stored row, even if purged
        attributes now;              // without `changes`
        attribute_changes changes{};
        bool there = false;
        bool changed = false;  // an operation took effect, even without a new value

        bool was_there() const { return before && !before->purged; }
        bool is_new() const { return there && !before; }
    };

    // Returns the task's row. Valid until another task is read.
    const std::optional<task>& row(const uuid& id) { return find(id).before; }

    bool is_there(const uuid& id) { return find(id).there; }

    // Returns the current attributes; empty: no such task. Valid until another task is read.
    const attributes& now(const uuid& id) {
        touched& t = find(id);
        merge(t.now, t.changes);
        return t.now;
    }

    // Returns whether the task exists or once did.
    bool has_been(const uuid& id) {
        const touched& t = find(id);
        return t.there || (t.before && !is_unseen(*t.before));
    }

    // Returns the seq of the task's last change; 0: it never existed.
    std::int64_t last_seq(const uuid& id) {
        const touched& t = find(id);
        return t.before ? t.before->last_seq : 0;
    }

    // Returns the work of reading the task (work.hpp), 0 if it was read before.
    std::size_t look_at(const uuid& id);

    // Returns false, and changes nothing, if the operation has no effect.
    bool carry_out(const operation& o);

    // Returns a task that has grown beyond the limits, if any.
    std::optional<uuid> too_large(std::size_t attributes_max = task_attributes_max,
                                  std::size_t bytes_max = task_bytes_max);

    // Removes what these operations set beyond the limits: new attributes first, from the last one.
    // Returns the removals. Requires: `t` is one of all().
    static std::vector<operation> cut(touched& t, precise_time at, std::size_t bytes_max);

    // Returns the tasks in the order of their first operation, with `changes` applied to `now`.
    std::vector<touched>& all();

  private:
    touched& find(const uuid& id);
    touched& add(const uuid& id, std::optional<task> row);

    read_tx& tx_;
    account_id account_;
    std::vector<touched> all_;
    std::unordered_map<uuid, std::size_t, keyed_hash> places_;
};

}  // namespace callsign::rules
