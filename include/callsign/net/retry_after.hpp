#pragma once

#include <callsign/base/time.hpp>
#include <callsign/net/http_client.hpp>

#include <chrono>

namespace callsign::net {

inline constexpr std::chrono::seconds retry_after_max = std::chrono::days{1};

// How long the server asks to be left alone (RFC 9110 section 10.2.3): seconds, or a date, which
// is held against the answer's own Date, so that neither clock need be right. 0: it does not say,
// or nothing that can be read.
milliseconds retry_after(const http_answer& answer);

}  // namespace callsign::net
