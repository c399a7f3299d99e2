// The transaction over its tables, one function for each of the port's. What the port rules out is
// asserted.

#include "write_transaction.hpp"

#include "reads.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/ports/tables/tasks.hpp>

#include <algorithm>

namespace callsign::memory {
namespace {

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
        CALLSIGN_ASSERT(get_head<tasks_by_id>(task));
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
    row<slot>* open_slot(slot_id id) {
        row<slot>* s = find(state_->slots, id);
        return s && is_open((*s)->state) ? s : nullptr;
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
