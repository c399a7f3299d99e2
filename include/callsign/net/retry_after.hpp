#pragma once

#include <callsign/base/time.hpp>
#include <callsign/net/http_client.hpp>

#include <chrono>

namespace callsign::net {

inline constexpr std::chrono::seconds retry_after_max = std::chrono::days{1};

// Returns the pause that the server asks for in Retry-After (RFC 9110 section 10.2.3), up to
// retry_after_max: seconds, or a date, which is compared with the response's own Date, so that
// neither clock need be right. 0: absent or invalid.
milliseconds retry_after(const http_answer& answer);

}  // namespace callsign::net
