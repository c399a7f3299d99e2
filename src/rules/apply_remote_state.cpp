// Brings a mirror to the state of the remote chain without the versions in between.

#include "mirror.hpp"
#include "numbering.hpp"

#include <callsign/rules/rows/remotes.hpp>

namespace callsign::rules {
namespace {

// Appends the operations that turn the local task into the remote one.
void append_difference(std::vector<operation>& all, const std::optional<task>& here,
                       const import_tasks::imported_task& there, precise_time at) {
    const bool is_there = here && !here->purged;
    if (!is_there) all.push_back({operation_kind::create, there.uuid, {}, {}, {}});
    for (const auto& [name, value] : there.attributes) {
        if (is_there && here->attributes.contains(name) &&
            value_of(here->attributes, name) == value) {
            continue;
        }
        all.push_back({operation_kind::update, there.uuid, name, value, at});
    }
    if (!is_there) return;
    for (const auto& [name, value] : here->attributes) {
        if (there.attributes.contains(name)) continue;
        all.push_back({operation_kind::update, there.uuid, name, std::nullopt, at});
    }
}

}  // namespace

apply_remote_state::answer apply(write_tx& tx, const apply_remote_state& c, const moment& m) {
    auto remote = remotes::find(tx, c.account);
    if (!remote) return no_remote{};
    apply_remote_state::applied done;
    touched_tasks tasks(tx, c.account);
    std::vector<operation> operations;
    std::size_t work = 0;
    // The submitter does not know the size of local tasks, so one is always taken.
    const auto take = [&](const uuid& id, std::size_t more) {
        work += tasks.look_at(id) + more;
        if (work > c.work_max && done.taken > 0) return false;
        ++done.taken;
        return true;
    };
    for (const auto& there : c.tasks) {
        if (!take(there.uuid, 2 * work_of(there.attributes))) break;
        append_difference(operations, tasks.row(there.uuid), there, m.wall);
    }
    for (const uuid& id : c.gone) {
        if (done.taken < c.tasks.size() || !take(id, work_of_operation)) break;
        const auto& here = tasks.row(id);
        if (here && !here->purged) {
            operations.push_back({operation_kind::remove, id, {}, {}, {}});
        }
    }
    const bool reached = c.reached && done.taken == c.tasks.size() + c.gone.size();
    mirror_source from;
    // A sent creation whose task exists is ours: the task's UUID was generated for it.
    from.is_own = [](const effect& e) { return e.attempts > 0; };
    if (reached) from.version = c.reached->cursor;
    const auto mirrored_now = mirror(tx, c.account, tasks, operations, from, m);
    if (const auto* const grown = std::get_if<task_too_large>(&mirrored_now)) return *grown;
    done.numbered = std::get<mirrored>(mirrored_now).numbered;
    done.changed = static_cast<std::int64_t>(operations.size());
    if (!reached) return done;
    advance(tx, *remote, c.reached->cursor);
    remote->before = c.reached->before;
    if (remote->moving) remote->moving = moving_tasks{};  // what the remote has is unknown
    remotes::update(tx, *remote);
    return done;
}

}  // namespace callsign::rules
