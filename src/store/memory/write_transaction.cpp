// The transaction over its tables, one function for each of the port's. What the port rules out is
// asserted.

#include "write_transaction.hpp"

#include "reads.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/domain/task_faults.hpp>
#include <callsign/ports/tables/accounts.hpp>

#include <algorithm>
#include <set>

namespace callsign::memory {
namespace {

bool counts_as_open(const task& t) {
    return t.numbered && !t.purged && !is_over(t.attributes);
}

// The rows of a table that are so.
template <class Table, class Is>
void drop(Table& from, const Is& is) {
    auto rows = from.extract_sequence();
    rows.erase(std::remove_if(rows.begin(), rows.end(), is), rows.end());
    from.adopt_sequence(boost::container::ordered_unique_range, std::move(rows));
}

class write_transaction final : public reads_over<write_tx> {
  public:
    write_transaction(std::shared_ptr<state> copy, committer commit, int* forgotten)
        : reads_over(std::move(copy)), commit_(std::move(commit)), forgotten_(forgotten) {}
    write_transaction(const write_transaction&) = delete;
    write_transaction& operator=(const write_transaction&) = delete;
    ~write_transaction() override {
        if (wrote_ || !work().is_empty()) ++*forgotten_;
    }

    std::int64_t draw(drawn_id /*what*/, std::int64_t count) override {
        return state_->last_id += count;
    }
    void at(time_point now) override { moved(now); }

    slot_id put_slot(const slot& s) override {
        const slot_id id{next_id(s.created_at)};
        CALLSIGN_ASSERT(state_->slot_keys.emplace(std::pair(s.account, s.key), id).second);
        slot kept = s;
        kept.id = id;
        state_->slots.emplace(id, std::move(kept));
        return id;
    }
    bool begin_flight(slot_id id) override {
        row<slot>* found = open_slot(id);
        if (!found || (*found)->state != slot_state::pending) return false;
        wrote_ = true;
        found->edit([](slot& s) { s.state = slot_state::in_flight; });
        return true;
    }
    void count_attempt(slot_id id) override {
        wrote_ = true;
        open_slot(id)->edit([](slot& s) { ++s.attempts; });
    }
    bool commit_slot(slot_id id, task_id task, bool created, time_point now) override {
        row<slot>* found = open_slot(id);
        if (!found) return false;
        CALLSIGN_ASSERT(state_->tasks.contains(task));
        moved(now);
        found->edit([&](slot& s) {
            s.task = task;
            s.created = created;
            s.state = slot_state::committed;
            s.settled_at = now;
        });
        return true;
    }
    bool fail_slot(slot_id id, failure_reason reason, time_point now) override {
        row<slot>* found = open_slot(id);
        if (!found) return false;
        moved(now);
        found->edit([&](slot& s) {
            s.reason = reason;
            s.state = slot_state::failed;
            s.settled_at = now;
        });
        return true;
    }
    void forget_slot(slot_id id) override {
        wrote_ = true;
        const slot& s = *state_->slots.at(id);
        CALLSIGN_ASSERT(!is_open(s.state));
        state_->slot_keys.erase({s.account, s.key});
        state_->slots.erase(id);
    }
    std::vector<slot> pending_slots_of(account_id account, const uuid& id) override {
        std::vector<slot> waiting;
        for (const auto& [key, s] : state_->slots) {
            if (is_open(s->state) && s->account == account && s->uuid == id) {
                waiting.push_back(*s);
            }
        }
        return waiting;
    }

