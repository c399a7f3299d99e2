#pragma once
// Generates UUIDv7s that sort in the order of generation.

#include <callsign/ports/entropy.hpp>
#include <callsign/rules/rules.hpp>

#include <array>
#include <cstring>

namespace callsign {

class time_ordered_ids final : public rules::id_source {
  public:
    explicit time_ordered_ids(entropy& source) : source_(source) {}

    uuid next(time_point now) override {
        if (now > at_) {
            at_ = now;
            counter_ = 0;
        } else if (++counter_ == counter_end) {
            // More ids than a millisecond holds: borrow from the next one (RFC 9562 section 6.2).
            at_ += milliseconds{1};
            counter_ = 0;
        }
        return make_uuid_v7(at_, counter_, random());
    }

  private:
    static constexpr std::uint32_t counter_end = 1u << 18;

    // Read in blocks: one system call for 512 IDs.
    std::uint64_t random() {
        if (used_ == block_.size()) {
            source_.fill(block_);
            used_ = 0;
        }
        std::uint64_t value = 0;
        std::memcpy(&value, block_.data() + used_, sizeof value);
        used_ += sizeof value;
        return value;
    }

    entropy& source_;
    time_point at_{};
    std::uint32_t counter_ = 0;
    std::array<std::uint8_t, 4096> block_{};
    std::size_t used_ = block_.size();
};

}  // namespace callsign
