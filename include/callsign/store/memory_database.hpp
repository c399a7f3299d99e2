#pragma once
// A database in memory that several servers share by a batch log, for simulations: its calls fail
// as the caller decides, and it can lose what it had committed.
//
// Threads: one.

#include <callsign/ports/clock.hpp>
#include <callsign/ports/store.hpp>
#include <callsign/store/batch_log.hpp>
#include <callsign/store/standby_store.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace callsign {

// What becomes of an attempt to append a row.
enum class append_fate {
    answered,
    rejected,    // store_failure: nothing was written
    lost,        // no answer; nothing was written
    unanswered,  // no answer; written
    late,        // no answer; written later, by land_late(), if the log has not gone on
};

struct memory_link {
    std::function<append_fate(const log_row&)> fate;
    // False: reads of the log throw store_failure.
    std::function<bool()> reads;
    // Called while an unknown outcome is being decided.
    std::function<void(milliseconds)> pause;
    log_options log{};
};

class memory_database {
  public:
    virtual ~memory_database() = default;

    // A server's end. `clock` and the database outlive it and its store.
    virtual std::unique_ptr<standby_store> connect(clock& clock, const uuid& owner,
                                                   memory_link link) = 0;
    // Writes what is late.
    virtual void land_late() = 0;
    // As a failover to a synchronous standby: loses the last rows if they were never acknowledged.
    virtual void fail_over() = 0;
    // As one to an asynchronous standby: loses all rows after n.
    virtual void lose_after(std::int64_t n) = 0;
    virtual const std::vector<log_row>& log() const = 0;
    // Reads the committed state.
    virtual std::unique_ptr<read_tx> read() = 0;
};

std::unique_ptr<memory_database> make_memory_database();

}  // namespace callsign
