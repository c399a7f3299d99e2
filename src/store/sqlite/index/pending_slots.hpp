#pragma once
// Tracks open slots (pending or in flight) without an index of them.
//
// Nearly every slot is pending only from one commit to the next: an index would write a page when
// it enters and another when it leaves. The writer therefore remembers which of the newest slots,
// those behind `through` (a column of index_progress), are open; a reader looks at their rows,
// which are few. When more slots are behind `through` than the window allows, those that leave the
// window and are still open are listed in the table pending_slots; they are few and long-lived.
//
// Threads: the writer's, except static functions. Its work happens inside the caller's transaction,
// which ends with committed() or roll_back(); neither can fail.

#include "tables/tables.hpp"

#include <callsign/base/strong_id.hpp>
#include <callsign/base/uuid.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace callsign::sqlite {

class pending_slots {
  public:
    // `window`: minimum number of newest slots that are remembered; the maximum is twice that.
    pending_slots(connection& db, std::size_t window) : db_(db), window_(window) {}

    // Reads the file at start, once. If it throws, the object is unusable.
    void load();

    // Requires: `id` is larger than any added before.
    void add(slot_id id, account_id account, const uuid& task);
    // The slot is no longer open.
    void remove(slot_id id);
    // Return rows of slots_open and slots_waiting, as fetch_row() and scan_rows(). `writer`: of the
    // writer's transaction; null: a reader's. Requires: a range is ascending; one of slots_waiting
    // names a task.
    static row_ptr fetch(connection& db, const index_info& index, const row_key& key);
    static row_page scan(connection& db, const pending_slots* writer, const row_range& range);

    // Before COMMIT. `last_slot`: the last ID assigned.
    void prepare_commit(std::int64_t last_slot);

    // Each transaction ends with one of these.
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
    // Returns the task of a range of slots_waiting; none: the range is of all open slots.
    static std::optional<entry> task_of(const row_range& range);

    connection& db_;
    std::size_t window_;
    std::vector<entry> newest_;  // open, behind `through_`, by slot
    std::int64_t through_ = 0;
    // State before the first change.
    std::vector<entry> was_;
    std::int64_t was_through_ = 0;
    bool changed_ = false;
};

}  // namespace callsign::sqlite
