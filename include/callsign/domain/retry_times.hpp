#pragma once
// Observations of one class of accounts: the times after which clients retried, and the outcomes of
// slots whose clients were lost. The reaper's window is derived from them (auto_window.hpp), and
// the outcomes of other windows are estimated.
//
// The weight of an observation halves with each half-life. Only time in which the server ran
// counts, by the monotonic clock: a stopped server sees no retries, and a wrong wall clock ages
// nothing. Instead of shrinking all weights, later observations get larger ones: a sample costs the
// same however many there are, and the result does not depend on how often pass() is called.
//
// No account dominates: accounts are distributed over `parts`, and when the window is chosen each
// part counts for at most `part_max` samples. A client that retries a thousand times a second fills
// only its own part. Counts of slots are not limited in this way.
//
// Pure. A `retry_record` from disk must be verified with is_sound().

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/retry_histogram.hpp>
#include <callsign/domain/slot.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace callsign {

// All that is stored of one class. Weights are as of the landmark; the present value of one is
// weight / 2^(age / half_life).
struct retry_record {
    static constexpr std::size_t parts = 16;

    milliseconds half_life = std::chrono::hours{24 * 7};
    milliseconds age{0};  // time since the landmark
    std::array<retry_histogram, parts> retries{};
    retry_histogram unfinished{};  // retries whose slot was not committed
    double observed_ms = 0;        // observed time, weighted as samples are
    double failed = 0;             // slots
    double late = 0;               // failed slots whose clients came back
    // The window chosen last (0: none yet), and the time since it changed.
    milliseconds window{0};
    milliseconds held{0};
    bool derived = false;  // from samples; false: the fallback

    friend bool operator==(const retry_record&, const retry_record&) = default;
};

// Whether retry_times can have made the record.
bool is_sound(const retry_record& record) noexcept;

// The record of a class, as it is stored.
struct kept_retry_times {
    account_class accounts = account_class::local;
    retry_record record;
};

class retry_times {
  public:
    static constexpr std::size_t parts = retry_record::parts;
    static constexpr std::size_t part_of(account_id account) noexcept {
        return static_cast<std::uint64_t>(account.value) % parts;
    }

    explicit retry_times(milliseconds half_life) { state_.half_life = half_life; }
    // Requires: is_sound().
    explicit retry_times(const retry_record& record) : state_(record) {}

    const retry_record& record() const noexcept { return state_; }

    // Adds time in which the server ran. Requires: 0 <= span.
    void pass(milliseconds span);
    // Present weights are unchanged; from now on they halve with the new half-life.
    void set_half_life(milliseconds half_life);
    // Adds a retry, `after` the reservation of its key, that found the slot in this state.
    void saw(std::size_t part, milliseconds after, slot_state found);
    // The reaper failed this many slots.
    void failed(std::int64_t slots);
    // Adds all observations of the other.
    void add(const retry_times& other);
    // Records the window chosen, and whether it has changed now.
    void choose(milliseconds window, bool derived, bool changed);

    // ---- present values ----
    // Returns all retries, with at most `part_max` samples for each part.
    retry_histogram fair(double part_max) const;
    double samples() const;
    double failed_slots() const { return now(state_.failed); }
    double late_slots() const { return now(state_.late); }

    // Estimates what a window would have done to slots whose clients were lost between the two
    // phases, if the clients had behaved the same. failed: slots whose clients retried later than
    // the window. pending: pending slots on average, including those that were never retried, but
    // without the time until the next sweep.
    struct outcome {
        double failed = 0;
        double pending = 0;
    };
    outcome with(milliseconds window) const;

  private:
    double scale() const noexcept;
    double now(double weight) const noexcept { return weight / scale(); }
    void move_landmark();

    retry_record state_;
};

}  // namespace callsign
