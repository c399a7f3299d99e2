#pragma once
// The embedded store: one SQLite file in a data directory, WAL, synchronous=FULL.
//
// SQLite before 3.51.3 can lose committed pages when two connections write or checkpoint at once.
// Therefore only the writer's connection writes and checkpoints, readers open read-only, and a lock
// file excludes other processes.

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
    // Number of read connections; further reads wait for one.
    std::size_t readers = 2;
    // SQLite's page cache for the writer; each reader has an eighth of it.
    std::size_t cache_bytes = 16u << 20;
    // Length of the WAL, in 4 KiB pages, at which the writer checkpoints. Larger: fewer
    // checkpoints, longer recovery after a crash. The limit is twice this length, plus a batch:
    // while readers or a full disk prevent a checkpoint, writes beyond it are rejected. Only a
    // reader in another process, such as `callsign check`, lets the WAL grow further.
    std::int64_t wal_pages_max = 32'768;
    // Number of distinct pages written after which a partial checkpoint moves pages to the
    // database. Larger: fewer and longer pauses.
    std::int64_t moved_pages_max = 256;
    // Minimum interval between attempts to shorten a WAL that is at its limit.
    milliseconds full_retry{250};
    // Maximum time that a read waits while readers are held back; after that it is rejected.
    milliseconds reader_wait_max{1000};
    // Number of keys kept in memory before they are written as a sorted run.
    std::size_t recent_keys_max = 16'384;
    // Memory for the filters that save key look-ups a disk read. Beyond it the largest runs have no
    // filter.
    std::size_t key_filter_bytes_max = 24u << 20;
    // Entries of each bulk index that are buffered in memory before they are merged into its table;
    // during a merge up to half as many again.
    std::size_t buffered_entries_max = 32'768;
    // The caller moves the store: a mark does not matter (mark_data_dir).
    bool moves = false;
    // Called when or before the store is closed, if a sync has failed: the WAL is kept, and the
    // next start determines what is durable.
    std::function<void()> lost_at_close{};
};

// Opens or creates DATA/callsign.sqlite3 and migrates its schema. Throws std::runtime_error with a
// message for the operator: another process holds the directory, the schema is newer than this
// program, the file is not a database, no permission.
std::unique_ptr<store> open_sqlite(const sqlite_options& options);

// Creates a data directory unless it exists. Throws std::runtime_error with a message for the
// operator: no permission, or all users can write to it.
void prepare_data_dir(const std::filesystem::path& dir);

// A data directory whose store was moved, or is being moved, is marked by a file with a sentence
// for the operator, and open_sqlite() rejects it with that sentence unless sqlite_options::moves is
// set. An empty sentence removes the mark. Durable. Throws std::runtime_error.
void mark_data_dir(const std::filesystem::path& dir, const std::string& sentence);
// Empty: not marked.
std::string mark_of_data_dir(const std::filesystem::path& dir);

// Disk space that the store uses and that is left.
struct sqlite_space {
    std::uintmax_t database_bytes = 0;
    std::uintmax_t log_bytes = 0;   // size of the WAL file, unused space included
    std::uintmax_t free_bytes = 0;  // available to this user
    std::uintmax_t disk_bytes = 0;
};
// Sizes that cannot be determined are 0. Any thread.
sqlite_space space_of(const std::filesystem::path& data_dir) noexcept;

// Verifies the guarantees on what the port shows: rules::audit.
using auditor = std::function<void(read_tx&, findings&)>;

// Verifies a data directory, read-only, with or without a running server: first what SQLite keeps,
// then, by `audit`, the guarantees. Continues after corruption. `progress` receives each check's
// description as it begins. Reports only incomplete tasks created before `made_before`. Throws
// std::runtime_error if there is nothing to read.
check_report check_sqlite(const std::filesystem::path& data_dir, const auditor& audit,
                          const findings::progress& progress,
                          time_point made_before = time_point::max());

// Sets the store's time back to `now`, atomically. Throws std::runtime_error with a message for the
// operator if there is no store or a server has it open.
clock_repair repair_sqlite_clock(const std::filesystem::path& data_dir, time_point now);

// ---- backups (domain/backup.hpp) ----
// Each function throws std::runtime_error with a message for the operator.

// Creates the directory, which must not exist or be empty. Returns the path to copy the store to.
std::filesystem::path begin_backup(const std::filesystem::path& dir);
// Makes the copy durable and completes the backup with its manifest. Reads the whole copy.
// Requires: the copy is complete.
backup_manifest finish_backup(const std::filesystem::path& dir, time_point made_at,
                              std::string program);
// Removes what begin_backup() and finish_backup() created, and nothing else.
void discard_backup(const std::filesystem::path& dir);
// Returns complete backups named by backup_name(), the oldest first.
std::vector<std::filesystem::path> list_backups(const std::filesystem::path& parent);
backup_manifest read_manifest(const std::filesystem::path& dir);

struct restored_store {
    backup_manifest manifest;
    std::filesystem::path kept;  // the former store
};

// Replaces the store in the data directory by the backup's, after it was copied there, given a new
// identity by `make_another`, and verified. Keeps the former store beside it, with admin.token. If
// a server has the directory open, or the backup is invalid, nothing changes.
restored_store restore_sqlite(const std::filesystem::path& backup,
                              const std::filesystem::path& data_dir, time_point now,
                              const auditor& audit, const std::function<void(store&)>& make_another,
                              const findings::progress& progress);

// What the header and the rows of a store show without opening it as one. Nothing is created,
// migrated, locked or waited for, so a server may be running.
struct store_state : store_sight {  // no rows if `unread` is set
    bool exists = false;
    std::string unreadable{};       // why the file cannot be read; empty: it can
    bool is_database = false;       // false: another kind of file
    bool is_wal = false;            // journal mode
    std::int64_t schema = 0;        // of the file
    std::int64_t schema_known = 0;  // that this program writes
    // Process that has the directory open; 0: none, or unknown.
    std::int64_t holder = 0;

    bool is_own = true;  // false: another program's database; true if unknown
    std::string unread{};
};
store_state inspect_store(const std::filesystem::path& data_dir,
                          const std::function<store_sight(read_tx&)>& look_at_rows);

// The SQLite library in use.
struct sqlite_release {
    std::string version;       // "3.40.1"
    bool loses_pages = false;  // the WAL-reset bug, before 3.51.3
};
sqlite_release sqlite_in_use();

}  // namespace callsign
