#pragma once
// Naming faults, within bounds: what a client sent comes back to it, so not at any length.

#include <callsign/wire/message.hpp>

#include <string>
#include <string_view>

namespace callsign::wire {

// Does nothing if `found` has `most` of them or names that field already: the first fault of a
// field is its cause, the next ones would be consequences.
void add_fault(faults& found, std::string field, std::string_view code, std::string detail,
               std::size_t most = faults_max);

// Of a body as a whole.
void add_too_many_values(faults& found, std::size_t values, std::size_t most);

}  // namespace callsign::wire
