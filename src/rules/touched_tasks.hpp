#pragma once
// The tasks a list of operations is about: each read once, changed here as often as it takes, to be
// written once. A change costs the logarithm of the changes of its task, and all of them together
// the task's size once, however large it is.

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
    // Its row was read already.
    touched_tasks(read_tx& tx, task known) : tx_(tx), account_(known.account) {
        const callsign::uuid id = known.uuid;
        add(id, std::move(known));
    }

    struct touched {
        uuid id{};
        std::optional<task> before;  // its row; a purged one too
        attributes now;              // but for `changes`
        attribute_changes changes{};
        bool there = false;
        bool changed = false;  // an operation was carried out, if only to set what was set

        bool was_there() const { return before && !before->purged; }
        bool is_new() const { return there && !before; }
    };

    // Until another is looked at.
    const std::optional<task>& row(const uuid& id) { return find(id).before; }

    bool is_there(const uuid& id) { return find(id).there; }

    // As it is now; nothing: it is not there. Until another is looked at.
    const attributes& now(const uuid& id) {
        touched& t = find(id);
        merge(t.now, t.changes);
        return t.now;
    }

    // It is there, or was once.
    bool has_been(const uuid& id) {
        const touched& t = find(id);
        return t.there || (t.before && !is_unseen(*t.before));
    }

    // Of its last change; 0: it has never been.
    std::int64_t last_seq(const uuid& id) {
        const touched& t = find(id);
        return t.before ? t.before->last_seq : 0;
    }

    // What looking at it costs (work.hpp): nothing once it was looked at.
    std::size_t look_at(const uuid& id);

    // False: it is without effect, and nothing was changed.
    bool carry_out(const operation& o);

    // One that has grown and is beyond the bounds of a task.
    std::optional<uuid> too_large(std::size_t attributes_max = task_attributes_max,
                                  std::size_t bytes_max = task_bytes_max);

    // Takes away again what is beyond them, of what was set here: new names first, and the last of
    // them. Says how.
    // Requires: it is one of all().
    static std::vector<operation> cut(touched& t, precise_time at, std::size_t bytes_max);

    // In the order of their first operation. Their `changes` are in `now`.
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
