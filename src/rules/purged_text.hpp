#pragma once
// Text of purged tasks in versions.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/version.hpp>

#include <cstdint>
#include <span>
#include <unordered_map>

namespace callsign::rules {

class purged_text {
  public:
    // `tasks`: purges of one account.
    explicit purged_text(std::span<const purge> tasks);

    // Removes the text; operations keep their places. Returns false if there was none.
    bool scrub(version& v) const;
    // Returns the seq of the last version that may have such text.
    std::int64_t last_seq() const noexcept { return last_seq_; }

  private:
    std::unordered_map<uuid, std::int64_t, keyed_hash> through_;
    std::int64_t last_seq_ = 0;
};

}  // namespace callsign::rules
