#pragma once
// A store around a store: it passes everything on, and at an armed point it kills the process
// (throws killed, which nothing in the server catches) or fails as a disk does. The store within
// keeps what was committed, as a disk would.

#include <callsign/ports/store.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace callsign::testing {

// The process died here. Passes through the whole server to whoever runs its io_context.
struct killed {};

enum class fault_point {
    before_reserve_commit,
    after_reserve_commit,
    inside_fulfil,  // the task is written, its slot is not yet committed
    before_fulfil_commit,
    after_fulfil_commit,
    inside_sweep,
    before_sweep_commit,
    after_sweep_commit,
    before_sync,  // committed, and nobody was told; not durable yet
    before_any_commit,
};
// Those of creations, sweeps and syncs, to be drawn from.
inline constexpr int fault_points = 9;

enum class fault_kind {
    kill,            // the process dies there
    refuse,          // commits only: the store says no, and nothing became durable
    unknown_lost,    // commits and syncs only: it fails, and it did not take
    unknown_durable  // commits and syncs only: it fails, and yet it took
};

class faulty_store final : public store {
  public:
    explicit faulty_store(store& within) : within_(within) {}

    // Strikes once, the next time the point is passed.
    void arm(fault_point where, fault_kind how) { armed_ = {where, how}; }
    void disarm() { armed_.reset(); }
    // Whatever has to do with keys that begin so fails, until there is another; empty: nothing
    // does.
    void refuse_key(std::string begins_with, store_failure::kind how) {
        refused_key_ = std::move(begins_with);
        refused_how_ = how;
    }
    void refuse_tasks_over(std::size_t bytes) { task_bytes_max_ = bytes; }
    // None: reads go on.
    void refuse_reads(std::optional<store_failure::kind> how) { refused_reads_ = how; }
    // None: writes go on.
    void refuse_writes(std::optional<store_failure::kind> how) { refused_writes_ = how; }
    void refuse_forgetting(bool refused) { refuses_forgetting_ = refused; }
    int logs_cleared() const { return logs_cleared_; }
    int refusals() const { return refusals_; }
    // How often somebody wanted to know whether writes are still refused.
    int proofs() const { return proofs_; }
    bool armed() const { return armed_.has_value(); }
    // A COMMIT or a sync failed and its outcome was left open: the server must stop writing.
    bool left_unknown() const { return left_unknown_; }
    std::size_t reads_begun() const { return reads_begun_; }
    // How many commands each write transaction was begun for.
    const std::vector<std::size_t>& batches() const { return batches_; }

    std::unique_ptr<write_tx> begin_write(write_batch batch) override {
        batches_.push_back(batch.size());
        if (refused_writes_) throw store_failure(*refused_writes_, "no writes");
        return std::make_unique<transaction>(*this, within_.begin_write(batch));
    }
    std::unique_ptr<read_tx> begin_read() override {
        ++reads_begun_;
        if (refused_reads_) throw store_failure(*refused_reads_, "no reads");
        return within_.begin_read();
    }
    void sync() override {
        if (const auto how = strikes(fault_point::before_sync)) {
            if (how == fault_kind::kill) throw killed{};
            if (how == fault_kind::unknown_durable) within_.sync();
            left_unknown_ = true;
            throw store_failure(store_failure::kind::unknown, "the disk is failing");
        }
        within_.sync();
    }
    time_point last_moment() override { return within_.last_moment(); }
    slot_counts counts() override { return within_.counts(); }
    store_totals totals() override { return within_.totals(); }
    void prove_writable() override {
        ++proofs_;
        if (refused_writes_) throw store_failure(*refused_writes_, "no writes");
        within_.prove_writable();
    }
    // None: damage that was met is not there any more.
    void keep_damage(std::optional<store_failure::kind> how) { kept_damage_ = how; }
    void prove_readable() override {
        ++looks_;
        if (kept_damage_) throw store_failure(*kept_damage_, "still damaged");
        within_.prove_readable();
    }
    // How often somebody looked at damage again.
    int looks() const { return looks_; }
    std::unique_ptr<store_copy> begin_copy(const std::filesystem::path& file) override {
        return within_.begin_copy(file);
    }
    void maintain(bool idle) override { within_.maintain(idle); }

