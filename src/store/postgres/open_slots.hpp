#pragma once
// Open slots (pending or in flight), in memory, without an index of them.
//
// Nearly every slot is pending only from one commit to the next: an index would be written when it
// enters and again when it leaves. Slots behind `through` (batches.pending_through) are found by
// their state at a takeover; when more than `window` of the newest slots are behind it, those that
// leave the window and are still open are listed in pending_slots; they are few and long-lived.
//
// Threads: the writer's.

#include <callsign/ports/tables/slots.hpp>
#include <callsign/ports/unit_of_work.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace callsign::postgres {

class open_slots {
  public:
    explicit open_slots(std::int64_t window) : window_(window) {}

    void load(std::int64_t through, std::span<const row_ptr> slots);

    // IDs of the open slots of a range of slots_open or slots_waiting, in order. Requires: it is
    // ascending, and one of slots_waiting names a task.
    std::vector<std::int64_t> in(const row_range& range) const;

    // What a batch changes in pending_slots.
    struct list_changes {
        std::int64_t through = 0;
        std::vector<std::int64_t> listed{};
        std::vector<std::int64_t> removed{};
    };
    // `changes` of slots, or null. `last_slot`: the last ID assigned.
    list_changes foresee(const table_changes* changes, std::int64_t last_slot) const;
    // The batch was committed.
    void committed(const table_changes* changes, const list_changes& list);

  private:
    // By task, account and ID.
    using place = row_key;

    static place place_of(const slot& s) { return *info_of<slots_waiting>().key_of(&s); }
    static bool was_open(const row_change& c);
    static bool is_open_now(const row_change& c);

    std::int64_t window_;
    std::int64_t through_ = 0;
    std::set<std::int64_t> ids_;
    std::map<place, std::int64_t> by_task_;
};

}  // namespace callsign::postgres
