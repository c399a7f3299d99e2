#pragma once
// What a version says of tasks that were purged.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/version.hpp>

#include <cstdint>
#include <span>
#include <unordered_map>

namespace callsign::rules {

class purged_text {
  public:
    // Of one account.
    explicit purged_text(std::span<const purge> tasks);

    // Removes it: operations keep their places. False: there is none.
    bool scrub(version& v) const;
    // The last version that may have any.
    std::int64_t last_seq() const noexcept { return last_seq_; }

  private:
    std::unordered_map<uuid, std::int64_t, keyed_hash> through_;
    std::int64_t last_seq_ = 0;
};

}  // namespace callsign::rules
