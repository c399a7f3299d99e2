#pragma once
// SQL statements: those for the tables that ports/tables declares, generated once per store, and
// the few others. Values are bound parameters.
//
// A row's write that finds no row to change divides by zero: the transaction fails, although its
// COMMIT was already sent.

#include "connection.hpp"

#include <callsign/ports/unit_of_work.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace callsign::postgres {

// PostgreSQL keeps the plans that it made while tables were empty: scans of whole tables. Each of
// these statements has an index. The time limits end what a lost client leaves behind.
inline constexpr char session_settings[] =
    "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off;"
    " SET enable_mergejoin = off; SET enable_sort = off; SET jit = off;"
    " SET plan_cache_mode = force_generic_plan;"
    " SET idle_in_transaction_session_timeout = '10s'; SET lock_timeout = '2s'";

// ---- the schema as it is in the database ----

// Types of all columns, by relation and name.
class column_types {
  public:
    // Reads the catalog. Throws store_failure.
    static column_types read(connection& db, const std::string& schema);

    // Throws store_failure if there is no such column.
    Oid of(std::string_view relation, std::string_view column) const;
    bool has(std::string_view relation, std::string_view column) const;

  private:
    std::map<std::pair<std::string, std::string>, Oid, std::less<>> all_;
};

// The columns of a table that a relation has, by their number in the table.
struct relation {
    std::string_view name;
    std::vector<std::size_t> columns{};  // those of the primary key first
    std::vector<Oid> types{};            // of `columns`
    std::size_t key_columns = 0;
};

// Where the rows of a table are written. `rows` has the columns that rarely change, and `heads`,
// if there is one, those that nearly every batch changes, for some tables.
struct layout {
    relation rows{};
    relation changes{};  // of `rows`: the key, and the columns that may change
    relation heads{};    // no name: there is none
};

// ---- statements ----

class statements {
  public:
    explicit statements(column_types types) : types_(std::move(types)) {}

    // Any thread, as all of these. The texts live as long as this.
    const std::string& fetch(const index_info& index, bool head);
    // By arrays of the parts of keys.
    const std::string& fetch_all(const index_info& index, bool head);
    // The last parameter is the limit.
    const std::string& scan(const row_range& range);

    const layout& layout_of(const table_info& table);
    // Arrays of the columns, in the order of relation::columns. `n`, for heads: the batch.
    const std::string& insert(const table_info& table, bool heads);
    const std::string& update(const table_info& table);
    // Arrays of the columns of the primary key; then, for heads: arrays of the first n, and the n
    // of this batch.
    const std::string& erase(const table_info& table, bool heads);

    // Types of an index's key columns.
    std::vector<Oid> key_types(const index_info& index) const;

  private:
    enum class verb { fetch, fetch_all, scan, insert, update, erase };
    using name = std::tuple<verb, const void*, std::size_t>;

    template <class Make>
    const std::string& text(const name& which, const Make& make);
    layout make_layout(const table_info& table) const;

    column_types types_;
    std::mutex mutex_;
    std::map<name, std::unique_ptr<const std::string>> texts_;
    std::map<const table_info*, std::unique_ptr<const layout>> layouts_;
};

// The relation with the rows of an index, for reads.
std::string_view relation_of(const index_info& index);

}  // namespace callsign::postgres
