#pragma once
// The changes that a feed must report, derived from the chain alone: the operations of each version
// are applied in order, and their effect on each task is recorded. Independent of how a store
// retains history, and of followers.

#include "support/carry_out.hpp"

#include <callsign/domain/queries/feed.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>
#include <callsign/ports/store.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace callsign::testing {

// The effect of one version on one task.
struct told_change {
    feed_place place{};
    callsign::uuid task{};
    // Before and after the version; none: the task did not exist.
    std::optional<attributes> before{}, after{};
    std::int64_t before_seq = 0;         // of the previous change; 0: none
    std::vector<std::string> changed{};  // names of attributes, sorted and unique
    time_point at{};
};

class told_changes {
  public:
    explicit told_changes(account_id account) : account_(account) {}

    // Reads the versions appended since the previous call.
    void read_on(read_tx& tx) {
        for (const version& v : versions::some(tx, account_, seq_, read_tx::no_limit)) {
            add(v);
            seq_ = v.seq;
        }
    }

    account_id account() const { return account_; }
    const std::vector<told_change>& all() const { return all_; }
    const task_map& tasks() const { return tasks_; }
    std::int64_t seq() const { return seq_; }
    // Where history begins if the states that ended before `then` have expired.
    std::int64_t history_from(time_point then) const {
        std::int64_t from = 0;
        for (const told_change& c : all_) {
            if (c.at < then) from = std::max(from, c.before_seq);
        }
        return from;
    }
    // Of the task's last change; 0: there is no such task.
    std::int64_t last_seq_of(const uuid& id) const {
        const auto found = last_.find(id);
        return found == last_.end() ? 0 : found->second;
    }

    // Of the version that last deleted the task; 0: none.
    std::int64_t removed_at(const uuid& id) const {
        const auto found = removed_.find(id);
        return found == removed_.end() ? 0 : found->second;
    }
    // The content had been removed from the chain when its operations were read.
    bool is_unread(const uuid& id) const { return unread_.contains(id); }

  private:
    // The server's own version that corrects keys: part of the transaction of the previous version.
    // After a version of the API, whose keys are correct, it is that of a renaming.
    bool is_of_keys(const version& v) const {
        return v.author == author{} && !std::holds_alternative<token_id>(last_author_) &&
               !v.operations.empty() && std::ranges::all_of(v.operations, [](const operation& o) {
                   return o.kind == operation_kind::update && o.property == "key";
               });
    }

    std::optional<attributes> state_of(const uuid& id) const {
        const auto found = tasks_.find(id);
        return found == tasks_.end() ? std::nullopt : std::optional(found->second);
    }

    void add(const version& v) {
        const std::size_t first = all_.size();
        for (const operation& o : v.operations) {
            auto found = std::find_if(all_.begin() + static_cast<std::ptrdiff_t>(first), all_.end(),
                                      [&](const told_change& c) { return c.task == o.uuid; });
            if (found == all_.end()) {
                all_.push_back({{v.seq, all_.size() - first + 1}, o.uuid, state_of(o.uuid)});
                found = std::prev(all_.end());
                found->before_seq = last_seq_of(o.uuid);
                found->at = v.created_at;
            }
            if (o.kind == operation_kind::update) found->changed.push_back(o.property);
            if (o.kind == operation_kind::remove) removed_[o.uuid] = v.seq;
            if (is_scrubbed(o)) unread_.insert(o.uuid);
            carry_out(tasks_, o);
        }
        // The last change of a version completes it.
        if (all_.size() > first) all_.back().place.tasks = 0;
        for (std::size_t n = first; n < all_.size(); ++n) {
            auto& names = all_[n].changed;
            std::ranges::sort(names);
            names.erase(std::unique(names.begin(), names.end()), names.end());
            all_[n].after = state_of(all_[n].task);
            last_[all_[n].task] = v.seq;
            if (is_of_keys(v)) correct(first, all_[n]);
        }
        last_author_ = v.author;
    }

    // A change of the task by the previous version also shows the corrected key; the state in
    // between is never visible.
    void correct(std::size_t first, told_change& key) {
        for (std::size_t n = first; n-- > 0 && all_[n].place.seq + 1 == key.place.seq;) {
            told_change& change = all_[n];
            if (change.task != key.task) continue;
            change.after = key.after;
            key.before = change.before;
            key.before_seq = change.before_seq;
        }
    }

    account_id account_;
    std::int64_t seq_ = 0;
    author last_author_{};  // of the previous version
    task_map tasks_;
    std::map<uuid, std::int64_t> last_, removed_;
    std::set<uuid> unread_;
    std::vector<told_change> all_;
};

}  // namespace callsign::testing
