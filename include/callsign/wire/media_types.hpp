#pragma once
// The media types of requests and responses.

#include <string_view>

namespace callsign::wire::media_type {

inline constexpr std::string_view json = "application/json";
inline constexpr std::string_view protobuf = "application/x-protobuf";
// As some clients name it.
inline constexpr std::string_view protobuf_alias = "application/protobuf";
inline constexpr std::string_view merge_patch = "application/merge-patch+json";  // RFC 7396
inline constexpr std::string_view problem = "application/problem+json";          // RFC 9457
inline constexpr std::string_view yaml = "application/yaml";                     // RFC 9512
inline constexpr std::string_view octets = "application/octet-stream";
// Of TaskChampion's sync protocol.
inline constexpr std::string_view segment = "application/vnd.taskchampion.history-segment";
inline constexpr std::string_view snapshot = "application/vnd.taskchampion.snapshot";

}  // namespace callsign::wire::media_type
