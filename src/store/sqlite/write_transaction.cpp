// The transaction over its tables, one function for each of the port's.

#include "write_transaction.hpp"

#include "log_sync.hpp"
#include "reads.hpp"
#include "remove_account.hpp"

#include <callsign/domain/task_faults.hpp>
#include <callsign/domain/work.hpp>
#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/versions.hpp>

#include <algorithm>
#include <functional>
#include <sqlite3.h>

namespace callsign::sqlite {
namespace {

// Minus the id of a device.
std::optional<std::int64_t> column_of(const author& by) {
    if (const auto* const token = std::get_if<token_id>(&by)) return token->value;
    if (const auto* const device = std::get_if<device_id>(&by)) return -device->value;
    return std::nullopt;
}

// How many more of its rows there are that are so than before.
template <class Row, class Is>
std::int64_t added_by(const std::vector<table_changes>& all, const Is& is) {
    const auto count = [&](const row_ptr& row) {
        return row && std::invoke(is, *static_cast<const Row*>(row.get())) ? 1 : 0;
    };
    std::int64_t more = 0;
    for (const table_changes& each : all) {
        if (each.table != &info_of_table<Row>()) continue;
        for (const row_change& c : each.rows) more += count(c.now) - count(c.before);
    }
    return more;
}

class write_transaction final : public reads_over<write_tx> {
  public:
    explicit write_transaction(write_state& state)
        : reads_over(state.db, {&state.numbers, &state.places}, &state.rows),
          state_(state),
          begun_with_(state.db.work()) {
        end_on_disk();  // of one whose rollback failed: nothing is written before that is done
        db_.use(sql::begin_write).run();
    }
    write_transaction(const write_transaction&) = delete;
    write_transaction& operator=(const write_transaction&) = delete;
    ~write_transaction() override {
        if (!committed_) roll_back();
    }

    std::int64_t draw(drawn_id what, std::int64_t count) override {
        return state_.ids.next(what, count);
    }
    void at(time_point now) override { moved(now); }

    row_ptr fetch(const index_info& index, const row_key& key, bool head) override {
        auto found = reads_over::fetch(index, key, head);
        // It is remembered from now on.
        if (found && index.table == &info_of_table<counter_row>()) {
            state_.expect_highest(*static_cast<const counter_row*>(found.get()));
        }
        return found;
    }

    // ---- slots ----

    std::optional<slot> find_slot(account_id account, std::string_view key) override {
        std::optional<slot> found;
        state_.keys.nominate(key_hash(account, key), slot_of_key(account, key, found));
        return found;
    }
    using reads_over::find_slot;
    slot_id put_slot(const slot& s) override {
        moved(s.created_at);
        const slot_id id{++state_.now.last_slot};
        db_.use(sql::slot_put)
            .bind(id)
            .bind(s.account)
            .bind(s.key)
            .bind(s.fingerprint)
            .bind(s.uuid)
            .bind(s.created_at)
            .run();
        state_.keys.add(key_hash(s.account, s.key), id);
        state_.pending.add(id, s.account, s.uuid);
        ++state_.now.slots.pending;
        return id;
    }
    void count_attempt(slot_id id) override {
        changed_ = true;
        db_.use(sql::slot_attempt).bind(id).run();
        expect_one("slots", id.value);
    }
    bool begin_flight(slot_id id) override {
        db_.use(sql::slot_fly).bind(id).run();
        if (changes() == 0) return false;
        changed_ = true;
        --state_.now.slots.pending;
        ++state_.now.slots.in_flight;
        return true;
    }
    bool commit_slot(slot_id id, task_id task, bool created, time_point now) override {
        const auto settle = [&](bool in_flight) {
            auto q = db_.use(sql::slot_commit);
            q.bind(task).bind(created ? 1 : 0).bind(now).bind(id).bind(in_flight ? 1 : 0).run();
        };
        return settled(id, settle, now, state_.now.slots.committed);
    }
    bool fail_slot(slot_id id, failure_reason reason, time_point now) override {
        const auto settle = [&](bool in_flight) {
            auto q = db_.use(sql::slot_fail);
            q.bind(static_cast<int>(reason)).bind(now).bind(id).bind(in_flight ? 1 : 0).run();
        };
        return settled(id, settle, now, state_.now.slots.failed);
    }
    void forget_slot(slot_id id) override {
        changed_ = true;
        auto q = db_.use(sql::slot_forget);
        if (!q.bind(id).step()) throw_damaged("slots", id.value, "it is not as it was read");
        auto& slots = state_.now.slots;
        --(static_cast<slot_state>(q.integer(0)) == slot_state::failed ? slots.failed
                                                                       : slots.committed);
    }

