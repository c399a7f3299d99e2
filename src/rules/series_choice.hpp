#pragma once
// Which series a creation takes its number from.

#include <callsign/ports/store.hpp>

#include <optional>
#include <string_view>

namespace callsign::rules {

// The prefix asked for (old names included), else the project's series, else the account's default.
// None: the account does not have that prefix.
std::optional<series> choose_series(read_tx& tx, account_id account, std::string_view prefix,
                                    std::string_view project);

}  // namespace callsign::rules
