#pragma once
// CALLSIGN_ASSERT: broken code, on in release too. It ends the process: a server that has lost
// track of its own state must not go on writing. Never used for input.

namespace callsign {

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace callsign

#define CALLSIGN_ASSERT(expression) \
    (static_cast<bool>(expression)  \
         ? void(0)                  \
         : ::callsign::assertion_failed(#expression, __FILE__, __LINE__))
