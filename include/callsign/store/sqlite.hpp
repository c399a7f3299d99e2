#pragma once
// The embedded store: one SQLite file in a data directory, WAL, synchronous=FULL.
//
// SQLite before 3.51.3 can lose committed pages when two connections write or checkpoint at once.
// So the writer's connection is the only one that writes and the only one that checkpoints, readers
// open read-only, and a lock file keeps a second process away.

#include <callsign/base/time.hpp>
#include <callsign/ports/doctor.hpp>
#include <callsign/ports/local_files.hpp>
#include <callsign/ports/store.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callsign {

struct sqlite_options {
    std::filesystem::path data_dir;
    // Read connections; further reads wait for one.
    std::size_t readers = 2;
    // SQLite's page cache, for the writer; each reader has an eighth of it.
    std::size_t cache_bytes = 16u << 20;
    // The writer checkpoints when the WAL holds this many 4 KiB pages. Larger: fewer checkpoints,
    // and a longer recovery after a crash. Twice as many (and a batch) are its bound: with readers
    // in the way, or a full disk, nothing is written beyond it. Only a reader in another process,
    // as `callsign check` is, lets it grow further.
    std::int64_t wal_pages_max = 32'768;
    // Pages are moved to the database before that, each time that so many different ones were
    // written. Larger: fewer and longer pauses.
    std::int64_t moved_pages_max = 256;
    // When the log is at its bound and cannot be shortened, it is tried again no sooner than this.
    milliseconds full_retry{250};
    // How long a read may have to wait then for the others to end; beyond it, it is refused.
    milliseconds reader_wait_max{1000};
    // Keys kept in memory before they go to a sorted run on disk.
    std::size_t recent_keys_max = 16'384;
    // Memory for the filters that spare a look-up its disk read. Beyond it the largest runs go
    // without.
    std::size_t key_filter_bytes_max = 24u << 20;
    // Entries of each index in bulk that wait in memory until they are merged into its table; while
    // that goes on, half as many again.
    std::size_t buffered_entries_max = 32'768;
    // Called when the store is closed after a sync has failed, then or before: the log was kept,
    // and the next start decides what is durable.
    std::function<void()> lost_at_close{};
};

// Opens or creates DATA/callsign.sqlite3 and brings its schema up to date. Throws
// std::runtime_error, with a sentence for people: another process holds the directory, the schema
// is newer than this program, the file is not a database, no permission.
std::unique_ptr<store> open_sqlite(const sqlite_options& options);

// What the store takes on the disk, and what is left there.
struct sqlite_space {
    std::uintmax_t database_bytes = 0;
    std::uintmax_t log_bytes = 0;   // the WAL's file: what it holds, and what it keeps for later
    std::uintmax_t free_bytes = 0;  // for this user
    std::uintmax_t disk_bytes = 0;
};
// Of what cannot be found out there are 0. Any thread.
sqlite_space space_of(const std::filesystem::path& data_dir) noexcept;

// Proves the promise on what the port shows: rules::audit.
using auditor = std::function<void(read_tx&, findings&)>;

// Proves a data directory, read-only, beside a running server or without one: first what SQLite
// keeps, then, by `audit`, the promise. Damage does not end it. Throws std::runtime_error if there
// is nothing to read. `progress` is told what is looked at, as it begins. Incomplete tasks are
// those that were made before `made_before`.
check_report check_sqlite(const std::filesystem::path& data_dir, const auditor& audit,
                          const findings::progress& progress,
                          time_point made_before = time_point::max());

// Sets the store's time back to `now`, all or nothing. Throws std::runtime_error, with a sentence
// for people, if there is no store or a server has it open.
clock_repair repair_sqlite_clock(const std::filesystem::path& data_dir, time_point now);

// ---- backups (domain/backup.hpp) ----
// Each throws std::runtime_error, with a sentence for people.

// Makes the directory, which must not be there or be empty. The file to copy the store to.
std::filesystem::path begin_backup(const std::filesystem::path& dir);
// The copy is whole: makes it durable, and then a backup of it. Reads all of it.
backup_manifest finish_backup(const std::filesystem::path& dir, time_point made_at,
                              std::string program);
// What begin_backup() and finish_backup() have made is gone, and nothing else.
void discard_backup(const std::filesystem::path& dir);
// Those that are whole and were named by backup_name(), the oldest first.
std::vector<std::filesystem::path> list_backups(const std::filesystem::path& parent);
backup_manifest read_manifest(const std::filesystem::path& dir);

struct restored_store {
    backup_manifest manifest;
    std::filesystem::path kept;  // what was there before
};

// The backup's store takes the place of what is in the data directory, once it was copied there,
// proven, and made another by `make_another`. What was there is kept beside it, admin.token with
// it. If a server has the directory open, or anything is wrong with the backup, nothing has
// changed.
restored_store restore_sqlite(const std::filesystem::path& backup,
                              const std::filesystem::path& data_dir, time_point now,
                              const auditor& audit, const std::function<void(store&)>& make_another,
                              const findings::progress& progress);

// What is to be known of a store without opening it as one: by the header of its file, and by its
// rows. Nothing is made, migrated, locked or waited for, so a server may run or not.
struct sqlite_look : store_sight {  // of no rows, if `unread` says why not
    bool exists = false;
    std::string unreadable{};       // why the file cannot be read; empty: it can
    bool is_database = false;       // or else it is another kind of file
    bool is_wal = false;            // its journal
    std::int64_t schema = 0;        // that the file has
    std::int64_t schema_known = 0;  // that this program writes
    // Of the process that has the directory; 0: none, or nobody knows.
    std::int64_t holder = 0;

    bool is_own = true;  // false: it is another program's; true as long as nobody knows
    std::string unread{};
};
sqlite_look look_at_sqlite(const std::filesystem::path& data_dir,
                           const std::function<store_sight(read_tx&)>& look_at_rows);

// The SQLite that this program runs with.
struct sqlite_release {
    std::string version;       // "3.40.1"
    bool loses_pages = false;  // the WAL-reset bug, of those before 3.51.3
};
sqlite_release sqlite_in_use();

}  // namespace callsign
