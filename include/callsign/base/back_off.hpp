#pragma once
// Exponential back-off (RFC 9110 section 10.2.3 says what a server may ask for).

#include <callsign/base/time.hpp>

#include <algorithm>
#include <cstdint>

namespace callsign {

struct back_off {
    milliseconds first{0};
    milliseconds longest{0};

    // Returns the pause after so many failures in a row. `asked`: the server's Retry-After.
    // `drawn`: random; a jitter of a tenth keeps those that failed together from retrying together.
    milliseconds after(std::int64_t failures, std::uint8_t drawn, milliseconds asked = {}) const {
        milliseconds pause = first;
        for (std::int64_t n = 1; n < failures && pause < longest; ++n) pause *= 2;
        pause = std::min(std::max(pause, asked), longest);
        return pause * (900 + drawn * 200 / 255) / 1000;
    }
};

}  // namespace callsign
