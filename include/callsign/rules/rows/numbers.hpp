#pragma once
// Numbers of series: 1, 2, 3 ... in each period, except skipped ones.

#include <callsign/domain/account.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::numbers {

// The periods in which numbers were assigned or skipped, in order.
std::vector<numbers_given> given(read_tx& tx, series_id series);
std::vector<std::string> periods(read_tx& tx, series_id series);
// In the order of periods and numbers.
std::vector<numbers_skipped> skipped(read_tx& tx, series_id series);
// The last number assigned or skipped in (series, period); 0: none yet.
std::int64_t last(read_tx& tx, series_id series, std::string_view period);
// The last of the series' periods in which numbers were assigned or skipped; empty: none yet.
std::string last_period(read_tx& tx, series_id series);
bool is_skipped(read_tx& tx, series_id series, std::string_view period, std::int64_t number);
// As displayed to users: with the last number of the current period.
series with_last(read_tx& tx, series s);

// Assigns the next number of (series, period); permanent once the transaction commits.
std::int64_t take(write_tx& tx, series_id series, std::string_view period);
// Skips the numbers after the last one, up to `through`. Requires: at least one.
void skip(write_tx& tx, series_id series, std::string_view period, std::int64_t through);
// Removes a number from the skipped ones. Requires: it is skipped; a task with it is put next.
void reclaim(write_tx& tx, series_id series, std::string_view period, std::int64_t number);

}  // namespace callsign::numbers
