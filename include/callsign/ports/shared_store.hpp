#pragma once
// Additional operations of a store that another process may take over.

#include <callsign/base/time.hpp>
#include <callsign/ports/store_failure.hpp>

#include <cstdint>

namespace callsign {

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
    // Number of the last batch that this process has committed. Any thread.
    virtual std::int64_t last_batch() const noexcept = 0;

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
