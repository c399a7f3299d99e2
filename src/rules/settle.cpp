// Applies a version that the remote accepted from this server.

#include "edits.hpp"
#include "mirror.hpp"
#include "once.hpp"
#include "resolve.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

namespace callsign::rules {
namespace {

// Records tasks moved to the remote. An empty version keeps the ID as one that the remote had.
void move_on(write_tx& tx, remote_chain& remote, const move_progress& now, const uuid& version,
             const moment& m) {
    // A remote may use a version ID twice.
    if (!versions::find_seq(tx, remote.account, version)) {
        const auto seq = versions::append(tx, remote.account, version, m.now, {}, {});
        m.tell(events::version_appended{remote.account, seq});
    }
    remote.moving.reset();
    if (now.after) {
        remote.moving = moving_tasks{now.after, now.tasks};
    } else {
        m.tell(events::remote_changed{remote.account});
    }
}

}  // namespace

settle::answer apply(write_tx& tx, const settle& c, const moment& m) {
    auto remote = remotes::find(tx, c.account);
    if (!remote) return no_remote{};
    if (remote->cursor != c.parent || !remote->partial.is_nil()) return cursor_mismatch{};
    settle::settled done;
    std::span<const operation> rest = c.operations;
    for (const delivery_part& part : c.parts) {
        const auto some = rest.first(part.operations);
        rest = rest.subspan(part.operations);
        if (part.moved) {
            move_on(tx, *remote, *part.moved, c.version, m);
            continue;
        }
        mirror_source from{.by = part.author, .bounded = false};
        if (part.effect) {
            from.is_own = [&](const effect& e) { return e.id == *part.effect; };
        }
        if (rest.empty()) from.version = c.version;
        touched_tasks tasks(tx, c.account);
        const auto part_done = mirror(tx, c.account, tasks, some, from, m);
        done.numbered += std::get<mirrored>(part_done).numbered;
    }
    CALLSIGN_ASSERT(rest.empty());
    advance(tx, *remote, c.version);
    // The edited tasks after all operations.
    task_display display(tx);
    rest = c.operations;
    for (const delivery_part& part : c.parts) {
        if (part.edit) {
            auto now = tasks::find(tx, c.account, rest.front().uuid);
            if (!now) throw_damaged("tasks", c.account.value, "an edited task is gone");
            // The key may have been used for another request since the edit was sent.
            const bool is_used = part.once && requests::find(tx, c.account, part.once->key);
            if (!is_used) {
                keep_outcome(tx, c.account, part.once, now->id.value, now->last_seq, m);
            }
            done.edited.push_back(display.shown(std::move(*now)));
        }
        rest = rest.subspan(part.operations);
    }
    return done;
}

}  // namespace callsign::rules
