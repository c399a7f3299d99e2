// Edits a task through REST: appends a version like a device's.

#include "changes.hpp"
#include "edits.hpp"
#include "numbering.hpp"
#include "once.hpp"
#include "resolve.hpp"
#include "task_actions.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/domain/task_faults.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <algorithm>
#include <map>

namespace callsign::rules {
namespace {

// By attribute; none: it is removed.
using changes = std::map<std::string, std::optional<std::string>, std::less<>>;

bool is_replaced(const edit_task& c, std::string_view name) {
    return std::any_of(c.replaced.begin(), c.replaced.end(),
                       [&](const std::string& start) { return name.starts_with(start); });
}

// Taskwarrior's reports and garbage collection use `end`: a closed task has one, an open task has
// none.
void let_end_follow(changes& wanted, const attributes& before, time_point now) {
    const auto status = wanted.find("status");
    if (status == wanted.end() || !status->second || wanted.contains("end")) return;
    const bool is_over = *status->second == "completed" || *status->second == "deleted";
    if (!is_over) {
        wanted.emplace("end", std::nullopt);
    } else if (!before.contains("end")) {
        wanted.emplace("end", epoch_text(now));
    }
}

changes wanted_of(const edit_task& c, const std::vector<uuid>& depends, const attributes& before,
                  time_point now) {
    changes wanted(c.changes.begin(), c.changes.end());
    for (const uuid& other : depends) wanted.insert_or_assign("dep_" + to_string(other), "");
    for (const auto& [name, value] : before) {
        if (is_replaced(c, name)) wanted.emplace(name, std::nullopt);
    }
    let_end_follow(wanted, before, now);
    return wanted;
}

std::vector<operation> operations_for(const edit_task& c, const uuid& task,
                                      const std::vector<uuid>& depends, const attributes& before,
                                      const moment& m) {
    std::vector<operation> all;
    if (c.purge) {
        all.push_back({operation_kind::remove, task, {}, {}, {}});
        return all;
    }
    for (auto& [name, value] : wanted_of(c, depends, before, m.wall)) {
        const auto found = before.find(name);
        const bool same = found == before.end() ? !value : value == found->second;
        if (!same) all.push_back({operation_kind::update, task, name, value, m.wall});
    }
    if (!all.empty()) {
        all.push_back({operation_kind::update, task, "modified", epoch_text(m.wall), m.wall});
    }
    return all;
}

bool is_expected(write_tx& tx, const edit_task& c, const task& now) {
    return !c.if_match || std::ranges::find(*c.if_match, tag_of(tx, now)) != c.if_match->end();
}

bool is_changed(const edit_task& c, std::string_view name) {
    return std::any_of(c.changes.begin(), c.changes.end(),
                       [&](const auto& change) { return change.first == name; });
}

std::vector<task_fault> faults_now(const attributes& all, time_point now) {
    std::vector<task_fault> found = faults_of(all);
    for (const task_fault& old : faults_of_age(all, now)) found.push_back(old);
    if (is_over(all) && !all.contains("end")) {
        found.push_back({"end", "required", "Must be given for a completed or deleted task."});
    }
    return found;
}

// Returns the errors that the edit introduces; a device may have caused the others.
std::vector<task_fault> new_faults(const edit_task& c, const attributes& before,
                                   const attributes& after, time_point now) {
    std::vector<task_fault> found = faults_now(after, now);
    const std::vector<task_fault> known = faults_now(before, now);
    std::erase_if(found, [&](const task_fault& fault) {
        return !is_changed(c, fault.attribute) &&
               std::find(known.begin(), known.end(), fault) != known.end();
    });
    return found;
}

using planned = std::variant<edit_task::answer, planned_edit>;

planned plan_on(write_tx& tx, const edit_task& c, task before, const moment& m) {
    resolved_depends depends;
    if (c.depends) depends = resolve_depends(tx, c.account, *c.depends, before.uuid);
    if (!depends.faults.empty()) return edit_task::answer(depends_unmet{std::move(depends.faults)});
    if (!is_expected(tx, c, before)) return edit_task::answer(edit_task::precondition_failed{});
    auto operations = operations_for(c, before.uuid, depends.tasks, before.attributes, m);
    if (operations.empty()) return edit_task::answer(edited(tx, c, std::move(before)));

    const uuid id = before.uuid;
    // A task that a sync made larger stays editable: an edit adds little, such as `end`.
    const std::size_t bytes_max =
        size_of(before.attributes) > task_bytes_max ? m.synced_task_bytes_max : task_bytes_max;
    touched_tasks tasks(tx, std::move(before));
    for (const operation& o : operations) CALLSIGN_ASSERT(tasks.carry_out(o));
    const auto grown = tasks.too_large(task_attributes_max, bytes_max);
    if (grown) return edit_task::answer(task_too_large{*grown});
    if (!c.purge) {
        const auto& changed = tasks.all().front();
        auto wrong = new_faults(c, changed.before->attributes, changed.now, m.wall);
        if (!wrong.empty()) return edit_task::answer(task_not_valid{std::move(wrong)});
    }
    return planned_edit{id, std::move(operations), std::move(tasks)};
}

planned plan_of(write_tx& tx, const edit_task& c, task before, const moment& m) {
    if (!c.action) return plan_on(tx, c, std::move(before), m);
    const edit_task meant{.account = c.account,
                          .changes = changes_of(*c.action, before.attributes, m.wall),
                          .if_match = c.if_match,
                          .author = c.author,
                          .shown_bytes_max = c.shown_bytes_max};
    return plan_on(tx, meant, std::move(before), m);
}

}  // namespace

edit_task::edited edited(write_tx& tx, const edit_task& c, task now) {
    // Assigned, because clear() would keep the memory.
    if (size_of(now.attributes) > c.shown_bytes_max) now.attributes = attributes();
    return {task_display(tx).shown(std::move(now))};
}

// Returns the answer to a request that repeats one with that outcome: the task as that one left it,
// or as it is now if its history has expired.
edit_task::answer edited_before(write_tx& tx, const edit_task& c, const kept_request& known) {
    auto now = tasks::find(tx, task_id{known.subject});
    if (!now) throw_damaged("requests", known.subject, "its task is gone");
    if (now->last_seq != known.seq) {
        if (now->purged) return ref_fault::task_deleted;
        auto then = history::find_as_of(tx, c.account, now->uuid, known.seq);
        if (then && then->last_seq == known.seq) now = std::move(then);
    }
    return replayed<edit_task::edited>{edited(tx, c, *std::move(now))};
}

planned plan(write_tx& tx, const edit_task& c, const moment& m) {
    const auto again = [&](const kept_request& known) { return edited_before(tx, c, known); };
    if (auto known = answer_if_known<edit_task::answer>(tx, c.account, c.once, again)) {
        return *std::move(known);
    }
    auto named = resolve(tx, c.account, c.task);
    if (const auto* const why = std::get_if<ref_fault>(&named)) return edit_task::answer(*why);
    auto planned = plan_of(tx, c, std::get<task>(std::move(named)), m);
    const auto* const wanted = std::get_if<planned_edit>(&planned);
    const bool adds = wanted != nullptr && !c.purge;
    if (adds && !has_room_to_keep(tx, c.account, c.once, m, size_of(wanted->operations))) {
        return edit_task::answer(account_full{});
    }
    return planned;
}

edit_task::answer kept_answer(write_tx& tx, const edit_task& c, edit_task::answer settled,
                              const moment& m) {
    const auto* const done = std::get_if<edit_task::edited>(&settled);
    if (!done) return settled;
    if (!has_room_to_keep(tx, c.account, c.once, m)) return account_full{};
    keep_outcome(tx, c.account, c.once, done->now.id.value, done->now.last_seq, m);
    return settled;
}

edit_task::answer apply(write_tx& tx, const edit_task& c, const moment& m) {
    if (accounts::is_remote(tx, c.account)) return edit_task::is_remote_account{};
    auto planned = plan(tx, c, m);
    if (auto* const settled = std::get_if<edit_task::answer>(&planned)) {
        return kept_answer(tx, c, std::move(*settled), m);
    }
    auto& wanted = std::get<planned_edit>(planned);
    append_changes(tx, c.account, wanted.operations, wanted.tasks, c.author, m);
    const bool is_shown = size_of(wanted.tasks.all().front().now) <= c.shown_bytes_max;
    auto now = is_shown ? tasks::find(tx, c.account, wanted.task)
                        : tasks::find_head(tx, c.account, wanted.task);
    keep_outcome(tx, c.account, c.once, now->id.value, now->last_seq, m);
    return edited(tx, c, *std::move(now));
}

}  // namespace callsign::rules