    std::vector<slot> pending_slots_of(account_id account, const uuid& id) override {
        std::vector<slot> waiting;
        for (const slot_id s : state_.pending.waiting_for(account, id)) {
            auto found = find_slot(s);
            if (!found) throw_damaged("pending_slots", s.value, "there is no such slot");
            waiting.push_back(std::move(*found));
        }
        return waiting;
    }

    // ---- numbers, tasks, the chain ----

    task_id put_task(const task& t, series_id series) override {
        moved(t.created_at);
        const task_id id{state_.ids.next(drawn_id::task)};
        const std::string attributes = encode(t.attributes);
        auto q = db_.use(sql::task_put);
        q.worked(work_of_attribute * t.attributes.size());
        q.bind(id).bind(t.account).bind(t.uuid).bind(series);
        const std::int64_t counter = t.numbered ? counter_of(series, t.numbered->period) : 0;
        if (t.numbered) {
            q.bind(counter).bind(t.numbered->number).bind(t.numbered->prefix).bind(t.numbered->seq);
        } else {
            q.bind_null().bind_null().bind_null().bind_null();
        }
        const bool over = t.purged || is_over(t.attributes);
        q.bind(t.last_seq)
            .bind(t.created_at)
            .bind_blob(attributes.data(), attributes.size())
            .bind(t.purged ? 1 : 0)
            .bind(over ? 1 : 0)
            .bind(column_of(t.author))
            .run();
        if (!t.numbered) return id;
        state_.numbers.add({{counter, t.numbered->number}, id.value}, over);
        state_.now.all.open_tasks += over ? 0 : 1;
        return id;
    }
    void reveal_task(task_id id, const attributes& all, std::int64_t seq,
                     std::int64_t last_seq) override {
        changed_ = true;
        const std::string bytes = encode(all);
        auto q = db_.use(sql::task_reveal);
        q.worked(work_of_attribute * all.size());
        q.bind_blob(bytes.data(), bytes.size())
            .bind(is_over(all) ? 1 : 0)
            .bind(seq)
            .bind(last_seq)
            .bind(id)
            .run();
        expect_one("tasks", id.value);
        if (!is_over(all)) turned(id, false);
        state_.now.all.open_tasks += open(false, all);
    }
    void number_task(task_id id, series_id series, const receipt& r) override {
        changed_ = true;
        const std::int64_t counter = counter_of(series, r.period);
        auto q = db_.use(sql::task_number);
        q.bind(series).bind(counter).bind(r.number).bind(r.prefix).bind(r.seq).bind(r.seq).bind(id);
        if (!q.step()) throw_damaged("tasks", id.value, "it is not as it was read");
        const bool over = q.integer(0) != 0;
        while (q.step()) {
        }
        state_.numbers.add({{counter, r.number}, id.value}, over);
        state_.now.all.open_tasks += over ? 0 : 1;
    }
    void update_task(const task& before, const attributes& all, bool purged, std::int64_t last_seq,
                     time_point now) override {
        moved(now);
        put_history(before, all, purged, now);
        const std::string bytes = encode(all);
        auto q = db_.use(sql::task_update);
        // Once more for what leads back.
        q.worked(work_of_attribute * (before.attributes.size() + all.size()));
        q.bind_blob(bytes.data(), bytes.size())
            .bind(purged ? 1 : 0)
            .bind(last_seq)
            .bind(purged || is_over(all) ? 1 : 0)
            .bind(before.id)
            .run();
        expect_one("tasks", before.id.value);
        if (!before.numbered) return;
        const auto opened = open(purged, all) - open(before.purged, before.attributes);
        if (opened != 0) turned(before.id, opened < 0);
        state_.now.all.open_tasks += opened;
    }
    bool forget_history(time_point before, std::int64_t limit) override {
        std::map<account_id, std::int64_t> begins;
        std::int64_t last = 0, rows = 0, bytes = 0;
        bool all_old = true;
        {
            auto q = db_.use(sql::history_oldest);
            q.bind(limit);
            while (bytes < forgotten_bytes_max && q.step()) {
                all_old = q.instant(3) < before;
                if (!all_old) break;
                last = q.integer(0);
                auto& begin = begins[account_id{q.integer(1)}];
                begin = std::max(begin, q.integer(2));
                bytes += q.integer(4);
                ++rows;
            }
        }
        if (rows == 0) return false;
        changed_ = true;
        db_.use(sql::history_forget).bind(last).run();
        for (const auto& [account, seq] : begins) {
            edit(expect<accounts_by_id>(account), [seq = seq](callsign::account& a) {
                a.history_from = std::max(a.history_from, seq);
            });
        }
        return all_old && (rows == limit || bytes >= forgotten_bytes_max);
    }
    bool scrub_history(task_id task, std::int64_t through, std::size_t& work) override {
        std::vector<std::int64_t> some;
        bool are_all = true;
        {
            auto q = db_.use(sql::history_unscrubbed);
            q.bind(task).bind(through);
            while (q.step()) {
                are_all = work > 0;
                if (!are_all) break;
                some.push_back(q.integer(0));
                work -= std::min(work, history_row_bytes + static_cast<std::size_t>(q.integer(1)));
            }
        }
        for (const std::int64_t row : some) db_.use(sql::history_scrub).bind(row).run();
        changed_ = changed_ || !some.empty();
        return are_all;
    }
    void clear_log() override { state_.log_clearing_due = true; }

