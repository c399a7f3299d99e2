#pragma once
// What was seen of one class of accounts: how long clients took to come back with a key, and what
// became of slots whose clients were lost. The reaper's window is chosen of it (auto_window.hpp),
// and it says what another window would have done.
//
// Everything counts for less as it gets older, by half in each half-life. The time that counts is
// that in which the server ran, by the clock that is never set: while it does not run it sees no
// retries, and a wrong wall clock makes nothing older. Weights grow with the time at which they are
// added, instead of shrinking afterwards, so a sample costs the same however many there are, and
// how often time is told to pass makes no difference.
//
// No account has more than its say: accounts are dealt into `parts`, and when the window is chosen
// each part counts for no more than `part_max` samples. One that retries a thousand times a second
// fills its own part. What is reported of slots is of all of them, as they were.
//
// Pure. What comes from a disk is a `retry_record`, and is looked at by is_sound().

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/retry_histogram.hpp>
#include <callsign/domain/slot.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace callsign {

// All that is kept of one class. Weights are as of the landmark: worth 2^(age / half_life) less
// now.
struct retry_record {
    static constexpr std::size_t parts = 16;

    milliseconds half_life = std::chrono::hours{24 * 7};
    milliseconds age{0};  // of the landmark
    std::array<retry_histogram, parts> retries{};
    retry_histogram unfinished{};  // of these, what found its slot pending or failed
    double observed_ms = 0;        // time, weighed as samples are
    double failed = 0;             // slots
    double late = 0;               // of them, those whose clients came back
    // What was chosen last; 0: nothing yet. And how long ago.
    milliseconds window{0};
    milliseconds held{0};
    bool derived = false;  // from retries, and not for want of them

    friend bool operator==(const retry_record&, const retry_record&) = default;
};

// Whether it is one that retry_times can have made.
bool is_sound(const retry_record& record) noexcept;

// As it is kept.
struct kept_retry_times {
    account_class accounts = account_class::here;
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

    // Time in which the server ran. Requires: 0 <= span.
    void pass(milliseconds span);
    // What there is weighs as it does now; from here on it decays by another half-life.
    void set_half_life(milliseconds half_life);
    // A retry that counts came so long after its key was reserved, and found the slot in this
    // state.
    void saw(std::size_t part, milliseconds after, slot_state found);
    // The reaper failed so many.
    void failed(std::int64_t slots);
    // All of another's beside its own.
    void add(const retry_times& other);
    // What was chosen, and that it was changed now.
    void choose(milliseconds window, bool derived, bool changed);

    // ---- as of now ----
    // Of all retries, each part counted for no more than `part_max`.
    retry_histogram fair(double part_max) const;
    double samples() const;
    double failed_slots() const { return now(state_.failed); }
    double late_slots() const { return now(state_.late); }

    // What a window would have done to slots whose clients were lost between the two phases, had
    // the clients done as they did. Failed: slots whose clients came back later than that. Pending:
    // how many were pending at a time, on average; those that nobody came back for among them, and
    // not the time until the next sweep.
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
