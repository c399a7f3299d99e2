#pragma once
// A follower that compares each response with the chain (told_changes.hpp): each change after its
// cursor, once, in order, with the task as of that change; with a filter, exactly the changes whose
// task matched before or after. It rebuilds the tasks from the feed alone.
//
// The owner sends the queries, directly or over HTTP.

#include "told_changes.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace callsign::testing {

// A change as the follower received it.
struct heard_change {
    feed_place place{};
    callsign::uuid task{};
    bool purged = false;
    callsign::attributes attributes{};
    std::optional<std::vector<std::string>> changed{};  // names of attributes, if given
};

class model_follower {
  public:
    // Whether a task in this state matches the filter.
    using filter = std::function<bool(const uuid&, const attributes&)>;
    // Returns the part of a task that the follower receives.
    using view = std::function<attributes(const attributes&)>;

    explicit model_follower(filter wanted = {}, view shown_as = {})
        : wanted_(std::move(wanted)), shown_as_(std::move(shown_as)) {}

    // Responses may be delayed: tasks may have been purged since, and more of the history may have
    // expired.
    void may_hear_late() { may_hear_late_ = true; }

    // Scrubs run: the content of a purged task may be missing, its removal may not.
    void may_be_scrubbed() { may_be_scrubbed_ = true; }

    const feed_place& place() const { return place_; }
    const task_map& tasks() const { return tasks_; }
    const std::set<std::string>& faults() const { return faults_; }
    int changes() const { return changes_; }
    int expiries() const { return expiries_; }

    // Lists the current tasks, and follows from here on.
    void begin_at(const feed_place& here, const told_changes& told) {
        place_ = here;
        list(told);
    }

    // The follower received `shown`, which covers everything up to `next`. `forgotten`: states
    // before those that this version made may have expired.
    void hear(const std::vector<heard_change>& shown, const feed_place& next,
              const told_changes& told, std::int64_t forgotten) {
        auto heard = shown.begin();
        if (is_before(next, place_)) reject("the cursor goes back");
        for (auto c = first_after(told, place_);
             c != told.all().end() && !is_before(next, c->place); ++c) {
            const bool is_next = heard != shown.end() && heard->place == c->place;
            const auto due = is_due(*c, told, forgotten);
            if (is_next) {
                if (due == duty::never) reject("a change of another filter", c->place);
                compare(*heard, *c, told);
                keep(*heard++);
            } else if (due == duty::always) {
                reject("a change is missing", c->place);
            }
        }
        if (heard != shown.end()) reject("a change out of order, or twice", heard->place);
        place_ = next;
    }

    // The changes after its cursor have expired: it lists the current tasks, and follows from here
    // on.
    void begin_again(const feed_place& oldest, const told_changes& told,
                     std::int64_t history_from) {
        ++expiries_;
        const std::int64_t from = may_hear_late_ ? oldest.seq : history_from;
        if (before_whole(place_) >= from) reject("a valid cursor is rejected as expired");
        if (oldest.seq != from || from > history_from)
            reject("a wrong cursor after an expired one");
        begin_at(oldest, told);
    }

    // At the end of the feed: compares the follower's tasks with the chain's.
    void finish(const told_changes& told) {
        if (first_after(told, place_) != told.all().end()) reject("changes are missing at the end");
        task_map known = std::exchange(tasks_, {});
        std::erase_if(known, [&](const auto& t) { return wanted_ && !wanted_(t.first, t.second); });
        list(told);
        if (known != tasks_) reject("its tasks differ from the server's");
    }

    void reject(std::string why) { faults_.insert("a follower: " + std::move(why)); }

  private:
    enum class duty { always, maybe, never };

    // A place behind a whole version is later than one between its tasks.
    static bool is_before(const feed_place& a, const feed_place& b) {
        const auto rank = [](const feed_place& p) {
            return std::pair(p.seq, p.tasks == 0 ? ~std::size_t{0} : p.tasks);
        };
        return rank(a) < rank(b);
    }
    // The last version that was received completely.
    static std::int64_t before_whole(const feed_place& p) { return p.seq - (p.tasks > 0 ? 1 : 0); }

    static std::vector<told_change>::const_iterator first_after(const told_changes& told,
                                                                const feed_place& place) {
        return std::partition_point(
            told.all().begin(), told.all().end(),
            [&](const told_change& c) { return !is_before(place, c.place); });
    }

    // Up to the purge; versions that create the task again are excluded.
    bool is_of_a_purged_task(const told_change& c, const told_changes& told) const {
        const std::int64_t removed = told.removed_at(c.task);
        return may_be_scrubbed_ && (c.place.seq < removed || (c.place.seq == removed && !c.after));
    }

    duty is_due(const told_change& c, const told_changes& told, std::int64_t forgotten) const {
        if (!wanted_) return duty::always;
        if (is_of_a_purged_task(c, told)) {
            const bool is_known =
                !c.after && c.place.seq == told.removed_at(c.task) && !told.is_unread(c.task);
            const bool was_in = c.before && wanted_(c.task, *c.before);
            return is_known && was_in ? duty::always : duty::maybe;
        }
        if (c.before && wanted_(c.task, *c.before)) return duty::always;
        // Whether the task matched before has expired.
        const bool is_unknown = c.before_seq > 0 && c.before_seq <= forgotten;
        const bool is_in = c.after && wanted_(c.task, *c.after);
        // Changes of purged tasks may be omitted.
        if (is_in && !told.tasks().contains(c.task)) return duty::maybe;
        if (is_in) return duty::always;
        return is_unknown ? duty::maybe : duty::never;
    }

    void compare(const heard_change& heard, const told_change& c, const told_changes& told) {
        if (heard.task != c.task) return reject("wrong task", c.place);
        if (is_of_a_purged_task(c, told)) {
            if (heard.purged && !heard.attributes.empty())
                reject("a purged task is shown with attributes");
            if (heard.purged || told.is_unread(c.task)) return;
        }
        bool is_gone = !c.after || !told.tasks().contains(c.task);
        if (may_hear_late_ && !heard.purged) is_gone = !c.after;
        if (heard.purged != is_gone) {
            reject(
                heard.purged ? "a task is reported as purged" : "a purged task is shown as present",
                c.place);
        }
        if (is_gone ? !heard.attributes.empty() : heard.attributes != seen(*c.after)) {
            reject("a task differs from its state at that change", c.place);
        }
        if (heard.changed && (is_gone ? !heard.changed->empty() : *heard.changed != c.changed)) {
            reject("wrong names of changed attributes", c.place);
        }
    }

    void list(const told_changes& told) {
        tasks_.clear();
        for (const auto& [id, all] : told.tasks()) {
            if (!wanted_ || wanted_(id, all)) tasks_[id] = seen(all);
        }
    }

    void keep(const heard_change& heard) {
        ++changes_;
        if (heard.purged) {
            tasks_.erase(heard.task);
        } else {
            tasks_[heard.task] = heard.attributes;
        }
    }

    attributes seen(const attributes& all) const { return shown_as_ ? shown_as_(all) : all; }

    void reject(const std::string& what, const feed_place& where) {
        reject(what + " at " + std::to_string(where.seq) + "." + std::to_string(where.tasks));
    }

    filter wanted_;
    view shown_as_;
    bool may_hear_late_ = false;
    bool may_be_scrubbed_ = false;
    feed_place place_{};
    task_map tasks_;
    std::set<std::string> faults_;
    int changes_ = 0;
    int expiries_ = 0;
};

}  // namespace callsign::testing