    void conceal_task(const task& t) override {
        changed_ = true;
        db_.use(sql::task_conceal).bind(t.id).run();
        expect_one("tasks", t.id.value);
        const auto opened = open(false, t.attributes);
        if (opened != 0) turned(t.id, true);
        state_.now.all.open_tasks -= opened;
    }

    std::optional<removal_place> remove_some(account_id account, const removal_place& from,
                                             std::int64_t limit) override {
        changed_ = true;
        return sqlite::remove_some(state_, account, from, limit);
    }

    std::size_t work_done() const override { return db_.work() - begun_with_ + work().work_done(); }
    void flush() override {
        if (std::exchange(flushed_, true)) return;
        written_ = work().changes();
        if (!changed_ && written_.empty()) return;
        for (const table_changes& each : written_) {
            write_rows(db_, each);
            if (each.table == &info_of_table<version_row>()) {
                write_in_bulk(db_, state_.places, each);
            }
        }
        state_.keys.prepare_commit();
        state_.pending.prepare_commit(state_.now.last_slot);
        state_.numbers.prepare_commit(state_.ids.last(drawn_id::task));
        state_.places.prepare_commit(state_.ids.last(drawn_id::version));
        auto& now = state_.now;
        now.all.accounts += added_by<account>(written_, [](const account&) { return true; });
        now.all.tasks = state_.ids.last(drawn_id::task);
        now.all.held_series += added_by<series>(written_, &series::held);
        auto q = db_.use(sql::totals_set);
        q.bind(now.slots.pending)
            .bind(now.slots.in_flight)
            .bind(now.slots.committed)
            .bind(now.slots.failed)
            .bind(now.last_slot)
            .bind(now.last_moment)
            .bind(now.all.open_tasks);
        state_.ids.bind_to(q);
        q.run();
    }

    void commit() override { commit_putting_off(nullptr); }
    void commit_unsynced() override { commit_putting_off(state_.log.get()); }

