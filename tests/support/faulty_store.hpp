#pragma once
// A store that forwards to another one and, at an armed point, kills the process (throws `killed`,
// which the server does not catch) or fails as a disk does. The inner store keeps committed data,
// as a disk would.

#include "forwarding_store.hpp"

#include <callsign/ports/store.hpp>
#include <callsign/ports/tables/slots.hpp>
#include <callsign/ports/tables/tasks.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace callsign::testing {

// The process died. Passes through the whole server to the caller of io_context::run().
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
    before_sync,  // committed and not durable yet; no response was sent
    before_any_commit,
};
// Number of the points of creations, sweeps and syncs, which come first.
inline constexpr int fault_points = 9;

enum class fault_kind {
    kill,            // the process dies there
    reject,          // commits only: the store rejects it, and nothing becomes durable
    unknown_lost,    // commits and syncs only: unknown outcome, nothing durable
    unknown_durable  // commits and syncs only: unknown outcome, all durable
};

class faulty_store final : public forwarding_store {
  public:
    explicit faulty_store(store& within) : forwarding_store(within) {}

    // Injects the fault once, the next time the point is passed.
    void arm(fault_point where, fault_kind how) { armed_ = {where, how}; }
    void disarm() { armed_.reset(); }
    // Rejects access to keys that begin so, until the next call; empty: to none.
    void reject_key(std::string begins_with, store_failure::kind how) {
        rejected_key_ = std::move(begins_with);
        rejected_how_ = how;
    }
    void reject_tasks_over(std::size_t bytes) { task_bytes_max_ = bytes; }
    // None: reads succeed.
    void reject_reads(std::optional<store_failure::kind> how) { rejected_reads_ = how; }
    // None: writes succeed.
    void reject_writes(std::optional<store_failure::kind> how) { rejected_writes_ = how; }
    void reject_forgetting(bool rejected) { rejects_forgetting_ = rejected; }
    int logs_cleared() const { return logs_cleared_; }
    int rejections() const { return rejections_; }
    // How often the server tested whether writes succeed again.
    int proofs() const { return proofs_; }
    bool armed() const { return armed_.has_value(); }
    // A COMMIT or a sync failed with an unknown outcome: the server must stop writing.
    bool left_unknown() const { return left_unknown_; }
    std::size_t reads_begun() const { return reads_begun_; }

    std::unique_ptr<write_tx> begin_write() override {
        if (rejected_writes_) throw store_failure(*rejected_writes_, "no writes");
        return std::make_unique<transaction>(*this, within_.begin_write());
    }
    std::unique_ptr<read_tx> begin_read() override {
        ++reads_begun_;
        if (rejected_reads_) throw store_failure(*rejected_reads_, "no reads");
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
    void prove_writable() override {
        ++proofs_;
        if (rejected_writes_) throw store_failure(*rejected_writes_, "no writes");
        forwarding_store::prove_writable();
    }
    // None: the corruption that was found is gone.
    void keep_damage(std::optional<store_failure::kind> how) { kept_damage_ = how; }
    void prove_readable() override {
        ++looks_;
        if (kept_damage_) throw store_failure(*kept_damage_, "still damaged");
        forwarding_store::prove_readable();
    }
    // How often the server looked at corrupt data again.
    int looks() const { return looks_; }

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
            if (&index == &info_of<slots_by_key>()) reject_slot(key);
            return tx_->fetch(index, key, head);
        }
        row_page scan(const row_range& range) override {
            const bool is_forgetting = range.index == &info_of<history_by_id>();
            if (is_forgetting && owner_.rejects_forgetting_) {
                throw store_failure(store_failure::kind::rejected, "removal rejected");
            }
            return tx_->scan(range);
        }
        std::size_t work_done() const override { return tx_->work_done(); }
        void flush() override {
            look_at_changes();
            tx_->flush();
        }
        void clear_log() override {
            ++owner_.logs_cleared_;
            tx_->clear_log();
        }

        void commit() override { commit_by(&write_tx::commit); }
        void commit_unsynced() override { commit_by(&write_tx::commit_unsynced); }

      private:
        void commit_by(void (write_tx::*commit)()) {
            look_at_changes();
            strike(fault_point::before_any_commit);
            if (reserves_) strike(fault_point::before_reserve_commit);
            if (fulfils_) strike(fault_point::before_fulfil_commit);
            if (sweeps_) strike(fault_point::before_sweep_commit);
            (*tx_.*commit)();
            if (reserves_) strike(fault_point::after_reserve_commit);
            if (fulfils_) strike(fault_point::after_fulfil_commit);
            if (sweeps_) strike(fault_point::after_sweep_commit);
        }
        void reject_slot(row_key key) {
            key_reader parts(key);
            parts.integer();
            const auto& rejected = owner_.rejected_key_;
            if (rejected.empty() || !parts.text().starts_with(rejected)) return;
            ++owner_.rejections_;
            throw store_failure(owner_.rejected_how_, "key rejected");
        }
        // Called before the first write.
        void look_at_changes() {
            if (std::exchange(is_looked_at_, true)) return;
            each_change<task_row>([&](const auto* before, const auto* now) {
                fulfils_ = fulfils_ || !before;
                if (!now || now->bytes <= owner_.task_bytes_max_) return;
                ++owner_.rejections_;
                throw store_failure(store_failure::kind::rejected, "task rejected");
            });
            each_change<slot>([&](const auto* before, const auto* now) {
                reserves_ = reserves_ || !before;
                sweeps_ = sweeps_ || !now || now->state == slot_state::failed;
            });
            if (fulfils_) kill_at(fault_point::inside_fulfil);
            if (sweeps_) kill_at(fault_point::inside_sweep);
        }
        template <class Row, class Look>
        void each_change(const Look& look) {
            const changed_rows* const changed = unit().of(info_of_table<Row>());
            if (!changed) return;
            for (const row_change& c : changed->all().rows) {
                look(static_cast<const head_of<Row>*>(c.before.get()),
                     static_cast<const Row*>(c.now.get()));
            }
        }
        void kill_at(fault_point here) {
            if (owner_.strikes(here)) throw killed{};
        }

        void strike(fault_point here) {
            const auto how = owner_.strikes(here);
            if (!how) return;
            switch (*how) {
            case fault_kind::kill: throw killed{};
            case fault_kind::reject:
                throw store_failure(store_failure::kind::rejected, "the disk is full");
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
        bool is_looked_at_ = false;
    };

    std::optional<fault> armed_;
    bool left_unknown_ = false;
    std::size_t reads_begun_ = 0;
    std::string rejected_key_;
    store_failure::kind rejected_how_ = store_failure::kind::rejected;
    bool rejects_forgetting_ = false;
    int logs_cleared_ = 0;
    std::optional<store_failure::kind> rejected_reads_;
    std::optional<store_failure::kind> rejected_writes_;
    std::optional<store_failure::kind> kept_damage_;
    int proofs_ = 0;
    int looks_ = 0;
    std::size_t task_bytes_max_ = std::numeric_limits<std::size_t>::max();
    int rejections_ = 0;
};

// The faults that are possible at a point: rejections only before a commit, unknown outcomes only
// before a commit or a sync.
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
