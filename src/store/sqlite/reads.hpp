#pragma once
// What both kinds of transaction can be asked, over one connection.

#include "bulk_rows.hpp"
#include "connection.hpp"
#include "key_index.hpp"
#include "rows.hpp"
#include "statements.hpp"
#include "tables.hpp"

#include <callsign/ports/store.hpp>
#include <callsign/ports/tables/series.hpp>

namespace callsign::sqlite {

slot slot_of(query& q);
// Without its series' prefix and its number's period.
task task_row_of(query& q);
// Whether it can be read by itself.
history_kind history_row_of(query& q);
// Through the rows of history_way. False: there are none.
bool go_back(query& q, task& t);

template <class Row>
std::optional<Row> one(query& q, Row (*row)(query&)) {
    if (!q.step()) return std::nullopt;
    return row(q);
}

template <class Row>
std::vector<Row> all(query& q, Row (*row)(query&)) {
    std::vector<Row> rows;
    while (q.step()) rows.push_back(row(q));
    return rows;
}

// The writer's; none: there is no writer in this process.
struct writers_indexes {
    const bulk_index* numbers = nullptr;
    const bulk_index* places = nullptr;
    const key_index* keys = nullptr;
};

// Base is read_tx or write_tx.
template <class Base>
class reads_over : public Base {
  public:
    // Before the transaction begins.
    template <class... Remembered>
    reads_over(connection& db, writers_indexes indexes, Remembered... rows)
        : Base(rows...),
          db_(db),
          indexes_(indexes),
          commits_(indexes.numbers ? indexes.numbers->commits() : 0) {}

    row_ptr fetch(const index_info& index, const row_key& key, bool head) override {
        if (!index.in_bulk) return fetch_row(db_, index, key, head);
        return fetch_in_bulk(db_, places(), index, key, head);
    }
    row_page scan(const row_range& range) override {
        if (!range.index->in_bulk) return scan_rows(db_, range);
        return scan_in_bulk(db_, places(), range);
    }

    std::optional<task> find_task(account_id account, const uuid& id) override {
        auto q = db_.use(sql::task_by_uuid);
        return one_task(q.bind(id).bind(account));
    }
    std::optional<task> find_task(series_id series, std::string_view period,
                                  std::int64_t number) override {
        return find_numbered(series, period, number, sql::task_of_entry, sql::task_by_number);
    }
    std::optional<task> find_task_head(account_id account, const uuid& id) override {
        auto q = db_.use(sql::task_head_by_uuid);
        return one_task(q.bind(id).bind(account));
    }
    std::optional<task> find_task_head(series_id series, std::string_view period,
                                       std::int64_t number) override {
        return find_numbered(series, period, number, sql::task_head_of_entry,
                             sql::task_head_by_number);
    }
    std::optional<task> find_task_as_of(account_id account, const uuid& id,
                                        std::int64_t seq) override {
        auto found = this->find_task(account, id);
        if (!found || found->last_seq <= seq) return found;
        auto q = db_.use(sql::history_way);
        if (!go_back(q.bind(found->id).bind(seq), *found)) return std::nullopt;
        return found;
    }
    std::vector<task> unnumbered_tasks(task_id after, std::int64_t limit) override {
        auto q = db_.use(sql::task_unnumbered);
        std::vector<task> some;
        for (q.bind(after).bind(limit); q.step();) some.push_back(task_of(q));
        return some;
    }
    void visit_numbered(const number_walk& walk, const task_visitor& visit) override {
        const auto counter = find_counter(walk.series, walk.period);
        if (!counter) return;
        const auto up = walk.open_only ? sql::task_open_up : sql::task_up;
        const auto down = walk.open_only ? sql::task_open_down : sql::task_down;
        auto q = db_.use(walk.descending ? down : up);
        q.bind(*counter).bind(walk.from);
        // Both are in the order of the walk: those in the index's table, and those that wait. The
        // last may be among the first by now.
        bool in_table = q.step();
        const index_place from{*counter, walk.from};
        index_entry last = walk.descending ? index_entry::before(from) : index_entry::behind(from);
        auto waiting = next_waiting(last, walk);
        while (in_table || waiting) {
            const std::int64_t ahead = in_table && waiting ? last.at.place - q.integer(5) : 0;
            if (in_table && (walk.descending ? ahead <= 0 : ahead >= 0)) {
                const bool is_twin = waiting && waiting->id.value == q.integer(0);
                if (!visit(task_of(q))) return;
                in_table = q.step();
                if (!is_twin) continue;
            } else if (!visit(std::move(*waiting))) {
                return;
            }
            waiting = next_waiting(last, walk);
        }
    }
    void visit_unnumbered(const number_walk& walk, const task_visitor& visit) override {
        auto q = db_.use(walk.descending ? sql::task_unnumbered_down : sql::task_unnumbered_up);
        q.bind(walk.series).bind(walk.open_only ? 0 : 1).bind(walk.from);
        while (q.step() && visit(task_of(q))) {
        }
    }

