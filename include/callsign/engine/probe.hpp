#pragma once
// What the engine tells of itself. Methods are named for events; what counts them is platform's
// affair. The defaults do nothing. Called on the thread named; must not block.

#include <callsign/base/time.hpp>
#include <callsign/ports/store.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

namespace callsign {

class engine_probe {
  public:
    virtual ~engine_probe() = default;

    // ---- network thread ----
    virtual void queue_depth_changed(std::size_t /*depth*/) {}
    // Something was not begun, for want of this.
    enum class lacking { depth, bytes, account_depth, account_bytes, time };
    virtual void turned_away(lacking /*resource*/) {}
    enum class create_outcome {
        created,
        replayed,
        existing,
        failed,
        conflict,
        in_progress,
        refused
    };
    virtual void create_answered(create_outcome /*outcome*/) {}
    // A retry arrived this long after its key was reserved; `late`: the reaper had failed the slot.
    virtual void retry_seen(milliseconds /*after*/, bool /*late*/) {}
    // Something was refused because its account has as much of this as it may.
    virtual void account_full(account_limit /*limit*/) {}
    // Writes are refused from now on, and why; or nothing stands in their way any more.
    virtual void write_trouble_changed(const std::optional<store_failure>& /*now*/) {}
    // A command or a query was refused for what it could not read: a failed read, or damage.
    virtual void read_failed(const store_failure& /*why*/) {}
    // `commit` is the time from COMMIT until it was durable, `batch` the whole, from the first
    // command on.
    virtual void batch_committed(std::size_t /*commands*/, std::chrono::nanoseconds /*batch*/,
                                 std::chrono::nanoseconds /*commit*/) {}

    // ---- writer thread ----
    // The wall clock was set forwards.
    virtual void clock_jumped(milliseconds /*by*/) {}
    virtual void batch_failed(std::size_t /*commands*/) {}
    virtual void slots_counted(const slot_counts& /*counts*/) {}
    virtual void totals_counted(const store_totals& /*totals*/) {}
};

}  // namespace callsign
