#pragma once
// What both kinds of transaction can be asked, over one connection.

#include "bulk_rows.hpp"
#include "connection.hpp"
#include "key_index.hpp"
#include "rows.hpp"
#include "statements.hpp"
#include "tables.hpp"

#include <callsign/ports/store.hpp>
#include <callsign/ports/tables/tasks.hpp>

namespace callsign::sqlite {

slot slot_of(query& q);

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
        return fetch_in_bulk(db_, waiting_by(index), index, key, head);
    }
    row_page scan(const row_range& range) override {
        if (!range.index->in_bulk) return scan_rows(db_, range);
        return scan_in_bulk(db_, waiting_by(*range.index), range);
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
    // Of this transaction: looked at when it is first needed.
    const index_view& waiting_by(const index_info& index) {
        const bool is_of_tasks = index.table == &info_of_table<task_row>();
        auto& view = is_of_tasks ? numbers_ : places_;
        const auto* const writers = is_of_tasks ? indexes_.numbers : indexes_.places;
        if (!view) view.emplace(db_, bulk_table_of(*index.table), writers, commits_);
        return *view;
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
