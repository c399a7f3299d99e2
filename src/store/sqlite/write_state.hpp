#pragma once
// What the writer remembers between transactions, so that it need not ask the file: it is the only
// one that writes. A transaction ends with committed_all() or roll_back(), neither of which reads
// or can fail: what is remembered is always what is on the disk.

#include "bulk_index.hpp"
#include "connection.hpp"
#include "key_index.hpp"
#include "last_ids.hpp"
#include "pending_slots.hpp"

#include <callsign/base/keyed_hash.hpp>
#include <callsign/ports/store.hpp>
#include <callsign/store/sqlite.hpp>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace callsign::sqlite {

class log_sync;

struct totals {
    slot_counts slots;
    std::int64_t last_slot = 0;
    time_point last_moment{};
    store_totals all{};
};

class write_state {
  public:
    write_state(const std::filesystem::path& file, const sqlite_options& options);
    // Reads what is there. Once, and of no use if it throws.
    void load();

    struct counter {
        std::int64_t id = 0;
        std::int64_t last_number = 0;
        bool changed = false;
    };

    // To be read; advance_counter() is how it changes. The reference lives until flush() or the
    // transaction's end.
    const counter& counter_of(series_id series, std::string_view period) {
        return find_counter(series, period);
    }
    std::int64_t advance_counter(series_id series, std::string_view period);
    void set_counter(series_id series, std::string_view period, std::int64_t last_number);
    // 0: there is none yet, and none is made.
    std::int64_t last_number(series_id series, std::string_view period);
    std::string last_period(series_id series);

    // They are read again.
    void forget_series() noexcept {
        series_by_prefix.clear();
        default_series.clear();
    }

    // Nothing of it is remembered. Requires: flushed.
    void forget_account() {
        counters_.clear();
        last_periods_.clear();
        forget_series();
    }

    // Writes the counters that changed: a row each, however many numbers were taken.
    void flush();
    // The transaction's end, one of them.
    void committed_all() noexcept;
    void roll_back() noexcept;

    connection db;
    std::shared_ptr<log_sync> log;  // of `db`; null: it has no log yet
    key_index keys;
    totals now;
    totals committed;
    pending_slots pending;
    bulk_index numbers;  // of tasks
    bulk_index places;   // of versions
    last_ids ids;
    bool log_clearing_due = false;  // write_tx::clear_log() was called
    std::map<std::pair<account_id, std::string>, series> series_by_prefix;
    std::unordered_map<account_id, series> default_series;
    row_cache rows;

  private:
    static constexpr std::size_t pending_window = 1'024;
    // More than this is dropped and read again.
    static constexpr std::size_t remembered_max = 65'536;

    counter& find_counter(series_id series, std::string_view period);
    counter& changed(series_id series, std::string_view period);
    void expect_highest(const counter& c);
    std::int64_t last_waiting(const counter& c);

    std::map<std::pair<series_id, std::string>, counter> counters_;
    std::unordered_map<series_id, std::string> last_periods_;
    std::vector<counter*> changed_counters_;
};

}  // namespace callsign::sqlite