    task_id put_task(const task& t, series_id series) override {
        const task_id id{next_id(t.created_at)};
        CALLSIGN_ASSERT(state_->task_uuids.emplace(std::pair(t.account, t.uuid), id).second);
        worked(t.attributes);
        stored_task kept{t, series};
        kept.task.id = id;
        kept.open = counts_as_open(kept.task);
        state_->tasks.emplace(id, std::move(kept));
        if (t.numbered) index_number(id, series, *t.numbered);
        return id;
    }
    void reveal_task(task_id id, const attributes& all, std::int64_t seq,
                     std::int64_t last_seq) override {
        wrote_ = true;
        worked(all);
        edit_task(id, [&](stored_task& kept) {
            CALLSIGN_ASSERT(kept.task.purged && kept.task.numbered->seq == 0);
            kept.task.purged = false;
            kept.task.attributes = all;
            kept.task.numbered->seq = seq;
            kept.task.last_seq = last_seq;
        });
    }
    void number_task(task_id id, series_id series, const receipt& r) override {
        wrote_ = true;
        edit_task(id, [&](stored_task& kept) {
            CALLSIGN_ASSERT(!kept.task.numbered);
            kept.task.numbered = r;
            kept.task.last_seq = r.seq;
            kept.series = series;
        });
        index_number(id, series, r);
    }
    void update_task(const task& before, const attributes& all, bool purged, std::int64_t last_seq,
                     time_point now) override {
        worked(all);
        past_state past{before.account, next_id(now), now, state_->tasks.at(before.id)->task};
        past.task.last_seq = before.last_seq;
        past.task.attributes = before.attributes;
        CALLSIGN_ASSERT(
            state_->history.emplace(std::pair(before.id, before.last_seq), std::move(past)).second);
        edit_task(before.id, [&](stored_task& kept) {
            kept.task.attributes = all;
            kept.task.purged = purged;
            kept.task.last_seq = last_seq;
        });
    }
    bool forget_history(time_point before, std::int64_t limit) override {
        using entry = std::pair<std::pair<task_id, std::int64_t>, row<past_state>>;
        std::vector<entry> oldest;
        for (const auto& [key, past] : state_->history) {
            if (past->ended_at < before) oldest.emplace_back(key, past);
        }
        std::sort(oldest.begin(), oldest.end(),
                  [](const entry& a, const entry& b) { return a.second->order < b.second->order; });
        const bool more = std::ssize(oldest) > limit;
        oldest.erase(oldest.begin() + std::min<std::ptrdiff_t>(limit, std::ssize(oldest)),
                     oldest.end());
        for (const auto& [key, past] : oldest) {
            wrote_ = true;
            state_->history.erase(key);
            edit_account(past->account, [seq = key.second](account& a) {
                a.history_from = std::max(a.history_from, seq);
            });
        }
        return more;
    }
    bool scrub_history(task_id task, std::int64_t through, std::size_t& work) override {
        for (auto at = state_->history.lower_bound({task, 0});
             at != state_->history.end() && at->first < std::pair(task, through); ++at) {
            if (at->second->task.purged) continue;
            if (work == 0) return false;
            wrote_ = true;
            work -= std::min(work, 64 + size_of(at->second->task.attributes));
            at->second.edit([](past_state& past) {
                past.task.attributes.clear();
                past.task.purged = true;
            });
        }
        return true;
    }

    void conceal_task(const task& t) override {
        wrote_ = true;
        edit_task(t.id, [&](stored_task& kept) {
            CALLSIGN_ASSERT(!kept.task.purged);
            kept.task.purged = true;
            kept.task.attributes.clear();
            kept.task.numbered->seq = 0;
            kept.task.last_seq = 0;
        });
    }

    // At once.
    std::optional<removal_place> remove_some(account_id account, const removal_place& /*from*/,
                                             std::int64_t /*limit*/) override {
        wrote_ = true;
        state& s = *state_;
        for (const auto& [id, slot] : s.slots) CALLSIGN_ASSERT(slot->account != account);
        const auto begins_so = [&](const auto& row) { return row.first.first == account; };
        std::set<series_id> series;
        for (const auto& each : all(range_of<series_by_account>(account))) series.insert(each->id);
        std::set<task_id> tasks;
        for (const auto& [id, row] : s.tasks) {
            if (row->task.account == account) tasks.insert(id);
        }
        drop(s.history, [&](const auto& row) { return tasks.contains(row.first.first); });
        drop(s.tasks, [&](const auto& row) { return tasks.contains(row.first); });
        drop(s.task_uuids, begins_so);
        drop(s.task_numbers,
             [&](const auto& row) { return series.contains(std::get<0>(row.first)); });
        return std::nullopt;
    }

    std::size_t work_done() const override { return work_ + work().work_done(); }

    void commit() override { end(true); }
    void commit_unsynced() override { end(false); }

  private:
    void end(bool durable) {
        wrote_ = false;
        for (const table_changes& each : work().changes()) state_->rows.apply(each);
        unit_->clear();
        commit_(std::move(state_), durable);
    }
    template <class Change>
    void edit_account(account_id id, const Change& change) {
        edit(expect<accounts_by_id>(id), change);
    }
    template <class Change>
    void edit_task(task_id id, const Change& change) {
        state_->tasks.at(id).edit([&](stored_task& kept) {
            change(kept);
            kept.open = counts_as_open(kept.task);
        });
    }
    row<slot>* open_slot(slot_id id) {
        row<slot>* s = find(state_->slots, id);
        return s && is_open((*s)->state) ? s : nullptr;
    }
    void index_number(task_id id, series_id series, const receipt& r) {
        CALLSIGN_ASSERT(
            state_->task_numbers.emplace(std::tuple(series, r.period, r.number), id).second);
    }
    void moved(time_point now) {
        wrote_ = true;
        state_->last_moment = std::max(state_->last_moment, now);
    }
    std::int64_t next_id(time_point now) {
        moved(now);
        return ++state_->last_id;
    }

    committer commit_;
    int* forgotten_;
    bool wrote_ = false;
};

}  // namespace

std::unique_ptr<write_tx> begin_write(std::shared_ptr<state> copy, committer commit,
                                      int* forgotten) {
    return std::make_unique<write_transaction>(std::move(copy), std::move(commit), forgotten);
}

}  // namespace callsign::memory