  private:
    using fault = std::pair<fault_point, fault_kind>;

    std::optional<fault_kind> strikes(fault_point here) {
        if (!armed_ || armed_->first != here) return std::nullopt;
        return std::exchange(armed_, std::nullopt)->second;
    }

    class transaction final : public write_tx {
      public:
        transaction(faulty_store& owner, std::unique_ptr<write_tx> within)
            : write_tx(*within), owner_(owner), tx_(std::move(within)) {}

        row_ptr fetch(const index_info& index, const row_key& key, bool head) override {
            return tx_->fetch(index, key, head);
        }
        row_page scan(const row_range& range) override { return tx_->scan(range); }
        std::int64_t draw(drawn_id what, std::int64_t count) override {
            return tx_->draw(what, count);
        }
        void at(time_point now) override { tx_->at(now); }

        std::optional<removal_place> remove_some(account_id a, const removal_place& from,
                                                 std::int64_t limit) override {
            return tx_->remove_some(a, from, limit);
        }
        std::optional<task> find_task(account_id a, const uuid& id) override {
            return tx_->find_task(a, id);
        }
        std::optional<task> find_task(series_id s, std::string_view period,
                                      std::int64_t number) override {
            return tx_->find_task(s, period, number);
        }
        std::optional<task> find_task_head(account_id a, const uuid& id) override {
            return tx_->find_task_head(a, id);
        }
        std::optional<task> find_task_head(series_id s, std::string_view period,
                                           std::int64_t number) override {
            return tx_->find_task_head(s, period, number);
        }
        std::size_t work_done() const override { return tx_->work_done(); }
        void flush() override { tx_->flush(); }
        std::optional<task> find_task_as_of(account_id a, const uuid& id,
                                            std::int64_t seq) override {
            return tx_->find_task_as_of(a, id, seq);
        }
        std::vector<task> unnumbered_tasks(task_id after, std::int64_t limit) override {
            return tx_->unnumbered_tasks(after, limit);
        }
        void visit_numbered(const number_walk& walk, const task_visitor& visit) override {
            tx_->visit_numbered(walk, visit);
        }
        void visit_unnumbered(const number_walk& walk, const task_visitor& visit) override {
            tx_->visit_unnumbered(walk, visit);
        }
        std::vector<slot> slots(slot_id after, std::int64_t limit, std::optional<slot_state> state,
                                std::optional<account_id> a) override {
            return tx_->slots(after, limit, state, a);
        }
        std::optional<receipt> find_receipt(const slot& s) override { return tx_->find_receipt(s); }
        std::optional<slot> find_slot(account_id a, std::string_view key) override {
            const auto& refused = owner_.refused_key_;
            if (!refused.empty() && key.starts_with(refused)) {
                ++owner_.refusals_;
                throw store_failure(owner_.refused_how_, "this key");
            }
            return tx_->find_slot(a, key);
        }
        std::optional<slot> find_slot(slot_id id) override { return tx_->find_slot(id); }
        slot_id put_slot(const slot& s) override {
            reserves_ = true;
            return tx_->put_slot(s);
        }
        bool begin_flight(slot_id id) override { return tx_->begin_flight(id); }
        void count_attempt(slot_id id) override { tx_->count_attempt(id); }
        bool commit_slot(slot_id id, task_id task, bool created, time_point now) override {
            if (fulfils_) kill_at(fault_point::inside_fulfil);
            return tx_->commit_slot(id, task, created, now);
        }
        bool fail_slot(slot_id id, failure_reason reason, time_point now) override {
            sweeps_ = true;
            kill_at(fault_point::inside_sweep);
            return tx_->fail_slot(id, reason, now);
        }
        void forget_slot(slot_id id) override {
            sweeps_ = true;
            kill_at(fault_point::inside_sweep);
            tx_->forget_slot(id);
        }
        task_id put_task(const task& t, series_id s) override {
            fulfils_ = true;
            std::size_t bytes = 0;
            for (const auto& [name, value] : t.attributes) bytes += value.size();
            if (bytes > owner_.task_bytes_max_) {
                ++owner_.refusals_;
                throw store_failure(store_failure::kind::refused, "this task");
            }
            return tx_->put_task(t, s);
        }
        void reveal_task(task_id id, const attributes& all, std::int64_t seq,
                         std::int64_t last_seq) override {
            tx_->reveal_task(id, all, seq, last_seq);
        }
        void number_task(task_id id, series_id s, const receipt& r) override {
            tx_->number_task(id, s, r);
        }
        void conceal_task(const task& t) override { tx_->conceal_task(t); }
        std::vector<slot> pending_slots_of(account_id a, const uuid& id) override {
            return tx_->pending_slots_of(a, id);
        }
        void update_task(const task& before, const attributes& all, bool purged,
                         std::int64_t last_seq, time_point now) override {
            tx_->update_task(before, all, purged, last_seq, now);
        }
        bool scrub_history(task_id id, std::int64_t through, std::size_t& work) override {
            return tx_->scrub_history(id, through, work);
        }
        void clear_log() override {
            ++owner_.logs_cleared_;
            tx_->clear_log();
        }
        bool forget_history(time_point before, std::int64_t limit) override {
            if (owner_.refuses_forgetting_) {
                throw store_failure(store_failure::kind::refused, "nothing is forgotten");
            }
            return tx_->forget_history(before, limit);
        }

