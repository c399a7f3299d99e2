#pragma once
// Reporting of errors. Names from the client are returned to it, so their length is limited.

#include <callsign/wire/message.hpp>

#include <string>
#include <string_view>

namespace callsign::wire {

// Does nothing if `found` has `most` errors, or one for that field: the first error of a field is
// the cause of later ones.
void add_fault(faults& found, std::string field, std::string_view code, std::string detail,
               std::size_t most = faults_max);

// Reports the error for the body as a whole.
void add_too_many_values(faults& found, std::size_t values, std::size_t most);

}  // namespace callsign::wire
