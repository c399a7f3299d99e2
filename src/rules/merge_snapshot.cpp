// Merges the snapshot of a device that is ahead of the restored backup. Compares three states of
// each task, attribute by attribute: the device's, the store's, and the common one at the backup.
// An attribute that one side changed takes that side's value. If both changed it, the later
// `modified` of the task decides, and an annotation keeps the other value: two returning devices
// may know different pasts, and no attribute has a time of its own.

#include "changes.hpp"
#include "numbering.hpp"
#include "resync.hpp"

#include <callsign/base/text.hpp>
#include <callsign/domain/work.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/instance.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <algorithm>
#include <chrono>
#include <set>

namespace callsign::rules {
namespace {

std::optional<std::string_view> find(const attributes& all, const std::string& name) {
    const auto found = all.find(name);
    if (found == all.end()) return std::nullopt;
    return std::string_view(found->second);
}

// Time of operations that restate the past. An edit that a device has not sent yet is newer, and
// wins.
constexpr precise_time before_all_edits{};

bool is_later(const attributes& one, const attributes& other) {
    const auto at = [](const attributes& all) {
        return parse_integer(value_of(all, "modified")).value_or(0);
    };
    return at(one) > at(other);
}

class snapshot_merge {
  public:
    snapshot_merge(write_tx& tx, const device& sender, const moment& m)
        : tx_(tx),
          sender_(sender),
          account_(sender.account),
          moment_(m),
          note_(resync_versions_of(instance_of(tx)).note),
          tasks_(tx, account_) {}

    std::size_t look_at(const uuid& id) { return tasks_.look_at(id); }

    void add(const import_tasks::imported_task& its) {
        if (its.uuid == note_) return;
        const auto& before = tasks_.row(its.uuid);
        if (before && !before->purged) return compare(its, *before);
        // The task was purged since the backup, on purpose.
        if (before && !is_unseen(*before) && before->last_seq > sender_.resync->from) return;
        put({operation_kind::create, its.uuid, {}, {}, {}});
        for (const auto& [name, value] : its.attributes) set(its.uuid, name, value);
    }

    // Creates the task again, after a Delete: a version has only effective operations.
    void recreate_tasks(const uuid& id) {
        const auto& here = tasks_.row(id);
        if (!here || here->purged || !here->numbered) return;
        if (here->numbered->seq > sender_.resync->from) return;
        const attributes all = here->attributes;
        put({operation_kind::remove, id, {}, {}, {}});
        put({operation_kind::create, id, {}, {}, {}});
        for (const auto& [name, value] : all) set(id, name, value);
        purges_ = false;
    }

    void write() {
        if (operations_.empty()) return;
        append_changes(tx_, account_, operations_, tasks_,
                       {.by = sender_.id, .cuts = true, .purges = purges_}, moment_);
    }

  private:
    // Returns the common state at the backup; none: no task then, or expired history.
    std::optional<task> base_of(const task& here) {
        if (here.last_seq <= sender_.resync->from) return here;
        return history::find_as_of(tx_, account_, here.uuid, sender_.resync->from);
    }
    void compare(const import_tasks::imported_task& its, const task& here) {
        if (its.attributes == here.attributes) return;
        const bool device_is_later = is_later(its.attributes, here.attributes);
        const std::optional<task> base = base_of(here);
        const bool was_there = !here.numbered || here.numbered->seq <= sender_.resync->from;
        // A task that was purged and created again since has no history either.
        const bool has_base = base && !base->purged;
        const bool is_known = has_base || !was_there;
        static const attributes nothing;
        const attributes& before = has_base ? base->attributes : nothing;
        noted_.clear();

        std::set<std::string> names;
        for (const auto& [name, value] : its.attributes) names.insert(name);
        for (const auto& [name, value] : here.attributes) names.insert(name);
        // The server sets the key attribute, except for a task without a number.
        if (here.numbered) names.erase(std::string(moment_.key_attribute));
        for (const std::string& name : names) {
            const auto device = find(its.attributes, name);
            const auto store = find(here.attributes, name);
            if (device == store) continue;
            if (is_known) {
                const auto both = find(before, name);
                // The chain brings the device what only the store has changed.
                if (device == both) continue;
                if (store != both) note_loser(here, name, device, store, device_is_later);
                if (store == both || device_is_later) set(its.uuid, name, device);
            } else if (device_is_later || !store) {
                if (store) note_loser(here, name, device, store, true);
                set(its.uuid, name, device);
            } else {
                note_loser(here, name, device, store, false);
                // Whether the chain brings this value to the device is unknown: it is removed and
                // set again.
                set(its.uuid, name, std::nullopt);
                set(its.uuid, name, store);
            }
        }
    }

