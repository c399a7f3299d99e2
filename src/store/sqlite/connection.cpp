#include "connection.hpp"

#include "log/page_checksums.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/base/instant_bounds.hpp>

#include <algorithm>
#include <cstring>
#include <sqlite3.h>
#include <utility>

namespace callsign::sqlite {

store_failure::kind meaning_of(int code, bool at_commit) {
    using kind = store_failure::kind;
    // SQLite writes the commit frame last: if the disk was full before it, or another process had
    // the file locked, nothing was committed. After any other failure of COMMIT the frame may be in
    // the file, durable or not: SQLite can run out of memory, or fail to grow shared memory, after
    // it synced the frame.
    if ((code & 0xFF) == SQLITE_FULL) return kind::full;
    if (at_commit) return (code & 0xFF) == SQLITE_BUSY ? kind::rejected : kind::unknown;
    if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC) return kind::unknown;
    if (code == SQLITE_IOERR_SHMSIZE) return kind::full;
    if (code == SQLITE_IOERR_DATA) return kind::corrupt;
    if (code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ) return kind::read_failed;
    switch (code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return kind::corrupt;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR: return code == SQLITE_IOERR_NOMEM ? kind::rejected : kind::io_error;
    case SQLITE_READONLY: return kind::read_only;
    default: return kind::rejected;
    }
}

namespace {

int code_of(const SQLite::Exception& error) {
    const int extended = error.getExtendedErrorCode();
    return extended > 0 ? extended : error.getErrorCode();
}

}  // namespace

void rethrow(const SQLite::Exception& error, bool at_commit) {
    if (code_of(error) == SQLITE_NOTADB) {
        throw store_failure(meaning_of(SQLITE_NOTADB), no_database);
    }
    throw store_failure(meaning_of(code_of(error), at_commit),
                        std::string("SQLite: ") + error.what() + " (" + error.getErrorStr() + ", " +
                            std::to_string(code_of(error)) + ")");
}

namespace {

template <class Action>
auto guarded(Action action) {
    try {
        return action();
    } catch (const SQLite::Exception& error) {
        rethrow(error);
    }
}

}  // namespace

query& query::bind(std::int64_t value) {
    prepared_.bind(next_++, value);
    return *this;
}

query& query::bind(const std::string& text) {
    prepared_.bindNoCopy(next_++, text);
    worked(text.size());
    return *this;
}

query& query::bind_blob(const void* bytes, std::size_t size) {
    // A null pointer would bind NULL, not an empty blob.
    prepared_.bindNoCopy(next_++, bytes ? bytes : "", static_cast<int>(size));
    worked(size);
    return *this;
}

query& query::bind_null() {
    prepared_.bind(next_++);
    return *this;
}

namespace {

// Names the statement, which locates the corruption. Its text holds no values: they are bound.
[[noreturn]] void rethrow_at(const SQLite::Statement& statement, const SQLite::Exception& error) {
    const auto kind = meaning_of(code_of(error));
    const bool is_read = kind == store_failure::kind::read_failed;
    if (!is_read && kind != store_failure::kind::corrupt) rethrow(error);
    throw store_failure(kind, std::string(is_read ? "a read failed: " : "damaged: ") +
                                  error.what() + " at " + statement.getQuery());
}

}  // namespace

bool query::step() {
    try {
        return prepared_.executeStep();
    } catch (const SQLite::Exception& error) {
        rethrow_at(prepared_, error);
    }
}

void query::run() {
    try {
        prepared_.exec();
    } catch (const SQLite::Exception& error) {
        rethrow_at(prepared_, error);
    }
}

void query::run_commit() {
    try {
        prepared_.exec();
    } catch (const SQLite::Exception& error) {
        rethrow(error, true);
    }
}

bool query::is_null(int column) const {
    return sqlite3_column_type(columns_, column) == SQLITE_NULL;
}

std::int64_t query::integer(int column) const {
    return sqlite3_column_int64(columns_, column);
}

std::string_view query::blob(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(columns_, column));
    // Also the value of an empty blob.
    if (!bytes && prepared_.getErrorCode() == SQLITE_NOMEM) {
        throw store_failure(store_failure::kind::rejected, "SQLite: out of memory");
    }
    const std::string_view all(bytes,
                               static_cast<std::size_t>(sqlite3_column_bytes(columns_, column)));
    worked(all.size());
    return all;
}

std::string query::text(int column) const {
    return std::string(blob(column));
}

namespace {

template <class Bytes>
Bytes exactly(const query& q, int column, Bytes to) {
    const auto bytes = q.blob(column);
    if (bytes.size() != sizeof to) q.damaged("the size of an id or a digest");
    std::memcpy(&to, bytes.data(), sizeof to);
    return to;
}

}  // namespace

uuid query::id(int column) const {
    return exactly(*this, column, uuid{});
}

time_point query::instant(int column) const {
    const time_point at{milliseconds{integer(column)}};
    if (!is_instant(at)) damaged("an instant");
    return at;
}

namespace {

// Called before any other use of SQLite. Disables its unused statistics of memory in use: they cost
// a global mutex around each allocation, 6 % of a creation's CPU.
const char* start_sqlite() {
    static const char* const files = [] {
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        return summed_pages();
    }();
    return files;
}

}  // namespace

connection::connection(const std::filesystem::path& file, int flags, std::size_t cache_bytes)
    // One thread at a time uses a connection; SQLite's mutex would cost a fifteenth of a creation's
    // CPU.
    : database_(file.string(), flags | SQLite::OPEN_NOMUTEX, busy_timeout_ms, start_sqlite()) {
    execute("PRAGMA foreign_keys = OFF");  // verified by the rules and `callsign check` instead
    execute("PRAGMA temp_store = MEMORY");
    // Set on every connection: SQLite must not checkpoint on its own, and overwrites deleted rows
    // and free pages with zeros.
    execute("PRAGMA wal_autocheckpoint = 0");
    execute("PRAGMA secure_delete = ON");
    execute(("PRAGMA cache_size = -" + std::to_string(cache_bytes / 1024)).c_str());
}

// SQLiteCpp does not expose the handle. Of several statements with the same text, the new one is
// the one not known yet.
prepared_statement connection::prepare(const char* sql) {
    SQLite::Statement made(database_, sql);
    const auto is_known = [&](const sqlite3_stmt* handle) {
        return std::ranges::any_of(prepared_,
                                   [&](const auto& each) { return each.second.columns == handle; });
    };
    sqlite3_stmt* handle = sqlite3_next_stmt(database_.getHandle(), nullptr);
    while (handle && (made.getQuery() != sqlite3_sql(handle) || is_known(handle))) {
        handle = sqlite3_next_stmt(database_.getHandle(), handle);
    }
    CALLSIGN_ASSERT(handle);
    return {std::move(made), handle};
}

query connection::use(const char* sql) {
    auto found = prepared_.find(sql);
    if (found == prepared_.end()) {
        found = guarded([&] { return prepared_.try_emplace(sql, prepare(sql)).first; });
    }
    return query(found->second, work_);
}

void connection::execute(const char* sql) {
    guarded([&] { return database_.exec(sql); });
}

void connection::keep_log() {
    sqlite3_db_config(database_.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

std::int64_t connection::integer_of(const char* sql) {
    return guarded([&] { return database_.execAndGet(sql).getInt64(); });
}

}  // namespace callsign::sqlite
