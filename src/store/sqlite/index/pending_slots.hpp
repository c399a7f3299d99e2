#pragma once
// Which slots are pending, or in flight, without an index of them.
//
// Nearly every slot is pending from one commit to the next. In an index of pending slots each
// creation would write a page to enter it and one to leave it. So of the newest slots, those behind
// `through` (a column of index_progress), the writer remembers which are pending; who reads looks
// at their rows, which are few. When more are behind than the window takes, those that have left it
// and are pending still are listed in the table pending_slots: few, and long-lived.
//
// Threads: the writer's, but for what is static. It happens inside the caller's transaction and
// ends with it: committed(), or roll_back(), neither of which can fail.

#include "tables/tables.hpp"

#include <callsign/base/strong_id.hpp>
#include <callsign/base/uuid.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace callsign::sqlite {

class pending_slots {
  public:
    // `window`: of so many slots at least it is remembered; of twice as many at most.
    pending_slots(connection& db, std::size_t window) : db_(db), window_(window) {}

    // Reads what is there, at start. Once; of no use if it throws.
    void load();

    // Requires: `id` is larger than any added before.
    void add(slot_id id, account_id account, const uuid& task);
    // It is not pending any more.
    void remove(slot_id id);
    // Rows of slots_open and slots_waiting, as fetch_row() and scan_rows(). `writer`: whose
    // transaction it is; null: a reader's. Requires: a range is not descending, and one of
    // slots_waiting gives a task.
    static row_ptr fetch(connection& db, const index_info& index, const row_key& key);
    static row_page scan(connection& db, const pending_slots* writer, const row_range& range);

    // Before COMMIT. `last_slot`: the last id given.
    void prepare_commit(std::int64_t last_slot);

    // The transaction's end, one of them.
    void committed() noexcept;
    void roll_back() noexcept;

    // ---- for tests ----
    std::size_t remembered() const { return newest_.size(); }
    std::int64_t through() const { return through_; }

  private:
    struct entry {
        std::int64_t slot;
        account_id account;
        uuid task;
    };

    void change();
    // The task that a range of slots_waiting is of; none: it is of all that are open.
    static std::optional<entry> task_of(const row_range& range);

    connection& db_;
    std::size_t window_;
    std::vector<entry> newest_;  // pending, behind `through_`, by slot
    std::int64_t through_ = 0;
    // As it was, once something is changed.
    std::vector<entry> was_;
    std::int64_t was_through_ = 0;
    bool changed_ = false;
};

}  // namespace callsign::sqlite
