#pragma once
// Why a store cannot go on.

#include <cstdint>
#include <stdexcept>
#include <string>

namespace callsign {

class store_failure : public std::runtime_error {
  public:
    // Nothing of the transaction became durable, unless it is unknown. No text holds what tasks
    // say.
    enum class kind {
        refused,      // for now
        full,         // the disk has no room
        io_error,     // it could not be written
        read_only,    // nothing may be written
        read_failed,  // the disk gave no answer; another read may have one
        damaged,      // a row cannot be, or contradicts others; the text names it
        corrupt,      // pages are not what was written there: nothing is safe to be written
        unknown,      // COMMIT failed and it is not known whether it took: stop writing
    };

    store_failure(kind reason, const std::string& text)
        : std::runtime_error(text), reason_(reason) {}

    kind reason() const noexcept { return reason_; }
    // The same may succeed another time.
    bool is_transient() const noexcept {
        return reason_ == kind::refused || reason_ == kind::read_failed || is_lasting();
    }
    // Another read will most likely find the same.
    bool is_damage() const noexcept { return reason_ == kind::damaged || reason_ == kind::corrupt; }
    // The next write will most likely fail for the same reason, whatever it is.
    bool is_lasting() const noexcept {
        return reason_ == kind::full || reason_ == kind::io_error || reason_ == kind::read_only;
    }

  private:
    kind reason_;
};

// For rows that contradict each other: data from the disk is input, not an invariant. Thrown while
// a command is applied, it refuses that command alone.
[[noreturn]] inline void throw_damaged(const std::string& table, std::int64_t row,
                                       const std::string& why) {
    throw store_failure(store_failure::kind::damaged,
                        "damaged: " + table + ", row " + std::to_string(row) + ": " + why);
}

}  // namespace callsign
