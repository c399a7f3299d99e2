#include "prepare_file.hpp"

#include "log/log_rewrite.hpp"
#include "log/page_checksums.hpp"
#include "statements.hpp"
#include "tables/migrations.hpp"

#include <callsign/base/describe_file_error.hpp>

#include <cerrno>
#include <fstream>
#include <sqlite3.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>

namespace callsign::sqlite {
namespace {

[[noreturn]] void reject(const std::filesystem::path& file, const char* why) {
    throw std::runtime_error(file.string() + " is not Callsign's: " + why +
                             ". It was left as it is");
}

// Rejects another program's file without changing it.
void expect_own(connection& db, const std::filesystem::path& file) {
    const auto version = db.integer_of("PRAGMA user_version");
    const auto tables = db.integer_of("SELECT count(*) FROM sqlite_master");
    const bool is_begun = version != 0 || tables != 0;
    if (is_begun && (version == 0 || db.integer_of(sql::look_own_tables) != 5)) {
        reject(file, "it has other tables");
    }
    if (std::filesystem::file_size(file) != 0 && !has_sums(file)) {
        reject(file, "its pages have no sums");
    }
}

// Lets the owner read and write the file, its WAL and its shared memory; with `replace`, no other
// user. Failures are ignored: another user's file keeps its mode, and opening it shows whether it
// is writable.
void let_owner_write(const std::filesystem::path& file, std::filesystem::perm_options how) {
    using std::filesystem::perms;
    for (const char* part : {"", "-wal", "-shm"}) {
        std::error_code error;
        std::filesystem::permissions(file.string() + part, perms::owner_read | perms::owner_write,
                                     how, error);
    }
}

void expect_database(const std::filesystem::path& file) {
    constexpr std::string_view magic("SQLite format 3\0", 16);
    std::ifstream in(file, std::ios::binary);
    std::string begin(magic.size(), '\0');
    in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    const bool is_empty = in.gcount() == 0;
    if (!is_empty && begin != magic) reject(file, no_database);
}

}  // namespace

std::filesystem::path prepare_directory(const std::filesystem::path& dir) {
    using std::filesystem::perms;
    std::error_code error;
    const bool is_new = std::filesystem::create_directories(dir, error);
    if (!error && is_new) std::filesystem::permissions(dir, perms::owner_all, error);
    if (error) {
        throw std::runtime_error("cannot make " + dir.string() + ": " +
                                 describe_file_error(dir, error.value(), file_use::making));
    }
    if ((std::filesystem::status(dir, error).permissions() & perms::others_write) != perms::none) {
        throw std::runtime_error("all users can write to " + dir.string() +
                                 ", and replace the data: chmod 700 " + dir.string());
    }
    return dir / "callsign.sqlite3";
}

void move_log(connection& db, const std::filesystem::path& file) {
    sqlite3_wal_checkpoint_v2(db.database().getHandle(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                              nullptr, nullptr);
    if (!has_failed_sync(db)) return;
    throw store_failure(store_failure::kind::unknown,
                        "cannot make " + file.string() + " durable: a sync failed");
}

void prepare_file(const std::filesystem::path& file, const sqlite_options& options) {
    expect_database(file);
    let_owner_write(file, std::filesystem::perm_options::add);
    rewrite_log(file);
    connection db(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, options.cache_bytes);
    expect_own(db, file);
    let_owner_write(file, std::filesystem::perm_options::replace);
    if (sqlite3_db_readonly(db.database().getHandle(), "main") != 0) {
        const int error = ::access(file.c_str(), W_OK) == 0 ? EACCES : errno;
        throw std::runtime_error("cannot write " + file.string() + ": " +
                                 describe_file_error(file, error));
    }
    if (std::filesystem::file_size(file) == 0) {
        make_room_for_sums(db);
        mark_summed(db);
    }
    db.execute("PRAGMA journal_mode = WAL");
    db.execute("PRAGMA synchronous = FULL");
    migrate(db);
    move_log(db, file);
}

}  // namespace callsign::sqlite
