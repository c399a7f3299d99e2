#pragma once
// One connection to the file, with its prepared statements. Translates SQLiteCpp's exceptions to
// store_failure.

#include <callsign/base/sha256.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/ports/store.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace callsign::sqlite {

// Error text for a file whose first bytes are not those of a database.
inline constexpr char no_database[] = "it is no SQLite database, or damaged at its very beginning";

// Maps an extended SQLite error code. `at_commit`: any code but those of a full disk or a busy file
// leaves the outcome unknown.
store_failure::kind meaning_of(int code, bool at_commit = false);
[[noreturn]] void rethrow(const SQLite::Exception& error, bool at_commit = false);

// A statement that a connection keeps. Columns are read through `columns`, its SQLite handle:
// SQLite::Column objects would cost a read of a few rows a twentieth of its request's CPU.
struct prepared_statement {
    SQLite::Statement statement;
    sqlite3_stmt* columns;
};

// A prepared statement in use: bind in order, then step or run. Bound bytes are not copied: they
// must live until the statement is run or reset. The destructor resets it.
class query {
  public:
    // `work` counts as worked() does; it outlives the query.
    query(prepared_statement& prepared, std::size_t& work)
        : prepared_(prepared.statement), columns_(prepared.columns), work_(work) {}
    query(const query&) = delete;
    query& operator=(const query&) = delete;
    ~query() { prepared_.tryReset(); }

    query& bind(std::int64_t value);
    query& bind(const std::string& text);
    query& bind(const uuid& id) { return bind_blob(id.data, id.size()); }
    query& bind(const digest& d) { return bind_blob(d.data(), d.size()); }
    query& bind(time_point at) { return bind(at.time_since_epoch().count()); }
    query& bind_blob(const void* bytes, std::size_t size);
    query& bind_null();
    template <class T>
    query& bind(const std::optional<T>& value) {
        return value ? bind(*value) : bind_null();
    }
    template <class Tag>
    query& bind(strong_id<Tag> id) {
        return bind(id.value);
    }

    // Counts `more` bytes read or written, or work that takes as long (domain/work.hpp). Columns
    // are counted when they are bound or read.
    void worked(std::size_t more) const { work_ += more; }

    // Returns whether there is a row to read.
    bool step();
    // For statements without rows.
    void run();
    // For COMMIT, whose outcome may be unknown after a failure.
    void run_commit();

    // ---- the row's columns, from 0 ----
    // Names the row for errors: an invalid value on disk throws a store_failure with that name.
    void at(const char* table, std::int64_t row) {
        table_ = table;
        row_ = row;
    }
    [[noreturn]] void damaged(const char* why) const { throw_damaged(table_, row_, why); }

    // Requires: step() returned true, and the statement has the column.
    bool is_null(int column) const;
    std::int64_t integer(int column) const;
    std::string text(int column) const;
    // Valid until the next step.
    std::string_view blob(int column) const;
    uuid id(int column) const;
    time_point instant(int column) const;

  private:
    SQLite::Statement& prepared_;
    sqlite3_stmt* columns_;
    std::size_t& work_;
    int next_ = 1;
    const char* table_ = "a table";
    std::int64_t row_ = 0;
};

// How long a statement waits for a file that another process has locked.
inline constexpr int busy_timeout_ms = 5'000;

class connection {
  public:
    connection(const std::filesystem::path& file, int flags, std::size_t cache_bytes);

    // `sql` outlives the connection; its address identifies the prepared statement. Requires: no
    // other query uses that statement.
    query use(const char* sql);

    // For PRAGMA, BEGIN and the like, which are not prepared.
    void execute(const char* sql);
    std::int64_t integer_of(const char* sql);

    // Keeps the WAL when the connection is closed, and does not checkpoint.
    void keep_log();
    SQLite::Database& database() { return database_; }
    // Work of all queries so far.
    std::size_t work() const { return work_; }

  private:
    prepared_statement prepare(const char* sql);

    SQLite::Database database_;
    std::unordered_map<const char*, prepared_statement> prepared_;
    std::size_t work_ = 0;
};

}  // namespace callsign::sqlite
