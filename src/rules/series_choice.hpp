#pragma once
// The series from which a creation takes its number.

#include <callsign/ports/store.hpp>

#include <optional>
#include <string_view>

namespace callsign::rules {

// Returns the series of the given prefix (former ones included), else the project's, else the
// default. None if the account does not have that prefix.
std::optional<series> choose_series(read_tx& tx, account_id account, std::string_view prefix,
                                    std::string_view project);

}  // namespace callsign::rules
