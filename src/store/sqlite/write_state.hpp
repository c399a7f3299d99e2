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

    // An account's: all there have been, and which of them are gone, deleted or not.
    struct fork_versions {
        std::int64_t places = 0;
        std::int64_t bytes = 0;
        std::int64_t gone_to = 0;
        std::int64_t gone_below = 0;

        bool is_gone(std::int64_t place, std::int64_t bytes_before) const noexcept {
            return place <= gone_to || bytes_before < gone_below;
        }
    };

    // The end of an account's chain.
    struct head {
        account_id account;
        std::int64_t last_seq = 0;
        uuid last_version{};
        std::int64_t sealed_seq = 0;
        fork_versions forks{};
        bool elsewhere = false;
        std::int64_t stored_bytes = 0;
        account_state state = account_state::active;
        bool changed = false;
    };
    struct counter {
        std::int64_t id = 0;
        std::int64_t last_number = 0;
        bool changed = false;
    };

    // To be read; advance() is how they change. The references live until flush() or the
    // transaction's end.
    const head& head_of(account_id account) { return find_head(account); }
    // Null: the account is not there.
    const head* head_if_there(account_id account) { return look_up_head(account); }
    const counter& counter_of(series_id series, std::string_view period) {
        return find_counter(series, period);
    }
    std::int64_t advance_head(account_id account, const uuid& version);
    void add_stored(account_id account, std::int64_t bytes) {
        changed(account).stored_bytes += bytes;
    }
    fork_versions& change_forks(account_id account) { return changed(account).forks; }
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

    // What is read with a device is its account's as well. They are read again.
    void forget_devices() noexcept { devices.clear(); }

    // Requires: flushed. It is read again.
    void forget_head(account_id account) { heads_.erase(account); }

    // Nothing of it is remembered. Requires: flushed.
    void forget_account(account_id account) {
        forget_head(account);
        counters_.clear();
        last_periods_.clear();
        forget_series();
        forget_devices();
    }

    // Writes the heads and counters that changed: a row each, however many numbers were taken.
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
    std::unordered_map<uuid, device, keyed_hash> devices;  // by client id
    // The fork version that was last looked at for being gone. Only a place to go on from.
    std::pair<uuid, account_id> last_swept{};

  private:
    static constexpr std::size_t pending_window = 1'024;
    // More than this is dropped and read again.
    static constexpr std::size_t remembered_max = 65'536;
    static constexpr std::size_t devices_max = 4'096;  // with names and keys

    head* look_up_head(account_id account);  // null: the account is not there
    head& find_head(account_id account);
    head& changed(account_id account);
    counter& find_counter(series_id series, std::string_view period);
    counter& changed(series_id series, std::string_view period);
    void expect_highest(const counter& c);
    std::int64_t last_waiting(const counter& c);

    std::unordered_map<account_id, head> heads_;
    std::map<std::pair<series_id, std::string>, counter> counters_;
    std::unordered_map<series_id, std::string> last_periods_;
    std::vector<head*> changed_heads_;
    std::vector<counter*> changed_counters_;
};

}  // namespace callsign::sqlite
