#pragma once
// One connection to the file, with its prepared statements. SQLiteCpp's exceptions are translated
// to store_failure here, at the door.

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

// Of a file whose first bytes are not those of a database.
inline constexpr char no_database[] = "it is no SQLite database, or damaged at its very beginning";

// What a failure of SQLite's means. `code` is an extended one. `at_commit`: only a disk that is
// full, or a file that is busy, leaves the outcome certain.
store_failure::kind meaning_of(int code, bool at_commit = false);
[[noreturn]] void rethrow(const SQLite::Exception& error, bool at_commit = false);

// A statement that a connection keeps. Columns are read through `columns`, SQLite's handle of it: a
// SQLite::Column of each costs a read of a few rows a twentieth of its request's CPU.
struct prepared_statement {
    SQLite::Statement statement;
    sqlite3_stmt* columns;
};

// A prepared statement in use: bind in order, then step or run. Bound bytes are not copied: they
// must live until the statement is run or reset. Reset by its destructor.
class query {
  public:
    // `work`: of whoever asks, as worked() has it.
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

    // So many bytes of content, or what takes as long (domain/work.hpp), were read or written
    // besides the columns, which are counted as they are bound or read.
    void worked(std::size_t more) const { work_ += more; }

    // True: a row is there to be read.
    bool step();
    // For statements without rows.
    void run();
    // For COMMIT: a failure may leave its outcome unknown.
    void run_commit();

    // ---- the row's columns, from 0 ----
    // Whatever is on the disk: what cannot be is a store_failure that names the row.
    void at(const char* table, std::int64_t row) {
        table_ = table;
        row_ = row;
    }
    [[noreturn]] void damaged(const char* why) const { throw_damaged(table_, row_, why); }

    // Requires: step() returned true, and the statement has the column.
    bool is_null(int column) const;
    std::int64_t integer(int column) const;
    std::string text(int column) const;
    // Lives until the next step.
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

// How long a statement waits for a file that another process holds.
inline constexpr int busy_timeout_ms = 5'000;

class connection {
  public:
    connection(const std::filesystem::path& file, int flags, std::size_t cache_bytes);

    // `sql` is a constant of statements.hpp: its address is its name. One use at a time.
    query use(const char* sql);

    // Not prepared: PRAGMA, BEGIN and the like.
    void execute(const char* sql);
    std::int64_t integer_of(const char* sql);

    // Its log stays when it is closed, and nothing is moved from it.
    void keep_log();
    SQLite::Database& database() { return database_; }
    // By all queries so far.
    std::size_t work() const { return work_; }

  private:
    prepared_statement prepare(const char* sql);

    SQLite::Database database_;
    std::unordered_map<const char*, prepared_statement> prepared_;
    std::size_t work_ = 0;
};

}  // namespace callsign::sqlite
