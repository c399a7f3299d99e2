#pragma once
// The writer's state between transactions, kept in memory because only the writer writes. A
// transaction ends with committed_all() or roll_back(), which neither read nor fail: the state
// always equals what is on disk.

#include "connection.hpp"
#include "index/bulk_index.hpp"
#include "index/key_index.hpp"
#include "index/pending_slots.hpp"

#include <callsign/ports/store.hpp>
#include <callsign/store/sqlite.hpp>

#include <memory>

namespace callsign::sqlite {

class log_sync;

class write_state {
  public:
    write_state(const std::filesystem::path& file, const sqlite_options& options);
    // Reads the file at start, once. If it throws, the object is unusable.
    void load();

    // Each transaction ends with one of these.
    void committed_all() noexcept;
    void roll_back() noexcept;

    connection db;
    std::shared_ptr<log_sync> log;  // of `db`; null: no WAL open yet
    key_index keys;
    pending_slots pending;
    bulk_index numbers;             // of tasks
    bulk_index places;              // of versions
    bool log_clearing_due = false;  // write_tx::clear_log() was called
    row_cache rows;

  private:
    static constexpr std::size_t pending_window = 1'024;
};

}  // namespace callsign::sqlite
