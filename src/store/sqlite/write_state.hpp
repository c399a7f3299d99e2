#pragma once
// What the writer remembers between transactions, so that it need not ask the file: it is the only
// one that writes. A transaction ends with committed_all() or roll_back(), neither of which reads
// or can fail: what is remembered is always what is on the disk.

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
    // Reads what is there. Once, and of no use if it throws.
    void load();

    // The transaction's end, one of them.
    void committed_all() noexcept;
    void roll_back() noexcept;

    connection db;
    std::shared_ptr<log_sync> log;  // of `db`; null: it has no log yet
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
