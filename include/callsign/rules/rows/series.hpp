#pragma once
// Series, with their current and former prefixes.

#include <callsign/domain/account.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace callsign::all_series {

// Returned without their last numbers (numbers::with_last).

// By prefix; former prefixes of a renamed series are included.
std::optional<series> find(read_tx& tx, account_id account, std::string_view prefix);
std::optional<series> find_for_project(read_tx& tx, account_id account, std::string_view project);
std::optional<series> default_of(read_tx& tx, account_id account);
// In the order of IDs.
std::vector<series> of(read_tx& tx, account_id account);
// The first series after `after`, of any account, whose tasks are being numbered.
std::optional<series> next_numbering(read_tx& tx, series_id after);
// The first series after `after`, of any account, whose tasks' keys are being updated.
std::optional<series> next_renamed(read_tx& tx, series_id after);

series_id put(write_tx& tx, account_id account, std::string_view prefix, std::string_view project,
              bool is_default, time_point now);
// Replaces prefix, project, policy, zone, flags and progress; a former prefix remains an alias.
// Requires: no other series has or had the prefix, or has the project.
void update(write_tx& tx, const series& now, time_point at);
// Counts prefixes that the account's series had and no longer have.
std::int64_t count_former_prefixes(read_tx& tx, account_id account);

}  // namespace callsign::all_series
