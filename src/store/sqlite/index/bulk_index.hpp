#pragma once
// Indexes that are written in bulk.
//
// Rows of tasks and versions are appended, in one order for all accounts. An ordinary index of them
// by (counter, number) or (account, seq) takes each new entry at a place of its own: with 1,000
// series every creation of a batch would dirty a page, and SQLite writes each to the WAL. So an
// entry waits in memory first, until there are many, and they enter the index's table in its order,
// a few with each transaction: a page is written once for all that go to it.
//
//   the table   WITHOUT ROWID, (owner, place) -> row, in the same file; it has all entries of rows
//               up to `through` (a column of index_progress), and of later ones those already
//               merged
//   buffers     entries of the rows behind `through`: `merging`, which takes no more, and
//               `newest`, which takes `merging`'s place when that is in the table
//
// A buffer only nominates: whoever reads looks at the row in its own snapshot, and takes no entry
// whose row is not there or says otherwise, nor one up to `through`, which it finds in the table.
// So a buffer may be ahead of a snapshot. It may not be behind: entries are added before their rows
// are committed; a reader whose snapshot is older than the buffers are (a merge ended since)
// collects its entries from the rows themselves, as a start does, and `callsign check`.
//
// Most tasks of a large account are over, and whoever lists the open ones need not look at each row
// that waits: an entry knows the commit since which its row is over. A snapshot has that commit if
// the commits were counted (`commits()`) before it began, and whoever began earlier looks at the
// row.
//
// Threads: bulk_index is the writer's, but view(), which is any thread's. Its work happens inside
// the caller's transaction and ends with it: committed(), or roll_back(), neither of which can
// fail.

#include "connection.hpp"

