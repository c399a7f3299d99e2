#pragma once
// The expected tasks and series of an account, derived from requests: numbers per series and
// period, keys with current and former prefixes, edits with their predicted outcome. The model
// reads the chain after each step; every version must result from a request.

#include "support/told_changes.hpp"

#include <callsign/ports/store.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace callsign::testing {

// Without the server's own attributes: times and the key.
inline attributes without_times(attributes all) {
    for (const char* name : {"entry", "modified", "end", "start", "key"}) all.erase(name);
    return all;
}

struct model_series {
    std::string prefix;
    std::set<std::string> names{};  // current and former
    std::string project{};
    bool is_daily = false;
    bool archived = false;
    std::map<std::string, std::int64_t> last{};  // last number by period
};

struct model_task {
    std::size_t series = 0;
    std::string period{};
    std::int64_t number = 0;
    std::int64_t seq = 0;
    bool purged = false;
    callsign::attributes attributes{};
};

// A creation that was sent, identified by its description.
struct wanted_creation {
    std::string prefix{};
    callsign::attributes attributes{};
};

// An edit that was sent. `becomes`: the expected task; none: purged.
struct wanted_edit {
    callsign::uuid task{};
    std::function<std::optional<attributes>(const attributes&)> becomes{};
};

class account_model {
  public:
    explicit account_model(account_id account) : told(account), account_(account) {
        series[0].prefix = "SYN";
        series[1].prefix = "OPS";
        series[1].project = "ops";
        series[2].prefix = "DAY";
        series[2].is_daily = true;
        for (auto& s : series) s.names.insert(s.prefix);
    }

    // ---- requests ----

    void want(const std::string& description, wanted_creation c) {
        creations_.insert_or_assign(description, std::move(c));
    }
    void want(wanted_edit e) { edits_.push_back(std::move(e)); }
    // Every successful edit is on the chain by now.
    void want_nothing_more() { edits_.clear(); }

    // ---- results ----

    void read_on(read_tx& tx, milliseconds now) {
        for (const version& v : versions::some(tx, account_, told.seq(), read_tx::no_limit)) {
            seen_at_[v.seq] = now;
            if (v.operations.empty()) {
                broken.insert("an empty version");
            } else if (v.operations.front().kind == operation_kind::create) {
                take_creation(tx, v);
            } else if (v.author == author{}) {
                take_keys(v);
                continue;
            } else {
                take_edit(v);
            }
            ++versions;
        }
        told.read_on(tx);
        for (const auto& [id, t] : tasks) {
            const auto found = told.tasks().find(id);
            const bool is_there = found != told.tasks().end();
            if (is_there == t.purged ||
                (is_there && without_times(found->second) != t.attributes)) {
                broken.insert("a task differs from its creation");
            }
        }
    }

    // The last state that may have expired at `now`, if the server has run since `started`.
    std::int64_t forgettable(milliseconds now, milliseconds kept, milliseconds started) const {
        std::int64_t from = 0;
        for (const told_change& c : told.all()) {
            if (now - std::max(seen_at_.at(c.place.seq), started) > kept) {
                from = std::max(from, c.before_seq);
            }
        }
        return from;
    }

    // ---- names ----

    const model_series* find_series(const std::string& prefix) const {
        for (const model_series& s : series) {
            if (s.names.contains(prefix)) return &s;
        }
        return nullptr;
    }
    std::string key_of(const model_task& t, const std::string& prefix) const {
        return format_key(prefix, t.period, t.number);
    }
    std::string key_of(const model_task& t) const { return key_of(t, series[t.series].prefix); }

    std::array<model_series, 3> series;
    std::map<uuid, model_task> tasks;
    told_changes told;
    std::set<std::string> broken;
    int versions = 0;

  private:
    // The current day in Tokyo (UTC+9).
    static std::string day_of(time_point at) {
        const auto day = std::chrono::floor<std::chrono::days>(at + std::chrono::hours{9});
        const std::chrono::year_month_day date{day};
        char text[16];
        std::snprintf(text, sizeof text, "%04d%02u%02u", static_cast<int>(date.year()),
                      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
        return text;
    }

    std::size_t series_for(const wanted_creation& c) const {
        for (std::size_t n = 0; n < series.size(); ++n) {
            if (!c.prefix.empty() && series[n].names.contains(c.prefix)) return n;
        }
        const auto project = value_of(c.attributes, "project");
        for (std::size_t n = 0; n < series.size(); ++n) {
            if (!project.empty() && series[n].project == project) return n;
        }
        return 0;
    }

    void take_creation(read_tx& tx, const version& v) {
        std::string description;
        for (const operation& o : v.operations) {
            if (o.property == "description") description = o.value.value_or("");
        }
        const auto wanted = creations_.find(description);
        if (wanted == creations_.end()) {
            broken.insert("no request for the task " + description);
            return;
        }
        const uuid id = v.operations.front().uuid;
        model_task made;
        made.series = series_for(wanted->second);
        model_series& from = series[made.series];
        if (from.is_daily) {
            made.period = day_of(v.created_at);
            if (!from.last.empty()) made.period = std::max(made.period, from.last.rbegin()->first);
        }
        made.number = ++from.last[made.period];
        made.seq = v.seq;
        made.attributes = wanted->second.attributes;
        const auto row = tasks::find(tx, account_, id);
        if (!row || !row->numbered || row->created_at != v.created_at ||
            callsign::key_of(*row->numbered) != key_of(made)) {
            broken.insert("wrong number instead of " + key_of(made));
        }
        if (!tasks.emplace(id, std::move(made)).second) broken.insert("a task is created twice");
    }

    // The server's own change: after a renaming each task gets its new key.
    void take_keys(const version& v) {
        for (const operation& o : v.operations) {
            const auto found = tasks.find(o.uuid);
            if (found == tasks.end() || found->second.seq >= v.seq || found->second.purged ||
                o.property != "key" || o.value != key_of(found->second)) {
                broken.insert("an unexpected version of the server");
            } else {
                found->second.seq = v.seq;
            }
        }
    }

    // Edits apply in the order of their requests; some may be missing.
    void take_edit(const version& v) {
        const uuid id = v.operations.front().uuid;
        const auto found = tasks.find(id);
        while (!edits_.empty()) {
            const wanted_edit e = std::move(edits_.front());
            edits_.pop_front();
            if (found == tasks.end() || e.task != id || found->second.purged) continue;
            const auto becomes = e.becomes(found->second.attributes);
            if (becomes == found->second.attributes) continue;
            if (!is_made_so(v, found->second.attributes, becomes)) continue;
            found->second.seq = v.seq;
            found->second.purged = !becomes;
            found->second.attributes = becomes.value_or(attributes{});
            return;
        }
        broken.insert("a change without a request");
    }

    static bool is_made_so(const version& v, attributes before,
                           const std::optional<attributes>& becomes) {
        for (const operation& o : v.operations) {
            if (o.kind == operation_kind::remove) return !becomes;
            if (o.value) {
                before.insert_or_assign(o.property, *o.value);
            } else {
                before.erase(o.property);
            }
        }
        return becomes && without_times(std::move(before)) == *becomes;
    }

    account_id account_;
    std::map<std::string, wanted_creation> creations_;
    std::deque<wanted_edit> edits_;
    std::map<std::int64_t, milliseconds> seen_at_;
};

}  // namespace callsign::testing
