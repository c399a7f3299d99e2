#pragma once
// Reporting of errors. Names from the client are returned to it, so their length is limited.

#include <callsign/wire/message.hpp>

#include <string>
#include <string_view>

namespace callsign::wire {

// Reports the error for the body as a whole.
void add_too_many_values(field_errors& found, std::size_t values, std::size_t most);

}  // namespace callsign::wire
