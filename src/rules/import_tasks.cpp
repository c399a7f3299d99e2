// Tasks that another program had: a version as a device would have sent it.

#include "brought_keys.hpp"
#include "changes.hpp"
#include "numbering.hpp"
#include "room.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/domain/work.hpp>

#include <algorithm>

namespace callsign::rules {
import_tasks::answer apply(write_tx& tx, const import_tasks& c, const moment& m) {
    const auto owner = tx.find_account(c.account);
    if (!owner) return no_such_account{};
    if (owner->mode == account_mode::opaque) return account_is_opaque{};
    if (owner->elsewhere) return account_is_elsewhere{};

    import_tasks::done done;
    std::vector<operation> operations;
    touched_tasks tasks(tx, c.account);
    const auto add = [&](operation o) {
        CALLSIGN_ASSERT(tasks.carry_out(o));
        operations.push_back(std::move(o));
    };
    held_check check(tx, c.account, c.with_keys, m);
    std::size_t work = 0;
    for (const auto& t : c.tasks) {
        work += tasks.look_at(t.uuid) + work_of(t.attributes) +
                work_of_operation * (1 + t.attributes.size());
        if (work > c.work_max && done.taken > 0) break;
        ++done.taken;
        // A purged one too: it was removed here on purpose.
        if (tasks.has_been(t.uuid)) {
            ++done.there_already;
            continue;
        }
        if (c.with_keys && check.look(t.attributes)) {
            ++done.postponed;
            continue;
        }
        if (!c.with_keys) {
            if (auto held = held_series_for(tx, c.account, t.attributes)) return *std::move(held);
        }
        ++done.imported;
        const precise_time at = changed_at(t.attributes, m.wall);
        add({operation_kind::create, t.uuid, {}, {}, {}});
        for (const auto& [name, value] : t.attributes) {
            if (name == m.key_attribute) {
                ++done.keys_left_out;
                if (!c.with_keys) continue;  // the key is the server's to give
            }
            add({operation_kind::update, t.uuid, name, value, at});
        }
    }
    if (operations.empty()) return done;
    if (const auto grown = tasks.too_large()) return task_too_large{*grown};
    if (!has_room(tx, c.account, size_of(operations), m)) return account_full{};
    const auto appended =
        append_changes(tx, c.account, operations, tasks,
                       changes_origin{.by = c.author, .imported = c.with_keys}, m);
    done.keys_kept = appended.brought;
    done.keys_left_out -= appended.brought;
    return done;
}

}  // namespace callsign::rules
