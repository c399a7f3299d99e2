#pragma once
// Advice for operators on the reaper's windows, in sentences with numbers.

#include <callsign/reaper/reaper.hpp>

#include <string>

namespace callsign::api {

// Returns why the window has its length.
std::string reason_text(const window_status& window, const auto_window_options& options);

// Returns how to change the window. Too short: slots were failed and their clients came back. Too
// long: abandoned slots stay pending. A slot older than the window: sweeps do not keep up.
// `oldest_age`: of the oldest pending slot.
std::string advise(const reaper_status& status, milliseconds oldest_age);

}  // namespace callsign::api