#include <callsign/ports/table.hpp>

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::sqlite {

// What finds a row: its owner (a counter, an account), and its place there (a number, a seq).
struct index_place {
    std::int64_t owner = 0;
    std::int64_t place = 0;
    friend auto operator<=>(const index_place&, const index_place&) = default;
};
// Where an account was removed and another has its id, the dead rows' places may be had again: old
// snapshots still find the one, new ones the other.
struct index_entry {
    index_place at;
    std::int64_t row = 0;
    friend auto operator<=>(const index_entry&, const index_entry&) = default;

    // Between a place and those beside it.
    static index_entry before(const index_place& place) {
        return {place, std::numeric_limits<std::int64_t>::min()};
    }
    static index_entry behind(const index_place& place) {
        return {place, std::numeric_limits<std::int64_t>::max()};
    }
};

// An index's statements.
struct bulk_table {
    std::string_view of;  // the table of the rows
    const char* name;
    const char* through;      // the row up to which the table has all
    const char* set_through;  // ?
    const char* rows_behind;  // ?: owner, place, row, over, of each behind it, in the rows' order
    const char* put;          // sql::put_at_once: the entries of rows, unless gone or there
    const char* row_at;       // ?, ?: the row of an owner's place
    const char* erase;        // ?, ?: the entry of an owner's place
    const char* turn;         // over: ?, of ?, ?; null: there is nothing that is over
    // Conditions on its parts, each of which is in order by itself; an empty one: all of it is.
    std::vector<std::string_view> parts;
};
extern const bulk_table task_numbers;
extern const bulk_table version_places;
// Of a table that has one.
const bulk_table& bulk_table_of(const table_info& table);

// Which entries a walk goes to, and in what order.
struct index_walk {
    bool descending = false;
    bool open_only = false;
};

// Entries in memory. Thread safe.
class entry_buffer {
  public:
    static constexpr std::int64_t is_open = std::numeric_limits<std::int64_t>::max();

    // Requires: it is not there. `over_since`: a commit, or is_open. True: another row has its
    // place, too.
    bool add(const index_entry& e, std::int64_t over_since);
    void remove(const index_entry& e) noexcept;
    // False: it is not there.
    bool turn(const index_entry& e, std::int64_t over_since) noexcept;
    std::size_t size() const;
    // The same owner's first behind `last`; descending: its last before it. Of open ones only:
    // those that were not over with `commits`.
    std::optional<index_entry> next(const index_entry& last, index_walk walk = {},
                                    std::int64_t commits = 0) const;
    // Whoever's behind `last`, in order: as many as there are and `some` takes.
    std::span<index_entry> behind(const index_entry& last, std::span<index_entry> some) const;

  private:
    struct place_and_row {
        std::int64_t place = 0;
        std::int64_t row = 0;
        std::int64_t over_since = is_open;
        friend bool operator==(const place_and_row& a, const place_and_row& b) {
            return a.place == b.place && a.row == b.row;
        }
        friend auto operator<=>(const place_and_row& a, const place_and_row& b) {
            return std::pair(a.place, a.row) <=> std::pair(b.place, b.row);
        }
    };
    // In order, never empty. An owner's places grow: nearly each is put in at the end. (A set of
    // all entries took a tenth of the writer's time, in misses of the cache.) Where a device brings
    // numbers in another order, one is a move of a megabyte at most (buffered_entries_max).
    using places = std::vector<place_and_row>;

    mutable std::mutex mutex_;
    std::map<std::int64_t, places> owners_;
    std::size_t size_ = 0;
};

// Every entry of the rows behind `after`, and maybe some before it.
struct index_buffers {
    std::int64_t after = std::numeric_limits<std::int64_t>::max();  // nothing is known
    std::array<std::shared_ptr<const entry_buffer>, 2> some;        // or none
};

class bulk_index {
  public:
    // Both outlive it. `entries_max`: when `newest` is full.
    bulk_index(connection& db, const bulk_table& table, std::size_t entries_max);

    // Reads what is there, at start. Once; of no use if it throws.
    void load();

    // Of a row that is new, or has had no entry before. One that is not behind what is merged goes
    // straight into the table: an older one's, or one whose id was had again after a start.
    void add(const index_entry& e, bool over);
    // Over, or open again.
    void turn(const index_entry& e, bool over);
    // Of a row that is gone. One that waits is none without it.
    void erase(const index_place& at);

    // Before COMMIT: goes on merging. `last_row`: the last one there is.
    void prepare_commit(std::int64_t last_row);

    // The transaction's end, one of them.
    void committed() noexcept;
    void roll_back() noexcept;

    index_buffers view() const;
    std::int64_t through() const { return now_.through; }
    // Whatever snapshot begins after the call has these. Any thread's.
    std::int64_t commits() const noexcept { return commits_.load(std::memory_order_acquire); }

    // ---- for tests ----
    bool is_merging() const { return now_.merging != nullptr; }
    std::size_t newest() const { return now_.newest->size(); }

  private:
    // Two entries for each one added: a merge ends when half as many have come as it has.
    static constexpr std::size_t merged_per_add = 2;
    // Fewer at once are not worth their pages.
    static constexpr std::size_t merged_at_once = 64;

    struct progress {
        std::shared_ptr<entry_buffer> newest;
        std::shared_ptr<entry_buffer> merging;  // none: nothing is
        index_entry merged{};                   // up to there
        std::size_t owed = 0;                   // entries to be merged
        std::int64_t through = 0;
        std::int64_t merging_through = 0;  // when `merging` is in the table
    };

    // Into the table, unless they are there or their rows are gone; returns how many went in.
    int put(std::span<const index_entry> some);
    void merge();
    void merge(std::span<const index_entry> some);
    bool is_there(const index_entry& e);
    void turn_waiting(const index_entry& e, std::int64_t over_since) noexcept;

    connection& db_;
    const bulk_table& table_;
    std::size_t entries_max_;
    progress now_;
    progress committed_;
    std::vector<index_entry> added_, turned_;  // in this transaction
    std::atomic<std::int64_t> commits_{0};

    mutable std::mutex mutex_;  // of what follows
    index_buffers view_;
};

// What a transaction sees of an index beside its table. Not thread safe.
class index_view {
  public:
    // Begins the snapshot of `db`, if nothing did. `writer`: of this process; none: it collects the
    // entries from the rows. `commits`: the writer's, counted before the snapshot began.
    index_view(connection& db, const bulk_table& table, const bulk_index* writer,
               std::int64_t commits);

    // The same owner's next entry behind `last`, or descending before it, that is not in the table
    // for sure. Its row is to be looked at; of open ones only, too.
    std::optional<index_entry> next(const index_entry& last, index_walk walk = {}) const;

  private:
    std::int64_t commits_;
    std::int64_t through_;
    index_buffers buffers_;
};

}  // namespace callsign::sqlite
