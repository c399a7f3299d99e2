#pragma once
// CALLSIGN_ASSERT checks an internal invariant, in release builds too, and ends the process if it
// does not hold: a server whose state is inconsistent must not write. Never used for input.

namespace callsign {

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace callsign

#define CALLSIGN_ASSERT(expression) \
    (static_cast<bool>(expression)  \
         ? void(0)                  \
         : ::callsign::assertion_failed(#expression, __FILE__, __LINE__))
