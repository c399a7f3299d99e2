#pragma once
// The promise, asked of a store through its port: what `callsign check` proves on files, for any
// backend.

#include <callsign/ports/store.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace callsign::testing {

// Every violation of I1, I2, I3, I4 and I6, in words; empty: none.
inline std::vector<std::string> audit(store& store) {
    constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
    std::vector<std::string> found;
    const auto tx = store.begin_read();
    for (const account& a : tx->accounts()) {
        const std::string who = a.name + ": ";
        // I6: versions 1..n, each the child of the one before.
        std::int64_t seq = 0;
        uuid parent{};
        std::map<uuid, std::set<std::int64_t>> made_by;
        task_map said;
        for (const version& v : tx->versions(a.id, 0, all)) {
            if (v.seq != ++seq)
                found.push_back(who + "I6: a hole before seq " + std::to_string(v.seq));
            if (v.parent != parent)
                found.push_back(who + "I6: a fork at seq " + std::to_string(v.seq));
            parent = v.id;
            for (const operation& o : v.operations) {
                if (o.what == operation::kind::create) made_by[o.uuid].insert(v.seq);
                if (carry_out(said, o)) continue;
                found.push_back(who + "I6: without effect, at seq " + std::to_string(v.seq));
            }
        }
        if (a.mode == account_mode::managed && a.last_seq != seq)
            found.push_back(who + "I6: the head is not the last version");

        // I1, I2: every task numbered by its own version, each series 1..n.
        std::map<std::pair<std::string, std::string>, std::set<std::int64_t>> numbers;
        std::map<std::pair<std::string, std::string>, std::int64_t> taken;
        std::map<task_id, uuid> tasks;
        for (const task& t : tx->tasks(a.id, task_id{}, all)) {
            tasks[t.id] = t.uuid;
            const auto meant = said.find(t.uuid);
            if (t.purged ? meant != said.end()
                         : meant == said.end() || meant->second != t.attributes) {
                found.push_back(who + "I6: " + to_string(t.uuid) + " is not what the chain says");
            }
            if (!t.numbered) {
                found.push_back(who + "I2: a task without a number");
                continue;
            }
            const receipt& r = *t.numbered;
            numbers[{r.prefix, r.period}].insert(r.number);
            ++taken[{r.prefix, r.period}];
            if (!made_by[t.uuid].contains(r.seq))
                found.push_back(who + "I2: " + key_of(r) + " has no version");
        }
        for (const auto& [name, have] : numbers) {
            const auto n = static_cast<std::int64_t>(have.size());
            if (n != taken[name] || *have.begin() != 1 || *have.rbegin() != n) {
                found.push_back(who + "I1: " + name.first + " is not 1.." +
                                std::to_string(taken[name]));
            }
        }
        for (const series& s : tx->series_of(a.id)) {
            if (s.last_number != taken[{s.prefix, ""}]) {
                found.push_back(who + "I1: the counter of " + s.prefix + " is at " +
                                std::to_string(s.last_number));
            }
        }

        // I3, I4: one slot a key; what is committed has its task; what is not has none.
        std::set<std::string> keys;
        std::set<task_id> made;
        for (const slot& s : tx->slots(slot_id{}, all, {}, a.id)) {
            if (!keys.insert(s.key).second) found.push_back(who + "I3: two slots for " + s.key);
            const bool committed = s.state == slot_state::committed;
            if (committed != s.task.has_value()) found.push_back(who + "I4: slot of " + s.key);
            if ((s.state == slot_state::pending) == s.settled_at.has_value()) {
                found.push_back(who + "I4: the end of " + s.key);
            }
            if (!s.task) continue;
            if (!tasks.contains(*s.task) || tasks[*s.task] != s.uuid) {
                found.push_back(who + "I3: the task of " + s.key + " is not the one reserved");
            }
            if (s.created && !made.insert(*s.task).second) {
                found.push_back(who + "I3: two slots made one task");
            }
        }
    }
    return found;
}

}  // namespace callsign::testing
