#pragma once
// Keeps the WAL within its limit: schedules checkpoints, holds back readers that prevent the WAL
// from restarting, and rejects writes beyond the limit. Writer's thread.
//
// A checkpoint blocks the writer, so it is incremental: whenever `moved_pages_max` distinct pages
// were written, a partial checkpoint moves those written before them, up to the position of a read
// transaction of its own, the pin. It never reaches the end of the WAL, so SQLite does not sync the
// database; a background thread syncs the moved pages. At `wal_pages_max` pages a full checkpoint,
// small by then, restarts the WAL.

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
    // `writer` is the connection that writes. Both outlive this object; `writer` writes nothing
    // after its end.
    checkpointer(connection& writer, const std::filesystem::path& file, reader_pool& readers,
                 const sqlite_options& options);
    checkpointer(const checkpointer&) = delete;
    checkpointer& operator=(const checkpointer&) = delete;

    // Called before each write transaction. Throws store_failure if the WAL is full and cannot be
    // shortened.
    void make_room();
    // Checkpoints if one is due, earlier if the writer is idle. Throws store_failure after a failed
    // sync of the database, or if a checkpoint meets corruption.
    void maintain(bool idle);
    // Removes earlier contents of pages from the WAL: maintain() truncates it once no reader needs
    // it. Also due after a start, because an earlier process wrote the WAL.
    void clear() {
        clearing_due_ = true;
        clear_again_at_ = {};
    }
    // Moves everything to the database, so that closing the writer's connection has nothing to
    // move. The last call. Returns false if a sync of the database or of the WAL has failed.
    bool finish();

    // Returns whether a sync of the database has failed: its content on disk is unknown, and the
    // WAL must be kept. Any thread.
    bool is_database_lost() const { return database_failure_ != 0; }

  private:
    static constexpr std::int64_t wal_frame_bytes = 4'096 + 24;
    // Pages of the largest command, a snapshot of 100 MiB that overwrites another one, and a
    // margin.
    static constexpr std::int64_t batch_pages_max = 56'000;

    // Length from which new readers wait a short time: readers prevent the WAL from restarting.
    std::int64_t hold_readers_at() const { return options_.wal_pages_max * 3 / 2; }
    // Length from which nothing is written until the WAL restarts. One batch may exceed it.
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
    std::int64_t next_checkpoint_ = 0;  // length of the WAL
    bool held_ = false;                 // readers are held back
    bool clearing_due_;
    std::chrono::steady_clock::time_point clear_again_at_{};
    std::optional<store_failure> checkpoint_failure_;
    std::chrono::steady_clock::time_point try_again_at_{};
};

}  // namespace callsign::sqlite