    using value = std::optional<std::string_view>;

    void note_loser(const task& here, const std::string& name, value device, value store,
                    bool device_wins) {
        if (name == "modified" || name.starts_with("annotation_")) return;
        const value lost = device_wins ? store : device;
        std::string text = device_wins ? "The server" : sender_.name;
        text += lost ? " had " + name + ": " + std::string(*lost) : " had no " + name;
        // The same snapshot arrived before.
        const auto says_so = [&](const auto& each) {
            return each.first.starts_with("annotation_") && each.second == text;
        };
        if (std::any_of(here.attributes.begin(), here.attributes.end(), says_so)) return;
        auto at = std::chrono::floor<std::chrono::seconds>(moment_.now).time_since_epoch().count();
        const auto key = [&] { return "annotation_" + std::to_string(at); };
        while (here.attributes.contains(key()) || noted_.contains(key())) ++at;
        noted_.insert(key());
        set(here.uuid, key(), text);
    }

    void set(const uuid& id, const std::string& name, std::optional<std::string_view> value) {
        std::optional<std::string> text;
        if (value) text = *value;
        put({operation_kind::update, id, name, std::move(text), before_all_edits});
    }

    void put(operation o) {
        if (tasks_.carry_out(o)) operations_.push_back(std::move(o));
    }

    write_tx& tx_;
    const device& sender_;
    account_id account_;
    const moment& moment_;
    uuid note_;
    touched_tasks tasks_;
    std::set<std::string> noted_;  // annotations of that task
    std::vector<operation> operations_;
    bool purges_ = true;  // deleted tasks are purged
};

// Returns the device, if its snapshot was requested and this is it.
template <class Command>
std::variant<device, typename Command::answer> sender_of(write_tx& tx, const Command& c) {
    using answer = typename Command::answer;
    auto sender = devices::find(tx, c.client_id);
    if (!sender || sender->mode != account_mode::managed) return answer(no_such_client{});
    if (sender->revoked_at) return answer(device_revoked{});
    const bool is_awaited = sender->resync && c.version == resync_versions_of(instance_of(tx)).sent;
    if (!is_awaited) return answer(merge_snapshot::not_awaited{});
    return *std::move(sender);
}

}  // namespace

recreate_tasks::answer apply(write_tx& tx, const recreate_tasks& c, const moment& m) {
    auto sender = sender_of(tx, c);
    if (auto* const rejected = std::get_if<recreate_tasks::answer>(&sender)) return *rejected;
    recreate_tasks::done done;
    snapshot_merge merge(tx, std::get<device>(sender), m);
    std::size_t work = 0;
    for (const uuid& id : c.tasks) {
        work += 3 * merge.look_at(id);
        if (work > c.work_max && done.taken > 0) break;
        ++done.taken;
        merge.recreate_tasks(id);
    }
    merge.write();
    return done;
}

merge_snapshot::answer apply(write_tx& tx, const merge_snapshot& c, const moment& m) {
    auto sender = sender_of(tx, c);
    if (auto* const rejected = std::get_if<merge_snapshot::answer>(&sender)) {
        return std::move(*rejected);
    }
    merge_snapshot::done done;
    snapshot_merge merge(tx, std::get<device>(sender), m);
    std::size_t work = 0;
    for (const auto& t : c.tasks) {
        // Comparing and writing a task costs at most twice its size.
        work += merge.look_at(t.uuid) + 2 * work_of(t.attributes) +
                work_of_operation * (1 + t.attributes.size());
        if (work > c.work_max && done.taken > 0) break;
        ++done.taken;
        merge.add(t);
    }
    merge.write();
    return done;
}

}  // namespace callsign::rules
