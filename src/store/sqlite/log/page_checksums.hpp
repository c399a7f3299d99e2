#pragma once
// A file system between SQLite and the default one. It writes a checksum at the end of every
// database page and verifies it whenever the page is read from the disk: other bytes than were
// written, or those of another page, are detected before they are used. SQLite then has an I/O
// error (SQLITE_IOERR_DATA), which is store_failure's `corrupt`.
//
// It also clears what SQLite leaves of deleted rows in gaps between rows (secure_delete does the
// rest).
//
// Pages have space for checksums in files that were created with it (make_room_for_sums); others
// are read and written unchanged. The WAL has checksums of SQLite's own; its pages are counted, and
// a commit's frames become one write (log_buffer.hpp).

#include "connection.hpp"

#include <atomic>
#include <memory>

struct sqlite3_file;

namespace callsign::sqlite {

inline constexpr int page_bytes = 4096;

class log_sync;

// Returns the name to open files with. Registers the file system at the first call.
const char* summed_pages();

// Called before anything is written to the file, then mark_summed().
void make_room_for_sums(connection& db);
void mark_summed(connection& db);
bool has_sums(const std::filesystem::path& file);

// Returns what the last 8 of a page's 4,096 bytes must be. `offset`: of the page in the file.
std::uint64_t page_sum(const char* page, std::int64_t offset);

// Returns whether all database pages whose checksum this connection found wrong can be read now. A
// page that was written since can.
bool reads_well(connection& db);

// Returns how many distinct pages this connection has written to the WAL since it restarted or
// since forget_pages_to_move().
std::int64_t pages_to_move(connection& db);
void forget_pages_to_move(connection& db);

// Returns the WAL that this connection has open; null: none yet.
std::shared_ptr<log_sync> log_sync_of(connection& db);

// Returns the connection's file, which lives as long as the connection.
sqlite3_file& database_file(connection& db);

// SQLite's code of the first sync of the database file that failed, by any connection;
// SQLITE_OK: none. After that every later sync fails: the kernel reports lost pages once and then
// marks them clean. Any thread; lives as long as the connection.
const std::atomic<int>& sync_failure(connection& db);
// Returns whether a sync of that file, or of the WAL that this connection has open, has failed.
bool has_failed_sync(connection& db);

}  // namespace callsign::sqlite
