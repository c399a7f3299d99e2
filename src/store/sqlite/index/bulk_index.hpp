#pragma once
// Bulk indexes: index entries are buffered in memory and written many at once.
//
// Rows of tasks and versions are appended, in one order for all accounts. An ordinary index of them
// by (counter, number) or (account, seq) would insert each entry at a place of its own: with 1,000
// series every creation of a batch would dirty a page, and SQLite writes each to the WAL. Entries
// are therefore buffered, and merged into the index's table in its order, a few with each
// transaction: a page is written once for all entries that belong to it.
//
//   the table   WITHOUT ROWID, (owner, place) -> row, in the same file; it has all entries of rows
//               up to `through` (a column of index_progress), and those of later rows that were
//               merged already
//   buffers     entries of the rows behind `through`: `merging`, which accepts no more, and
//               `newest`, which replaces `merging` when that is in the table
//
// A buffer only nominates: a reader looks at the row in its own snapshot, and ignores an entry
// whose row does not exist or differs, and one up to `through`, which it finds in the table. A
// buffer may therefore be newer than a snapshot, but not older: entries are added before their rows
// are committed. A reader whose snapshot is older than the buffers (a merge ended since) collects
// the entries from the rows, as a start and `callsign check` do.
//
// Most tasks of a large account are closed, and a reader that lists open ones need not look at each
// buffered row: an entry holds the commit that closed its row. A snapshot has that commit if
// commits() was read before it began; a reader that began earlier looks at the row.
//
// Threads: bulk_index is the writer's, except view() and commits(), which any thread may call. Its
// work happens inside the caller's transaction, which ends with committed() or roll_back(); neither
// can fail.

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

// Key of a row: its owner (a counter, an account) and its place there (a number, a seq).
struct index_place {
    std::int64_t owner = 0;
    std::int64_t place = 0;
    friend auto operator<=>(const index_place&, const index_place&) = default;
};
// Includes the row: a place can be reused after its row was removed. Old snapshots find the removed
// row there, new ones the other.
struct index_entry {
    index_place at;
    std::int64_t row = 0;
    friend auto operator<=>(const index_entry&, const index_entry&) = default;

    // Positions between a place and its neighbours.
    static index_entry before(const index_place& place) {
        return {place, std::numeric_limits<std::int64_t>::min()};
    }
    static index_entry behind(const index_place& place) {
        return {place, std::numeric_limits<std::int64_t>::max()};
    }
};

// An index's names and statements.
struct bulk_table {
    std::string_view of;  // table of the indexed rows
    const char* name;
    const char* through;      // row up to which the table has all entries
    const char* set_through;  // ?
    const char* rows_behind;  // of rows after ?, in order: owner, place, row, over
    const char* put;          // sql::put_at_once rows: inserts missing entries of existing rows
    const char* row_at;       // owner ?, place ?: the row
    const char* erase;        // owner ?, place ?
    const char* turn;         // over ?, owner ?, former over ?, place ?; null: rows never close
    // Conditions for the table's parts, each of which is in order by itself; an empty one: the
    // whole table is in order.
    std::vector<std::string_view> parts;
};
extern const bulk_table task_numbers;
extern const bulk_table version_places;
// Requires: the table has a bulk index.
const bulk_table& bulk_table_of(const table_info& table);

// Direction of a walk, and whether it visits open rows only.
struct index_walk {
    bool descending = false;
    bool open_only = false;
};

// Buffered entries. Thread safe.
class entry_buffer {
  public:
    static constexpr std::int64_t is_open = std::numeric_limits<std::int64_t>::max();

    // `over_since`: the commit that closes the row, or is_open. Returns whether another row has the
    // same place. Requires: the entry does not exist.
    bool add(const index_entry& e, std::int64_t over_since);
    void remove(const index_entry& e) noexcept;
    // Returns false if the entry does not exist.
    bool turn(const index_entry& e, std::int64_t over_since) noexcept;
    std::size_t size() const;
    // Returns the same owner's first entry behind `last`; descending: its last entry before it.
    // With open_only: of rows that `commits` commits had not closed.
    std::optional<index_entry> next(const index_entry& last, index_walk walk = {},
                                    std::int64_t commits = 0) const;
    // Returns entries of all owners behind `last`, in order, as many as `some` holds.
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
    // In order, never empty. An owner's places grow, so nearly every insertion is at the end. (A
    // set of all entries took a tenth of the writer's time in cache misses.) If a device's numbers
    // come in another order, an insertion moves at most a megabyte (buffered_entries_max).
    using places = std::vector<place_and_row>;

    mutable std::mutex mutex_;
    std::map<std::int64_t, places> owners_;
    std::size_t size_ = 0;
};

// All entries of rows behind `after`, and possibly earlier ones.
struct index_buffers {
    std::int64_t after = std::numeric_limits<std::int64_t>::max();  // none known
    std::array<std::shared_ptr<const entry_buffer>, 2> some;        // may be null
};

class bulk_index {
  public:
    // Both outlive this object. `entries_max`: size at which `newest` is full.
    bulk_index(connection& db, const bulk_table& table, std::size_t entries_max);

    // Reads the file at start, once. If it throws, the object is unusable.
    void load();

    // Adds the entry of a row that had none. Inserts it into the table if the row is not newer than
    // the merged ones, such as a task that is numbered late.
    void add(const index_entry& e, bool over);
    // Marks a row closed, or open again.
    void turn(const index_entry& e, bool over);
    // Removes a row's entry from the table. A buffered entry has no effect without its row.
    void erase(const index_place& at);

    // Before COMMIT: continues merging. `last_row`: the last row that exists.
    void prepare_commit(std::int64_t last_row);

    // Each transaction ends with one of these.
    void committed() noexcept;
    void roll_back() noexcept;

    index_buffers view() const;
    std::int64_t through() const { return now_.through; }
    // Returns the number of commits. Every snapshot that begins after the call has them. Any
    // thread.
    std::int64_t commits() const noexcept { return commits_.load(std::memory_order_acquire); }

    // ---- for tests ----
    bool is_merging() const { return now_.merging != nullptr; }
    std::size_t newest() const { return now_.newest->size(); }

  private:
    // Entries merged per entry added: a merge of n entries ends after n/2 new ones.
    static constexpr std::size_t merged_per_add = 2;
    // Fewer at once would not be worth the pages written.
    static constexpr std::size_t merged_at_once = 64;

    struct progress {
        std::shared_ptr<entry_buffer> newest;
        std::shared_ptr<entry_buffer> merging;  // null: no merge in progress
        index_entry merged{};                   // last merged entry
        std::size_t owed = 0;                   // entries to be merged
        std::int64_t through = 0;
        std::int64_t merging_through = 0;  // `through` after the merge
    };

    // Inserts entries into the table, unless they exist or their rows do not. Returns how many were
    // inserted.
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

    mutable std::mutex mutex_;  // guards view_
    index_buffers view_;
};

// A transaction's view of the buffered entries. Not thread safe.
class index_view {
  public:
    // Begins the snapshot of `db` if it has not begun. `writer`: of this process; null: collects
    // the entries from the rows. `commits`: the writer's, read before the snapshot began.
    index_view(connection& db, const bulk_table& table, const bulk_index* writer,
               std::int64_t commits);

    // Returns the same owner's next entry behind `last`, or before it if descending, that may be
    // missing in the table. Requires: the caller looks at its row, with open_only too.
    std::optional<index_entry> next(const index_entry& last, index_walk walk = {}) const;

  private:
    std::int64_t commits_;
    std::int64_t through_;
    index_buffers buffers_;
};

}  // namespace callsign::sqlite
