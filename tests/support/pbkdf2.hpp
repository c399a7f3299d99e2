// OpenSSL's PBKDF2, counted and remembered: a program that has pbkdf2.cpp among its sources has it
// in place of the library's. A derivation takes a quarter of a second, an order more under
// AddressSanitizer, and many tests ask for the same one.

#pragma once

namespace callsign::testing {

// How many keys were derived in this process, remembered ones among them. Any thread.
int derivations() noexcept;

}  // namespace callsign::testing
