#pragma once
// Why a store cannot continue.

#include <cstdint>
#include <stdexcept>
#include <string>

namespace callsign {

class store_failure : public std::runtime_error {
  public:
    // Nothing of the transaction became durable, unless `unknown`. No text has task content.
    enum class kind {
        rejected,     // temporarily
        full,         // the disk is full
        io_error,     // a write failed
        read_only,    // nothing may be written
        read_failed,  // a read failed; another one may succeed
        damaged,      // a row is invalid or contradicts others; the text names it
        corrupt,      // pages are corrupt: writing is not safe
        unknown,      // COMMIT failed and its outcome is unknown: stop writing
        moved,        // another server owns the store: stop
    };

    store_failure(kind reason, const std::string& text)
        : std::runtime_error(text), reason_(reason) {}

    kind reason() const noexcept { return reason_; }
    // The same may succeed later.
    bool is_transient() const noexcept {
        return reason_ == kind::rejected || reason_ == kind::read_failed || is_lasting();
    }
    // Another read will most likely have the same result.
    bool is_damage() const noexcept { return reason_ == kind::damaged || reason_ == kind::corrupt; }
    // The next write, whatever it is, will most likely fail for the same reason.
    bool is_lasting() const noexcept {
        return reason_ == kind::full || reason_ == kind::io_error || reason_ == kind::read_only;
    }

  private:
    kind reason_;
};

// For rows that contradict each other: data from the disk is input, not an invariant. Thrown while
// a command is applied, it rejects that command only.
[[noreturn]] inline void throw_damaged(const std::string& table, std::int64_t row,
                                       const std::string& why) {
    throw store_failure(store_failure::kind::damaged,
                        "damaged: " + table + ", row " + std::to_string(row) + ": " + why);
}

}  // namespace callsign
