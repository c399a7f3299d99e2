#pragma once
// IDs from a counter: the same commands generate the same IDs.

#include <callsign/rules/rules.hpp>

#include <cstdint>

namespace callsign::testing {

class counted_ids final : public rules::id_source {
  public:
    // Like real IDs, they differ before their last bytes.
    uuid next(time_point now) override {
        ++drawn_;
        return make_uuid_v7(now, static_cast<std::uint32_t>(drawn_ & 0x3FFFF), drawn_);
    }

  private:
    std::uint64_t drawn_ = 0;
};

}  // namespace callsign::testing