    // Something to write, that commit() sets back.
    void touch() {
        db_.use(sql::totals_touch).run();
        changed_ = true;
    }

  private:
    // For as long as it lives; null: nothing is.
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
    std::int64_t counter_of(series_id series, std::string_view period) {
        const auto found = get<counters_by_period>(series, period);
        if (!found) throw_damaged("series", series.value, "it has no counter of a number's period");
        return found->id.value;
    }
    static std::int64_t open(bool purged, const attributes& all) {
        return purged || is_over(all) ? 0 : 1;
    }
    void moved(time_point now) {
        changed_ = true;
        state_.now.last_moment = std::max(state_.now.last_moment, now);
    }
    // Its entry may wait still, and is made of the row then.
    void turned(task_id id, bool over) {
        index_entry e{{}, id.value};
        {
            auto q = db_.use(sql::task_place);
            if (!q.bind(id).step()) throw_damaged("tasks", id.value, "it is not there");
            e.at = {q.integer(0), q.integer(1)};
        }
        state_.numbers.turn(e, over);
        db_.use(sql::task_turned)
            .bind(over ? 1 : 0)
            .bind(e.at.owner)
            .bind(over ? 0 : 1)
            .bind(e.at.place)
            .run();
        if (id.value <= state_.numbers.through()) expect_one("task_numbers of task", id.value);
    }
    // What is not whole is small beside the task, and what leads back to the last whole state is no
    // longer than the task: so all of history is linear in what was sent.
    void put_history(const task& before, const attributes& after, bool purged, time_point now) {
        constexpr std::size_t short_way = 1024;
        auto kind = before.purged ? history_kind::purged : history_kind::whole;
        std::string bytes;
        std::int64_t way = 0;
        if (!before.purged && !purged) {
            bytes = encode_way_back(before.attributes, after);
            auto q = db_.use(sql::history_last);
            way = q.bind(before.id).step() ? q.integer(0) : 0;
            way += static_cast<std::int64_t>(bytes.size() + history_row_bytes);
            const std::size_t most = std::max(size_of(before.attributes), short_way);
            if (way <= static_cast<std::int64_t>(most)) kind = history_kind::way_back;
        }
        if (kind == history_kind::whole) bytes = encode(before.attributes);
        if (kind != history_kind::way_back) way = 0;
        db_.use(sql::history_put)
            .bind(state_.ids.next(drawn_id::history))
            .bind(before.id)
            .bind(before.last_seq)
            .bind(now)
            .bind(static_cast<int>(kind))
            .bind(way)
            .bind_blob(bytes.data(), bytes.size())
            .run();
    }
    void expect_one(const char* table, std::int64_t row) {
        if (changes() != 1) throw_damaged(table, row, "it is not as it was read");
    }
    int changes() { return db_.database().getChanges(); }
    // Pending, as nearly all are, or else in flight: SQLite keeps what a RETURNING gives in a
    // temporary table, a tenth of a creation's CPU.
    template <class Settle>
    bool settled(slot_id id, Settle settle, time_point now, std::int64_t& to) {
        auto& slots = state_.now.slots;
        for (std::int64_t* const from : {&slots.pending, &slots.in_flight}) {
            settle(from == &slots.in_flight);
            if (changes() == 0) continue;
            state_.pending.remove(id);
            moved(now);
            --*from;
            ++to;
            return true;
        }
        return false;
    }
    void roll_back() noexcept {
        state_.roll_back();
        try {
            end_on_disk();
        } catch (const store_failure&) {
            // The next transaction tries again.
        }
    }
    // SQLite may have rolled back by itself (a full disk, say).
    void end_on_disk() {
        if (!sqlite3_get_autocommit(db_.database().getHandle())) db_.use(sql::rollback).run();
    }

    // Of a row of history, beside its attributes.
    static constexpr std::size_t history_row_bytes = 64;
    // In one step of forgetting.
    static constexpr std::int64_t forgotten_bytes_max = 4 << 20;

    write_state& state_;
    std::size_t begun_with_;  // of the connection's work
    bool changed_ = false;
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
