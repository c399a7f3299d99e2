#pragma once
// A file system between SQLite and the default one. It writes a sum at the end of every page of a
// database, and looks at it whenever the page is read from the disk: a disk that gives back other
// bytes than were written, or those of another page, is found out before anyone takes them for what
// a task says. SQLite then has an I/O error (SQLITE_IOERR_DATA), which is store_failure's
// `damaged`.
//
// It also clears what SQLite leaves of deleted rows where no row is (secure_delete does the rest).
//
// Pages have room for sums in files that were made with it (make_room_for_sums); others are read
// and written as they are. The log has sums of SQLite's own; of it the pages are counted, and a
// commit's frames become one write (log_buffer.hpp).

#include "connection.hpp"

#include <atomic>
#include <memory>

struct sqlite3_file;

namespace callsign::sqlite {

inline constexpr int page_bytes = 4096;

class log_sync;

// The name to open files with. Registers it, the first time.
const char* summed_pages();

// Before anything was written to the file; mark_summed() after it.
void make_room_for_sums(connection& db);
void mark_summed(connection& db);
bool has_sums(const std::filesystem::path& file);

// What the last 8 of a page's 4,096 bytes are to be, at `offset` in the file.
std::uint64_t page_sum(const char* page, std::int64_t offset);

// Whether each page of the database whose sum this connection found wrong reads well now. A page
// that was written since does.
bool reads_well(connection& db);

// How many different pages this connection has written to the log since it began anew, or since
// they were forgotten.
std::int64_t pages_to_move(connection& db);
void forget_pages_to_move(connection& db);

// The log that this connection has open; null: it has none yet.
std::shared_ptr<log_sync> log_sync_of(connection& db);

// The connection's file; it lives as long.
sqlite3_file& database_file(connection& db);

// SQLite's code of the first sync of that file that failed, whoever asked for it; SQLITE_OK: none
// has. Once one has, every later sync fails: the kernel reports lost pages once, and calls them
// clean from then on. Any thread; it lives as long as the connection.
const std::atomic<int>& sync_failure(connection& db);
// Whether one of it or of the log that this connection has open has.
bool has_failed_sync(connection& db);

}  // namespace callsign::sqlite