        void commit() override { commit_by(&write_tx::commit); }
        void commit_unsynced() override { commit_by(&write_tx::commit_unsynced); }

      private:
        void commit_by(void (write_tx::*commit)()) {
            strike(fault_point::before_any_commit);
            if (reserves_) strike(fault_point::before_reserve_commit);
            if (fulfils_) strike(fault_point::before_fulfil_commit);
            if (sweeps_) strike(fault_point::before_sweep_commit);
            (*tx_.*commit)();
            if (reserves_) strike(fault_point::after_reserve_commit);
            if (fulfils_) strike(fault_point::after_fulfil_commit);
            if (sweeps_) strike(fault_point::after_sweep_commit);
        }
        void kill_at(fault_point here) {
            if (owner_.strikes(here)) throw killed{};
        }

        void strike(fault_point here) {
            const auto how = owner_.strikes(here);
            if (!how) return;
            switch (*how) {
            case fault_kind::kill: throw killed{};
            case fault_kind::refuse:
                throw store_failure(store_failure::kind::refused, "the disk is full");
            case fault_kind::unknown_durable: tx_->commit(); [[fallthrough]];
            case fault_kind::unknown_lost:
                owner_.left_unknown_ = true;
                throw store_failure(store_failure::kind::unknown, "the disk is failing");
            }
        }

        faulty_store& owner_;
        std::unique_ptr<write_tx> tx_;
        bool reserves_ = false;
        bool fulfils_ = false;
        bool sweeps_ = false;
    };

    store& within_;
    std::optional<fault> armed_;
    bool left_unknown_ = false;
    std::size_t reads_begun_ = 0;
    std::vector<std::size_t> batches_;
    std::string refused_key_;
    store_failure::kind refused_how_ = store_failure::kind::refused;
    bool refuses_forgetting_ = false;
    int logs_cleared_ = 0;
    std::optional<store_failure::kind> refused_reads_;
    std::optional<store_failure::kind> refused_writes_;
    std::optional<store_failure::kind> kept_damage_;
    int proofs_ = 0;
    int looks_ = 0;
    std::size_t task_bytes_max_ = std::numeric_limits<std::size_t>::max();
    int refusals_ = 0;
};

// What can happen there: refusal and unknown outcomes belong before a commit, unknown ones before a
// sync too.
inline fault_kind fault_at(fault_point where, std::uint64_t drawn) {
    switch (where) {
    case fault_point::before_reserve_commit:
    case fault_point::before_fulfil_commit:
    case fault_point::before_sweep_commit:
    case fault_point::before_any_commit: return static_cast<fault_kind>(drawn % 4);
    case fault_point::before_sync: {
        constexpr fault_kind all[] = {fault_kind::kill, fault_kind::unknown_lost,
                                      fault_kind::unknown_durable};
        return all[drawn % 3];
    }
    default: return fault_kind::kill;
    }
}

}  // namespace callsign::testing
