// OpenSSL's PBKDF2 with a counter and a cache: replaces the library's in programs whose sources
// include pbkdf2.cpp. A derivation takes a quarter of a second, ten times as long under
// AddressSanitizer, and many tests need the same one.

#pragma once

namespace callsign::testing {

// Number of keys derived in this process, including cached ones. Any thread.
int derivations() noexcept;

}  // namespace callsign::testing
