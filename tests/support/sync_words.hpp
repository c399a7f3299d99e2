#pragma once
// Constants of the sync protocol.

namespace callsign::testing {

inline constexpr const char* segment_type = "application/vnd.taskchampion.history-segment";
inline constexpr const char* snapshot_type = "application/vnd.taskchampion.snapshot";
inline constexpr const char* nil_id = "00000000-0000-0000-0000-000000000000";

}  // namespace callsign::testing
