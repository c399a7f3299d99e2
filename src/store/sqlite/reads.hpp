#pragma once
// Reads of both kinds of transaction, over one connection.

#include "connection.hpp"
#include "index/bulk_rows.hpp"
#include "index/key_index.hpp"
#include "index/pending_slots.hpp"
#include "statements.hpp"
#include "tables/tables.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/ports/store.hpp>
#include <callsign/ports/tables/slots.hpp>
#include <callsign/ports/tables/tasks.hpp>

namespace callsign::sqlite {

// The writer's indexes; null if this process has no writer.
struct writers_indexes {
    const bulk_index* numbers = nullptr;
    const bulk_index* places = nullptr;
    const key_index* keys = nullptr;
    const pending_slots* pending = nullptr;  // null for readers
};

// Base is read_tx or write_tx.
template <class Base>
class reads_over : public Base {
  public:
    // Requires: the transaction has not begun.
    template <class... Remembered>
    reads_over(connection& db, writers_indexes indexes, Remembered... rows)
        : Base(rows...),
          db_(db),
          indexes_(indexes),
          commits_(indexes.numbers ? indexes.numbers->commits() : 0) {}

    row_ptr fetch(const index_info& index, const row_key& key, bool head) override {
        switch (index.form) {
        case index_form::tree: return fetch_row(db_, index, key, head);
        case index_form::bulk: return fetch_in_bulk(db_, waiting_by(index), index, key, head);
        case index_form::hash: return fetch_by_key(index, key);
        case index_form::brief: return pending_slots::fetch(db_, index, key);
        }
        return nullptr;
    }
    row_page scan(const row_range& range) override {
        const index_info& index = *range.index;
        switch (index.form) {
        case index_form::tree: return scan_rows(db_, range);
        case index_form::bulk: return scan_in_bulk(db_, waiting_by(index), range);
        case index_form::hash: break;
        case index_form::brief: return pending_slots::scan(db_, indexes_.pending, range);
        }
        CALLSIGN_ASSERT(false);
        return {};
    }

  protected:
    // Calls `visit` for each slot that may have the key, until it returns true.
    virtual void nominate(account_id account, std::string_view key,
                          const std::function<bool(slot_id)>& visit) {
        key_index::nominate_in(db_, indexes_.keys, account, key, visit);
    }

    connection& db_;

  private:
    row_ptr fetch_by_key(const index_info& index, const row_key& key) {
        key_reader parts(key);
        const account_id account{parts.integer()};
        row_ptr found;
        nominate(account, parts.text(), [&](slot_id id) {
            auto row = fetch_row(db_, info_of<slots_by_id>(), key_of_id(id.value), false);
            const bool is_it = row && index.key_of(row.get()) == key;
            if (is_it) found = std::move(row);
            return is_it;
        });
        return found;
    }
    // Returns the transaction's view of a bulk index; creates it at the first use.
    const index_view& waiting_by(const index_info& index) {
        const bool is_of_tasks = index.table == &info_of_table<task_row>();
        auto& view = is_of_tasks ? numbers_ : places_;
        const auto* const writers = is_of_tasks ? indexes_.numbers : indexes_.places;
        if (!view) view.emplace(db_, bulk_table_of(*index.table), writers, commits_);
        return *view;
    }

    writers_indexes indexes_;
    std::int64_t commits_;  // of either bulk index: both count the same commits
    std::optional<index_view> numbers_, places_;
};

}  // namespace callsign::sqlite
