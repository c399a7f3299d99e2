#pragma once
// Additional operations of a store that another process may take over.

#include <callsign/base/time.hpp>
#include <callsign/ports/store_failure.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace callsign {

// What a round trip to the database is for.
enum class trip : std::uint8_t {
    commit,     // a batch
    prefetch,   // the rows of a batch
    miss,       // a row that a batch needed besides
    read,       // a read outside the writer
    heartbeat,  // a row of the batch log without a batch
};
inline constexpr std::size_t trips_size = static_cast<std::size_t>(trip::heartbeat) + 1;

// Since this process owns the store.
struct shared_store_usage {
    time_point taken_over_at{};
    std::int64_t last_row = 0;  // of the batch log, by this process
    std::array<std::uint64_t, trips_size> trips{};
};

// Interval at which keep() is called.
inline constexpr milliseconds keep_interval{500};

class shared_store {
  public:
    virtual ~shared_store() = default;

    // This process owns the store, and no other can have taken it over yet: what is known of the
    // store is true. Any thread.
    virtual bool is_held() const noexcept = 0;
    // Shows other processes that this one is alive. Throws store_failure, as a commit does.
    // Writer's thread, between transactions.
    virtual void keep() = 0;
    // As keep(), but always writes.
    virtual void prove_writable() = 0;
    // Any thread.
    virtual shared_store_usage usage() const noexcept = 0;

    // The database has lost committed batches, up to this one; zero: none. Series must be held, as
    // after a restore. Any thread, as the next.
    virtual std::int64_t lost_through() const noexcept = 0;
    // The series are held.
    virtual void forget_loss() noexcept = 0;

    // Ends the ownership after a move (log_options::moves): servers may serve the store, or it is
    // not here any more. Writer's thread.
    virtual void finish_move(bool is_here) noexcept = 0;
};

}  // namespace callsign
