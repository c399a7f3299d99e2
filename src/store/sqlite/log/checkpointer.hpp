#pragma once
// Keeps the log, SQLite's WAL, within its bound: it says when what is in the log is moved to the
// database, holds readers back that keep the log from beginning anew, and refuses to write beyond
// the bound. Of the writer's thread.
//
// Nobody's command goes on while pages are moved, so they are moved in parts: each time that
// `moved_pages_max` pages were written, those that were written before them. A reader of its own,
// the pin, stands where the next part ends; so a part never comes to the log's end, and SQLite
// syncs the database only where all of the log was moved. A thread writes the moved pages to the
// disk meanwhile. When the log is `wal_pages_max` long the rest is moved and synced, which is
// little, and the log begins anew.

#include "connection.hpp"
#include "log/background_sync.hpp"
#include "reader_pool.hpp"

#include <callsign/store/sqlite.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

struct sqlite3;

namespace callsign::sqlite {

class checkpointer {
  public:
    // `writer` is the connection that writes. Both outlive it, and `writer` writes nothing after
    // it.
    checkpointer(connection& writer, const std::filesystem::path& file, reader_pool& readers,
                 const sqlite_options& options);
    checkpointer(const checkpointer&) = delete;
    checkpointer& operator=(const checkpointer&) = delete;

    // Before each write transaction. Throws store_failure if there is no room and none can be made.
    void make_room();
    // Checkpoints if it is due, sooner if the writer is idle. Throws store_failure if nobody knows
    // what the disk has of the database now.
    void maintain(bool idle);
    // What the log holds of earlier pages is to go: from the next maintain() on the file is cut off
    // as soon as no reader needs it. So it is after a start, whose log an earlier process wrote.
    void clear() {
        clearing_due_ = true;
        clear_again_at_ = {};
    }
    // Moves all to the database, so that the connection that writes has nothing to move when it is
    // closed. Nothing is done after it. False: a sync of the database or of the log has failed.
    bool finish();

    // Whether a sync of the database has failed: nobody knows what the disk has of it, and the log
    // must stay. Any thread.
    bool is_database_lost() const { return database_failure_ != 0; }

  private:
    static constexpr std::int64_t wal_frame_bytes = 4'096 + 24;
    // Of the largest command there is, a snapshot of 100 MiB over another one, which is
    // overwritten, and a little.
    static constexpr std::int64_t batch_pages_max = 56'000;

    // Readers keep the log from beginning anew, and it grows. From here on new ones wait a moment,
    std::int64_t hold_readers_at() const { return options_.wal_pages_max * 3 / 2; }
    // and from here on nothing is written until it has: with one batch, this is its length.
    std::int64_t log_bound() const { return options_.wal_pages_max * 2; }

    void grow_shared_memory();
    bool is_clearing_turn();
    void checkpoint();
    void move_part();
    void move_pin();
    void remove_pin();
    bool is_pinned();
    int move_pages(int mode);
    void note_failure(int extended_code);
    void expect_synced();
    void hold_readers();
    void release_readers();
    void shorten_log();
    static int note_wal(void* self, sqlite3*, const char*, int pages);

    connection& db_;
    reader_pool& readers_;
    sqlite_options options_;
    connection pin_;
    const std::atomic<int>& database_failure_;
    std::optional<background_sync> sync_;  // until finish()
    bool shared_memory_grown_ = false;
    std::int64_t wal_pages_ = 0;
    std::int64_t next_checkpoint_ = 0;  // not before it has so many pages
    bool held_ = false;                 // the readers
    bool clearing_due_;
    std::chrono::steady_clock::time_point clear_again_at_{};
    std::optional<store_failure> checkpoint_failure_;
    std::chrono::steady_clock::time_point try_again_at_{};
};

}  // namespace callsign::sqlite
