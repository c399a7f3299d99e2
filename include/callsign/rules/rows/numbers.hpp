#pragma once
// The numbers that series have given: of each period 1, 2, 3 ..., but for those that were skipped.

#include <callsign/domain/account.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::numbers {

// The periods in which the series has given numbers, in order.
std::vector<numbers_given> given(read_tx& tx, series_id series);
std::vector<std::string> periods(read_tx& tx, series_id series);
// In the order of periods and numbers.
std::vector<numbers_skipped> skipped(read_tx& tx, series_id series);
// The last one taken of (series, period); 0: none yet.
std::int64_t last(read_tx& tx, series_id series, std::string_view period);
// The last period of the series, in their order, that numbers were taken or skipped in; empty: none
// yet.
std::string last_period(read_tx& tx, series_id series);
bool is_skipped(read_tx& tx, series_id series, std::string_view period, std::int64_t number);
// As people are shown it: with the last number of its period.
series with_last(read_tx& tx, series s);

// The next number of (series, period), taken for good once the transaction commits.
std::int64_t take(write_tx& tx, series_id series, std::string_view period);
// Those after the last one, up to `through`, are nobody's. Requires: there is one at least.
void skip(write_tx& tx, series_id series, std::string_view period, std::int64_t through);
// A skipped number is somebody's after all. Requires: it is skipped; a task with it is put next.
void reclaim(write_tx& tx, series_id series, std::string_view period, std::int64_t number);

}  // namespace callsign::numbers
