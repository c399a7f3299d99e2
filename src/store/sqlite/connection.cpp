#include "connection.hpp"

#include <callsign/base/assert.hpp>

#include <cstring>
#include <sqlite3.h>

namespace callsign::sqlite {

void rethrow(const SQLite::Exception& error, bool at_commit) {
    const int code = error.getErrorCode() & 0xFF;
    // The commit frame is written last: when the disk was full before it, nothing took. After any
    // other failure of COMMIT the frame may be in the file and may or may not be durable.
    const bool certain =
        !at_commit || code == SQLITE_FULL || code == SQLITE_BUSY || code == SQLITE_NOMEM;
    throw store_failure(certain ? store_failure::kind::refused : store_failure::kind::unknown,
                        std::string("SQLite: ") + error.what() + " (" + error.getErrorStr() + ")");
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
    return *this;
}

query& query::bind_blob(const void* bytes, std::size_t size) {
    // A null pointer would bind NULL, not an empty blob.
    prepared_.bindNoCopy(next_++, bytes ? bytes : "", static_cast<int>(size));
    return *this;
}

query& query::bind_null() {
    prepared_.bind(next_++);
    return *this;
}

bool query::step() {
    return guarded([&] { return prepared_.executeStep(); });
}

void query::run() {
    guarded([&] { return prepared_.exec(); });
}

void query::run_commit() {
    try {
        prepared_.exec();
    } catch (const SQLite::Exception& error) {
        rethrow(error, true);
    }
}

std::string_view query::blob(int column) const {
    const auto value = prepared_.getColumn(column);
    return {static_cast<const char*>(value.getBlob()), static_cast<std::size_t>(value.getBytes())};
}

uuid query::id(int column) const {
    const auto bytes = blob(column);
    uuid id{};
    CALLSIGN_ASSERT(bytes.size() == id.size());
    std::memcpy(id.data, bytes.data(), bytes.size());
    return id;
}

connection::connection(const std::filesystem::path& file, int flags, std::size_t cache_bytes)
    // No mutex in SQLite: a connection is used by one thread at a time (a fifteenth of a creation's
    // CPU).
    : database_(file.string(), flags | SQLite::OPEN_NOMUTEX, 5'000) {
    execute("PRAGMA foreign_keys = OFF");  // rules and `callsign check` see to that; lookups cost
    execute("PRAGMA temp_store = MEMORY");
    // Ours to choose in every connection: SQLite must not checkpoint behind the writer's back, nor
    // spend writes on wiping pages.
    execute("PRAGMA wal_autocheckpoint = 0");
    execute("PRAGMA secure_delete = OFF");
    execute(("PRAGMA cache_size = -" + std::to_string(cache_bytes / 1024)).c_str());
}

query connection::use(const char* sql) {
    auto found = prepared_.find(sql);
    if (found == prepared_.end()) {
        found = guarded([&] { return prepared_.try_emplace(sql, database_, sql).first; });
    }
    return query(found->second);
}

void connection::execute(const char* sql) {
    guarded([&] { return database_.exec(sql); });
}

std::int64_t connection::integer_of(const char* sql) {
    return guarded([&] { return database_.execAndGet(sql).getInt64(); });
}

}  // namespace callsign::sqlite
