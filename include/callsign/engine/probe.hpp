#pragma once
// Receives events of the engine, for metrics and logs. The defaults do nothing. Called on the
// thread named; must not block.

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
    // A request was rejected before it began, for lack of this.
    enum class limit { depth, bytes, account_depth, account_bytes, time };
    virtual void rejected(limit /*resource*/) {}
    enum class create_outcome {
        created,
        replayed,
        existing,
        failed,
        conflict,
        in_progress,
        rejected
    };
    virtual void create_answered(create_outcome /*outcome*/) {}
    // A retry came this long after its key was reserved; `late`: the reaper had failed the slot.
    virtual void retry_seen(milliseconds /*after*/, bool /*late*/) {}
    // A request was rejected because its account has reached this limit.
    virtual void account_full(account_limit /*limit*/) {}
    // Writes are rejected from now on, and why; none: they succeed again.
    virtual void write_failure_changed(const std::optional<store_failure>& /*now*/) {}
    // A command or a query was rejected because of a failed read or corruption.
    virtual void read_failed(const store_failure& /*why*/) {}
    // `commit`: from COMMIT until it was durable; `batch`: from the first command until then.
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
