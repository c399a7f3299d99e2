#include "write_transaction.hpp"

#include "log/log_sync.hpp"
#include "reads.hpp"

#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/series.hpp>
#include <callsign/ports/tables/slots.hpp>
#include <callsign/ports/tables/tasks.hpp>
#include <callsign/ports/tables/versions.hpp>

#include <algorithm>
#include <functional>
#include <sqlite3.h>

namespace callsign::sqlite {
namespace {

class write_transaction final : public reads_over<write_tx> {
  public:
    explicit write_transaction(write_state& state)
        : reads_over(state.db, {&state.numbers, &state.places, &state.keys, &state.pending},
                     &state.rows),
          state_(state),
          begun_with_(state.db.work()) {
        end_on_disk();  // retries a rollback that failed
        db_.use(sql::begin_write).run();
    }
    write_transaction(const write_transaction&) = delete;
    write_transaction& operator=(const write_transaction&) = delete;
    ~write_transaction() override {
        if (!committed_) roll_back();
    }

    row_ptr fetch(const index_info& index, const row_key& key, bool head) override {
        auto found = reads_over::fetch(index, key, head);
        // The row is cached from now on, so it is verified once.
        if (found && index.table == &info_of_table<counter_row>()) {
            expect_highest(*static_cast<const counter_row*>(found.get()));
        }
        return found;
    }

    void clear_log() override { state_.log_clearing_due = true; }

    std::size_t work_done() const override { return db_.work() - begun_with_ + unit().work_done(); }
    void flush() override {
        if (std::exchange(flushed_, true)) return;
        written_ = counted_changes();
        if (written_.empty()) return;
        for (const table_changes& each : written_) {
            write_rows(db_, each);
            if (auto* const entries = bulk_of(*each.table)) write_in_bulk(*entries, each);
            if (each.table == &info_of_table<slot>()) enter_slots(each);
        }
        const auto last = get<totals_by_id>(store_totals::only);
        state_.keys.prepare_commit();
        state_.pending.prepare_commit(last->last(drawn_id::slot));
        state_.numbers.prepare_commit(last->last(drawn_id::task));
        state_.places.prepare_commit(last->last(drawn_id::version));
    }

    void commit() override { commit_putting_off(nullptr); }
    void commit_unsynced() override { commit_putting_off(state_.log.get()); }

    // The page is written although its value does not change.
    void touch() {
        for (const int more : {1, -1}) db_.use(sql::progress_touch).bind(more).run();
    }

  protected:
    void nominate(account_id account, std::string_view key,
                  const std::function<bool(slot_id)>& visit) override {
        state_.keys.nominate(key_hash(account, key), visit);
    }

  private:
    // Defers syncs of the WAL for its lifetime; null: defers none.
    class put_off_sync {
      public:
        explicit put_off_sync(log_sync* log) : log_(log) {
            if (log_) log_->put_off(true);
        }
        ~put_off_sync() {
            if (log_) log_->put_off(false);
        }
        put_off_sync(const put_off_sync&) = delete;
        put_off_sync& operator=(const put_off_sync&) = delete;

      private:
        log_sync* log_;
    };

    void commit_putting_off(log_sync* syncs) {
        flush();
        {
            const put_off_sync later(syncs);
            db_.use(sql::commit).run_commit();
        }
        committed_ = true;
        state_.rows.committed(written_);
        state_.committed_all();
    }
    // A counter below its highest number would assign numbers again.
    void expect_highest(const counter_row& c) {
        const auto down = range_of<tasks_by_number>(c.id).descending();
        const row_page last = reads_over::scan(range(down).limit(1).heads().get());
        if (last.rows.empty()) return;
        const auto& highest = *static_cast<const task_head*>(last.rows.front().get());
        if (highest.numbered->number <= c.last_number) return;
        throw_damaged("counters", c.id.value, "it is behind the numbers that were given");
    }
    // Requires: the slots' rows are written.
    void enter_slots(const table_changes& changes) {
        for (const row_change& c : changes.rows) {
            const auto* const before = static_cast<const slot*>(c.before.get());
            const auto* const now = static_cast<const slot*>(c.now.get());
            if (now && !before) state_.keys.add(key_hash(now->account, now->key), now->id);
            const bool was_open = before && is_open(before->state);
            const bool open = now && is_open(now->state);
            if (was_open && !open) state_.pending.remove(before->id);
            if (open && !was_open) state_.pending.add(now->id, now->account, now->uuid);
        }
    }
    bulk_index* bulk_of(const table_info& table) {
        if (&table == &info_of_table<task_row>()) return &state_.numbers;
        return &table == &info_of_table<version_row>() ? &state_.places : nullptr;
    }
    void roll_back() noexcept {
        state_.roll_back();
        try {
            end_on_disk();
        } catch (const store_failure&) {
            // The next transaction retries.
        }
    }
    // SQLite may have rolled back already, for example on a full disk.
    void end_on_disk() {
        if (!sqlite3_get_autocommit(db_.database().getHandle())) db_.use(sql::rollback).run();
    }

    write_state& state_;
    std::size_t begun_with_;  // the connection's work before this transaction
    bool flushed_ = false;
    std::vector<table_changes> written_;
    bool committed_ = false;
};

}  // namespace

std::unique_ptr<write_tx> begin_write(write_state& state) {
    return std::make_unique<write_transaction>(state);
}

void prove_writable(write_state& state) {
    write_transaction tx(state);
    tx.touch();
    tx.commit();
}

}  // namespace callsign::sqlite
