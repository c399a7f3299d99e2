// The feed: the changes that each version made to each of its tasks.

#include "chain_place.hpp"
#include "resolve.hpp"
#include "walk.hpp"

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/work.hpp>
#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace callsign::rules {
namespace {

struct touched_task {
    uuid id{};
    std::vector<std::string> changed{};
    bool made = false;     // it did not exist before
    bool deleted = false;  // even if it was created again
};

// Returns the version's tasks, in the order of their first operation.
std::vector<touched_task> touched_by(const version& v) {
    std::vector<touched_task> all;
    std::unordered_map<uuid, std::size_t, keyed_hash> places;
    for (const operation& o : v.operations) {
        const auto [place, fresh] = places.emplace(o.uuid, all.size());
        // Each operation has an effect, so the first one shows whether the task existed.
        if (fresh) all.push_back({o.uuid, {}, o.kind == operation_kind::create, false});
        touched_task& t = all[place->second];
        t.deleted = t.deleted || o.kind == operation_kind::remove;
        if (o.kind == operation_kind::update && !is_scrubbed(o)) t.changed.push_back(o.property);
    }
    for (touched_task& t : all) {
        std::sort(t.changed.begin(), t.changed.end());
        t.changed.erase(std::unique(t.changed.begin(), t.changed.end()), t.changed.end());
    }
    return all;
}

class feed_reader {
  public:
    feed_reader(read_tx& tx, const read_changes& q)
        : tx_(tx),
          q_(q),
          head_(accounts::head_of(tx, q.account)),
          from_(accounts::history_from(tx, q.account)) {}

    read_changes::answer read() {
        if (q_.after.seq > head_.seq || (q_.mark && *q_.mark != mark_at(q_.after.seq))) {
            return read_changes::diverged{head_.seq, mark_at(head_.seq)};
        }
        std::int64_t seen = q_.after.seq - (q_.after.tasks > 0 ? 1 : 0);
        if (seen < from_) return read_changes::expired{from_, mark_at(from_)};
        if (q_.filter && !q_.filter->prefix.empty()) {
            const auto series = all_series::find(tx_, q_.account, q_.filter->prefix);
            if (!series) return unknown_series{};
            prefix_ = series->prefix;
        }
        found_.next = q_.after;
        for (bool goes_on = true; goes_on && seen < head_.seq && !is_enough(); ++seen) {
            version next = version_at(tx_, q_.account, seen + 1);
            goes_on = show(next);
        }
        found_.mark = mark_at(found_.next.seq);
        found_.last = head_.seq;
        found_.has_more = found_.next != feed_place{head_.seq};
        return std::move(found_);
    }

  private:
    // Returns whether the page is full; at least one task is read.
    bool is_enough() const {
        return found_.changes.size() >= q_.limit || (work_ >= q_.work_max && looked_at_ > 0);
    }

    // Returns false if the page was full before the end of the version.
    bool show(const version& v) {
        auto touched = touched_by(v);
        for (std::size_t n = v.seq == q_.after.seq ? q_.after.tasks : 0; n < touched.size(); ++n) {
            if (is_enough()) return false;
            ++looked_at_;
            const bool is_last = n + 1 == touched.size();
            found_.next = {v.seq, is_last ? 0 : n + 1};
            show(v, touched[n], found_.next);
        }
        found_.next = {v.seq};
        ++looked_at_;
        // Counted after the tasks: a page that ended within the version would read it again.
        work_ += work_of(v);
        return true;
    }

    void show(const version& v, touched_task& touched, const feed_place& place) {
        task stood = as_it_stood(touched.id, v.seq);
        touched.made = touched.made || is_key_of_new(v, stood);
        if (!is_wanted(stood, v.seq, touched)) return;
        task_change change{
            place, mark_of_version(v.id), v.created_at, display_.name_of(v.author), {}, {}};
        change.task = display_.shown(std::move(stood));
        if (!change.task.purged) change.changed = std::move(touched.changed);
        found_.changes.push_back(std::move(change));
    }

    // Returns whether `v` is the server's own version after the creating one (one transaction).
    static bool is_key_of_new(const version& v, const task& stood) {
        return v.author == author{} && stood.numbered && stood.numbered->seq + 1 == v.seq;
    }

    // Returns the task after version `seq`. If it has been purged since, its current, empty state.
    task as_it_stood(const uuid& id, std::int64_t seq) {
        auto now = counted(tasks::find(tx_, q_.account, id));
        if (!now) throw_damaged("versions by seq", seq, "a task of it does not exist");
        if (now->purged || now->last_seq <= seq) return *std::move(now);
        auto then = counted(history::find_as_of(tx_, q_.account, id, seq));
        // The server's own version right after `seq` was in the same transaction.
        if (!then || then->last_seq != seq) {
            then = counted(history::find_as_of(tx_, q_.account, id, seq + 1));
        }
        if (!then) throw_damaged("tasks", now->id.value, "a part of its history does not exist");
        return *std::move(then);
    }

    bool is_wanted(const task& stood, std::int64_t seq, const touched_task& touched) {
        if (!q_.filter) return true;
        if (!prefix_.empty() && stood.current_prefix != prefix_) return false;
        if (matches(*q_.filter, stood, q_.now)) return true;
        const auto before = counted(history::find_as_of(tx_, q_.account, stood.uuid, seq - 1));
        // The state before may have expired or been purged; it may then have matched the filter.
        const bool is_known = before && !(before->purged && touched.deleted);
        return is_known ? matches(*q_.filter, *before, q_.now) : !touched.made;
    }

    std::optional<task> counted(std::optional<task> looked_at) {
        work_ += work_of_task + (looked_at ? work_of(looked_at->attributes) : 0);
        return looked_at;
    }

    std::string mark_at(std::int64_t seq) {
        if (seq == head_.seq) return mark_of_version(seq == 0 ? uuid{} : head_.version);
        const auto id = versions::find_id(tx_, q_.account, seq);
        return mark_of_version(id.value_or(uuid{}));
    }

    read_tx& tx_;
    task_display display_{tx_};
    const read_changes& q_;
    const chain_head head_;
    const std::int64_t from_;
    std::string prefix_;  // prefix in the filter; empty: any
    read_changes::part found_;
    std::size_t work_ = 0;
    std::size_t looked_at_ = 0;
};

}  // namespace

read_changes::answer read(read_tx& tx, const read_changes& q) {
    return feed_reader(tx, q).read();
}

}  // namespace callsign::rules
