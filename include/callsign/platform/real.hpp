#pragma once
// The real clock and the operating system's entropy.

#include <callsign/ports/clock.hpp>
#include <callsign/ports/entropy.hpp>

#include <memory>

namespace callsign::platform {

std::unique_ptr<clock> make_real_clock();
std::unique_ptr<entropy> make_real_entropy();

}  // namespace callsign::platform
