#pragma once
// Reads of both kinds of transaction, with one round trip for each row or page.

#include "rows.hpp"
#include "statements.hpp"

#include <callsign/ports/store.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace callsign::postgres {

// Runs queries that see one committed state.
class query_runner {
  public:
    virtual ~query_runner() = default;

    virtual result run(const std::string& text, const parameters& values) = 0;
    // `begin` is called before the first row, also if the query is run again; `visit` until it
    // returns false.
    virtual void run_by_row(const std::string& text, const parameters& values,
                            const std::function<void()>& begin,
                            const std::function<bool(const PGresult&)>& visit) = 0;
};

// Runs the round trip again with another connection if it fails with one that was open before: the
// server may have closed it long ago.
template <class Trip>
auto on_live_connection(connection& db, const Trip& trip) {
    const bool was_open = db.is_open();
    try {
        return trip();
    } catch (const connection_lost&) {
        if (!was_open) throw;
    }
    return trip();
}

// Base is read_tx or write_tx.
template <class Base>
class reads_over : public Base {
  public:
    template <class... Argument>
    explicit reads_over(statements& texts, Argument&&... base)
        : Base(std::forward<Argument>(base)...), texts_(texts) {}

    row_ptr fetch(const index_info& index, const row_key& key, bool head) override {
        parameters values;
        put_key(values, index, 0, index.columns.size(), key);
        const result rows = queries().run(texts_.fetch(index, head), values);
        if (PQntuples(rows.get()) == 0) return nullptr;
        return row_in(*rows, 0, *index.table, head, work_);
    }
    row_page scan(const row_range& range) override {
        const std::int64_t limit = std::min<std::int64_t>(range.limit, page_rows_max);
        parameters values;
        put_key(values, *range.index, 0, range.prefix_parts, range.prefix);
        put_key(values, *range.index, range.prefix_parts, range.after_parts, range.after);
        values.add_integer(limit, oid::bigint);
        row_page page;
        const std::size_t before = work_;
        const auto is_cut = [&] { return work_ - before >= page_bytes_max; };
        queries().run_by_row(
            texts_.scan(range), values,
            [&] {
                page.rows.clear();
                work_ = before;
            },
            [&](const PGresult& row) {
                page.rows.push_back(row_in(row, 0, *range.index->table, range.heads, work_));
                return !is_cut();
            });
        page.is_last = !is_cut() && std::ssize(page.rows) < limit;
        return page;
    }

  protected:
    virtual query_runner& queries() = 0;

    void put_key(parameters& to, const index_info& index, std::size_t first, std::size_t count,
                 const row_key& key) {
        const auto types = texts_.key_types(index);
        key_parameters parts(to, std::span(types).subspan(first));
        parts.put_key(index, first, count, key);
    }

    statements& texts_;
    std::size_t work_ = 0;
};

}  // namespace callsign::postgres