    std::optional<slot> find_slot(account_id account, std::string_view key) override {
        std::optional<slot> found;
        key_index::nominate_in(db_, indexes_.keys, account, key, slot_of_key(account, key, found));
        return found;
    }
    std::optional<slot> find_slot(slot_id id) override {
        auto q = db_.use(sql::slot_by_id);
        return one(q.bind(id), slot_of);
    }
    std::vector<slot> slots(slot_id after, std::int64_t limit, std::optional<slot_state> state,
                            std::optional<account_id> account) override {
        if (account) {
            std::optional<std::int64_t> wanted;
            if (state) wanted = static_cast<std::int64_t>(*state);
            auto q = db_.use(sql::slot_of_account);
            return all(q.bind(after).bind(account).bind(wanted).bind(limit), slot_of);
        }
        if (state == slot_state::pending || state == slot_state::in_flight) {
            return unsettled_slots(after, limit, state == slot_state::in_flight);
        }
        const char* text = !state                            ? sql::slot_all
                           : *state == slot_state::committed ? sql::slot_committed
                                                             : sql::slot_failed;
        auto q = db_.use(text);
        return all(q.bind(after).bind(limit), slot_of);
    }

    std::optional<receipt> find_receipt(const slot& committed) override {
        if (!committed.task) return std::nullopt;
        auto q = db_.use(sql::task_head_by_id);
        auto found = one_task(q.bind(*committed.task));
        if (!found || !found->numbered) return std::nullopt;
        found->numbered->created = committed.created;
        return std::move(found->numbered);
    }

  protected:
    // Takes the slot of this key among those nominated.
    std::function<bool(slot_id)> slot_of_key(account_id account, std::string_view key,
                                             std::optional<slot>& found) {
        return [this, account, key, &found](slot_id id) {
            auto nominated = this->find_slot(id);
            if (!nominated || nominated->account != account || nominated->key != key) return false;
            found = std::move(nominated);
            return true;
        };
    }

    connection& db_;

  private:
    // Of this transaction: looked at when they are first needed.
    const index_view& numbers() {
        if (!numbers_) numbers_.emplace(db_, task_numbers, indexes_.numbers, commits_);
        return *numbers_;
    }
    const index_view& places() {
        if (!places_) places_.emplace(db_, version_places, indexes_.places, commits_);
        return *places_;
    }
    task task_of(query& q) {
        task t = task_row_of(q);
        t.current_prefix = this->template expect<series_by_id>(series_id{q.integer(3)})->prefix;
        if (t.numbered) {
            const auto counter = this->template get<counters_by_id>(counter_id{q.integer(4)});
            if (counter) t.numbered->period = counter->period;
        }
        return t;
    }
    std::optional<task> one_task(query& q) {
        return q.step() ? std::optional(task_of(q)) : std::nullopt;
    }
    std::optional<std::int64_t> find_counter(series_id series, std::string_view period) {
        const auto found = this->template get<counters_by_period>(series, period);
        return found ? std::optional(found->id.value) : std::nullopt;
    }
    std::optional<task> find_numbered(series_id series, std::string_view period,
                                      std::int64_t number, const char* of_entry,
                                      const char* by_number) {
        const auto counter = find_counter(series, period);
        if (!counter) return std::nullopt;
        const index_place at{*counter, number};
        auto e = numbers().next(index_entry::before(at));
        for (; e && e->at == at; e = numbers().next(*e)) {
            if (auto found = task_at(*e, false, of_entry)) return found;
        }
        auto q = db_.use(by_number);
        return one_task(q.bind(*counter).bind(number));
    }
    std::optional<task> task_at(const index_entry& e, bool open_only,
                                const char* of_entry = sql::task_of_entry) {
        auto q = db_.use(of_entry);
        q.bind(e.row).bind(e.at.owner).bind(e.at.place).bind(open_only ? 0 : 1);
        return one_task(q);
    }
    // Behind `last`, in the direction of the walk, and then `last` is its entry.
    std::optional<task> next_waiting(index_entry& last, const number_walk& walk) {
        while (const auto e = numbers().next(last, {walk.descending, walk.open_only})) {
            last = *e;
            if (auto found = task_at(*e, walk.open_only)) return found;
        }
        return std::nullopt;
    }

    std::vector<slot> unsettled_slots(slot_id after, std::int64_t limit, bool in_flight) {
        std::vector<slot> some;
        for (const char* const text : {sql::slot_pending_old, sql::slot_pending_new}) {
            auto q = db_.use(text);
            q.bind(after).bind(in_flight ? 1 : 0).bind(limit - std::ssize(some));
            while (q.step()) some.push_back(slot_of(q));
        }
        return some;
    }

    writers_indexes indexes_;
    std::int64_t commits_;  // of either index: they count the same ones
    std::optional<index_view> numbers_, places_;
};

}  // namespace callsign::sqlite
