#pragma once
// Index from a client's idempotency key to its slot, without a B-tree in random order.
//
// SQLite writes every page that a commit touches to the WAL. An index keyed by clients' random keys
// touches a page of its own for each creation, and the more the larger it grows. This index is
// therefore a small log-structured merge tree of (64-bit hash, slot ID) pairs, kept in the same
// file and the same transactions as the slots:
//
//   recent   the newest keys, in memory only; rebuilt at start from the slots
//   runs     sorted by hash, immutable, 250 entries a page; `recent` becomes a run when full, and
//            `fan_in` runs of a level become one of the next, a few entries in every
//            transaction, so that no request waits for a merge
//   filters  in memory, one per run: exclude all but about 1 % of absent keys; their memory is
//            limited, and the largest runs are read instead when it runs out
//
// Results are exact: a hash only nominates slots, and the caller compares the slot's row. An entry
// may outlive its slot (the reaper removes slots, not entries); merges drop those below
// `oldest_slot`. A page that differs from what was written is a store_failure: a missed key would
// create its task twice.
//
// Threads: the writer's. All work happens inside the caller's transaction, which ends with
// committed() or roll_back(); the latter restores what the transaction changed without reading, so
// that it cannot fail. A reader, on any thread, finds the runs of its own snapshot in the file, and
// asks memory only for the newest keys, which may be newer than the snapshot.

#include "connection.hpp"

#include <callsign/base/keyed_hash.hpp>
#include <callsign/base/strong_id.hpp>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::sqlite {

// Returns the first 64 bits of SHA-256 over account and key: clients cannot choose keys that
// collide. In native byte order, since a file stays on machines of one endianness.
std::uint64_t key_hash(account_id account, std::string_view key);

struct key_index_options {
    std::size_t recent_max = 16'384;
    std::size_t filter_bytes_max = 24u << 20;
    std::size_t fan_in = 4;
    // Entries that each level merges per entry added. A level's next merge is due when as many
    // entries were added as its last one has to merge: 1 would suffice, 2 leaves room.
    std::size_t merged_per_add = 2;
    std::size_t pages_deleted_per_commit = 16;
};

class key_index {
  public:
    key_index(connection& db, key_index_options options);
    ~key_index();
    key_index(const key_index&) = delete;
    key_index& operator=(const key_index&) = delete;

    // Reads the file at start, once. If it throws, the object is unusable.
    void load();

    // Calls visit(slot_id) for each nominated slot, until it returns true.
    void nominate(std::uint64_t hash, const std::function<bool(slot_id)>& visit);

    // As nominate(), for a reader, in the snapshot of `db`. `writer`: of this process; null: none.
    static void nominate_in(connection& db, const key_index* writer, account_id account,
                            std::string_view key, const std::function<bool(slot_id)>& visit);

    // Requires: `id` is larger than any added before.
    void add(std::uint64_t hash, slot_id id);

    // Before COMMIT: writes a full `recent` as a run, continues merges, deletes merged runs.
    void prepare_commit();

    // Each transaction ends with one of these.
    void committed() noexcept;
    void roll_back() noexcept;

    // ---- for tests and check ----
    std::size_t runs() const { return runs_.size(); }
    std::size_t recent() const { return recent_.size(); }
    std::size_t added() const { return added_.size(); }
    std::size_t dead() const { return dead_.size(); }
    std::int64_t through() const { return through_; }
    std::size_t filter_bytes() const { return filter_bytes_; }
    // Returns the entries of the largest run with a filter and of the smallest without one (0:
    // none).
    std::pair<std::int64_t, std::int64_t> filter_border() const;

  private:
    struct entry {
        std::uint64_t hash;
        std::int64_t slot;
        friend auto operator<=>(const entry&, const entry&) = default;
    };
    using page = std::vector<entry>;
    // Keyed: a client that knows its keys could otherwise choose some that share a bucket.
    using recent_keys = boost::unordered_flat_map<std::uint64_t, std::int64_t, keyed_hash>;
    class filter;
    class run;
    class reader;
    struct merge;
    struct before;
    enum class run_state { writing = 1, in_use = 2, dead = 3 };

    static constexpr std::size_t page_entries = 250;  // 4,000 bytes: one row fills a page

    // Nominated slots behind `through`, which a snapshot may not have. `through` -1: memory is not
    // loaded. Any thread.
    struct newest {
        std::int64_t through = -1;
        std::vector<slot_id> nominated{};
    };
    newest nominate_newest(std::uint64_t hash) const;

    bool search(const run& r, std::uint64_t hash, const std::function<bool(slot_id)>& visit);
    page read_page(const run& r, std::int64_t number);
    static page read_page(connection& db, std::int64_t page_id);
    static bool search_in(connection& db, std::int64_t run_id, std::int64_t pages,
                          std::uint64_t hash, const std::function<bool(slot_id)>& visit);
    static page entries_of(std::string_view bytes, std::int64_t page_id);

    std::shared_ptr<run> begin_run(int level, std::size_t keys, std::int64_t through);
    void give_filter(run& r, std::size_t keys);
    run* largest_with_filter();
    void append(run& r, std::span<const entry> page);
    void take_into_use(std::shared_ptr<run> r);
    void put_out_of_use(std::int64_t run_id);

    void remember();
    void flush_recent();
    void begin_merges();
    bool go_on(merge& m, std::size_t budget);
    void finish(merge& m);
    void delete_pages();

    void put_recent(const entry& e);
    void load_run(run& r);

    connection& db_;
    key_index_options options_;

    // Guards recent_ to is_loaded_. Only the writer changes them.
    mutable std::mutex mutex_;
    recent_keys recent_;
    std::vector<entry> recent_twins_;  // equal hashes of different keys: practically never
    std::int64_t through_ = 0;         // the last slot whose entry is in a run
    bool is_loaded_ = false;           // false if load() met corruption: `recent_` is incomplete
    std::vector<entry> added_;         // in this transaction
    bool merges_due_ = false;          // a level may have enough runs

    std::map<std::int64_t, std::shared_ptr<run>> runs_;  // in use, by id
    std::map<int, merge> merges_;                        // at most one per level
    std::vector<std::int64_t> dead_;                     // runs whose pages are yet to be deleted
    std::int64_t next_run_ = 1;
    std::size_t filter_bytes_ = 0;

    std::unique_ptr<before> before_;  // set from prepare_commit() to the transaction's end
};

}  // namespace callsign::sqlite
