// Imports tasks of another program in a version as a device would send it.

#include "brought_keys.hpp"
#include "changes.hpp"
#include "numbering.hpp"
#include "room.hpp"
#include "series_choice.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/domain/work.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

namespace callsign::rules {
namespace {

using fault = import_tasks::key_fault_kind;

// Checks whether each task keeps its key, as if the tasks before it were imported.
class key_check {
  public:
    key_check(write_tx& tx, const import_tasks& c, const moment& m)
        : tx_(tx), command_(c), moment_(m), lasts_(c.counted) {}

    // `there`: the task's row, if it has one.
    void look(std::size_t at, const std::optional<task>& there) {
        const import_tasks::imported_task& t = command_.tasks[at];
        const std::string_view text = value_of(t.attributes, moment_.key_attribute);
        if (text.empty()) {
            if (!there) number(t.attributes);
            return;
        }
        key_ = text;
        at_ = at;
        const auto ref = parse_task_ref(text);
        const auto* const key = ref ? std::get_if<task_key>(&*ref) : nullptr;
        if (!key) {
            return add(fault::not_a_key);
        }
        const auto found = number_of_key(tx_, command_.account, *key, moment_);
        if (const auto* const why = std::get_if<fault>(&found)) {
            add(*why, key->prefix);
        } else if (there) {
            compare(std::get<brought_number>(found), *there, t.after);
        } else {
            bring(std::get<brought_number>(found), t.after);
        }
    }

    std::vector<import_tasks::key_fault> faults;
    auto& counted() { return lasts_; }

  private:
    void add(fault why, std::string other = {}) {
        faults.push_back({at_, why, key_, std::move(other)});
    }

    void compare(const brought_number& its, const task& there, std::int64_t after) {
        if (there.purged) return;
        if (!there.numbered) return bring(its, after);
        const bool is_same = its.of.prefix == there.current_prefix &&
                             its.period == there.numbered->period &&
                             its.number == there.numbered->number;
        if (!is_same) add(fault::uuid_taken, current_key(there));
    }

    // Counts the number that the task will get; in a held series it gets none before the resume.
    void number(const attributes& all) {
        const auto from = choose_series(tx_, command_.account, {}, project_of(all));
        if (!from || from->held) return;
        const std::string period = period_now(tx_, *from, moment_.now);
        given_.emplace(from->id, period, ++last_of(from->id, period));
    }

    void bring(const brought_number& its, std::int64_t after) {
        const bool gaps = its.of.held || its.of.allows_gaps;
        std::int64_t& last = last_of(its.of.id, its.period);
        if (command_.check_only) last = std::max(last, after);
        const auto key_of = [&](std::int64_t n) {
            return format_key(its.of.prefix, its.period, n);
        };
        if (const auto holder = tasks::find(tx_, its.of.id, its.period, its.number)) {
            return add(fault::number_taken, to_string(holder->uuid));
        }
        if (!given_.emplace(its.of.id, its.period, its.number).second) {
            return add(fault::number_taken, key_of(its.number));
        }
        if (its.number <= numbers::last(tx_, its.of.id, its.period)) {
            if (!numbers::is_skipped(tx_, its.of.id, its.period, its.number)) {
                add(fault::number_taken, key_of(its.number));
            }
            return;
        }
        if (its.number - last > brought_ahead_max) return add(fault::too_far_ahead, key_of(last));
        if (!gaps && its.number != last + 1) {
            const bool is_behind = its.number <= last;
            return add(is_behind ? fault::number_taken : fault::gap,
                       key_of(is_behind ? its.number : last + 1));
        }
        last = std::max(last, its.number);
    }

    std::int64_t& last_of(series_id of, const std::string& period) {
        const std::int64_t real = numbers::last(tx_, of, period);
        std::int64_t& last = lasts_[{of, period}];
        last = std::max(last, real);
        return last;
    }

    write_tx& tx_;
    const import_tasks& command_;
    const moment& moment_;
    std::map<std::pair<series_id, std::string>, std::int64_t> lasts_;
    std::set<std::tuple<series_id, std::string, std::int64_t>> given_;
    std::size_t at_ = 0;
    std::string key_;
};

// Adds the attributes that an incomplete task lacks.
void complete(const import_tasks::imported_task& whole, std::vector<operation>& operations,
              touched_tasks& tasks, const moment& m) {
    const std::size_t first = operations.size();
    const attributes& now = tasks.now(whole.uuid);
    const precise_time at = changed_at(whole.attributes, m.wall);
    for (const auto& [name, value] : whole.attributes) {
        if (name == m.key_attribute || now.contains(name)) continue;
        operations.push_back({operation_kind::update, whole.uuid, name, value, at});
    }
    for (const operation& o : std::span(operations).subspan(first)) {
        CALLSIGN_ASSERT(tasks.carry_out(o));
    }
}

}  // namespace

import_tasks::answer apply(write_tx& tx, const import_tasks& c, const moment& m) {
    const auto owner = accounts::find(tx, c.account);
    if (!owner) return no_such_account{};
    if (owner->mode == account_mode::opaque) return account_is_opaque{};
    if (owner->is_remote) return account_is_remote{};

    import_tasks::done done;
    std::vector<operation> operations;
    touched_tasks tasks(tx, c.account);
    const auto add = [&](operation o) {
        CALLSIGN_ASSERT(tasks.carry_out(o));
        operations.push_back(std::move(o));
    };
    key_check keys(tx, c, m);
    std::size_t work = 0;
    for (const auto& t : c.tasks) {
        work += tasks.look_at(t.uuid) + work_of(t.attributes) +
                work_of_operation * (1 + t.attributes.size());
        if (work > c.work_max && done.taken > 0) break;
        const std::size_t place = done.taken++;
        const auto& row = tasks.row(t.uuid);
        const bool is_repeated = !row && tasks.is_there(t.uuid);
        if (c.with_keys && !is_repeated) keys.look(place, row);
        // The task arrived by a sync and has no number yet.
        if (c.with_keys && row && !row->numbered && !row->purged) {
            if (const auto key = t.attributes.find(m.key_attribute); key != t.attributes.end()) {
                add({operation_kind::update, t.uuid, key->first, key->second, m.wall});
                ++done.keys_kept;
            }
        }
        if (tasks.is_there(t.uuid) && is_incomplete(tasks.now(t.uuid))) {
            const std::size_t before = operations.size();
            complete(t, operations, tasks, m);
            ++(operations.size() > before ? done.completed : done.there_already);
            continue;
        }
        // Includes purged tasks: they were removed on purpose.
        if (tasks.has_been(t.uuid)) {
            ++done.there_already;
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
                ++(c.with_keys ? done.keys_kept : done.keys_left_out);
                if (!c.with_keys) continue;  // the server assigns the key
            }
            add({operation_kind::update, t.uuid, name, value, at});
        }
    }
    if (c.check_only) {
        done.counted = std::move(keys.counted());
        done.key_attribute = m.key_attribute;
    }
    if (!keys.faults.empty()) {
        return import_tasks::keys_rejected{std::move(keys.faults),
                                           c.check_only ? std::move(done) : import_tasks::done{}};
    }
    if (c.check_only) return done;
    if (operations.empty()) return done;
    if (const auto grown = tasks.too_large()) return task_too_large{*grown};
    if (!has_room(tx, c.account, size_of(operations), m)) return account_full{};
    append_changes(tx, c.account, operations, tasks,
                   changes_origin{.by = c.author, .imported = c.with_keys}, m);
    return done;
}

}  // namespace callsign::rules
