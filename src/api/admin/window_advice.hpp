#pragma once
// What an operator is told of the reaper's windows, in sentences with numbers.

#include <callsign/reaper/reaper.hpp>

#include <string>

namespace callsign::api {

// Why it is what it is.
std::string reason_text(const window_status& window, const auto_window_options& options);

// Which way to turn it. Too short shows as slots that were failed and whose clients came back; too
// long as slots that wait for nobody; a slot past the window means that sweeps do not keep up.
// `oldest_age`: of the oldest slot that is pending.
std::string advise(const reaper_status& status, milliseconds oldest_age);

}  // namespace callsign::api
