#pragma once
// Series as they are kept, and the prefixes that they have and had.

#include <callsign/domain/account.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace callsign::all_series {

// Without their last numbers (numbers::with_last).

// By prefix, a renamed series' old ones included.
std::optional<series> find(read_tx& tx, account_id account, std::string_view prefix);
std::optional<series> find_for_project(read_tx& tx, account_id account, std::string_view project);
std::optional<series> default_of(read_tx& tx, account_id account);
// In the order of their ids.
std::vector<series> of(read_tx& tx, account_id account);
// The first series after `after` that is numbering, whoever's.
std::optional<series> next_numbering(read_tx& tx, series_id after);

series_id put(write_tx& tx, account_id account, std::string_view prefix, std::string_view project,
              bool is_default, time_point now);
// Its prefix, project, policy, zone and flags become these; a prefix it had stays an alias.
// Requires: no other series has the prefix, or had it, or has the project.
void update(write_tx& tx, const series& now, time_point at);
// Prefixes that its series had, and have no more.
std::int64_t count_former_prefixes(read_tx& tx, account_id account);

}  // namespace callsign::all_series
