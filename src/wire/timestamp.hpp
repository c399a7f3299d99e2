#pragma once

#include <callsign/base/instant_bounds.hpp>

#include <google/protobuf/timestamp.pb.h>

namespace callsign::wire {

// Whether the Timestamp is valid by protobuf's definition.
inline bool is_timestamp(const google::protobuf::Timestamp& at) noexcept {
    return is_instant_in_seconds(at.seconds()) && at.nanos() >= 0 && at.nanos() < 1'000'000'000;
}

}  // namespace callsign::wire
