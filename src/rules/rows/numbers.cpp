#include <callsign/ports/tables/series.hpp>
#include <callsign/rules/rows/numbers.hpp>

#include <utility>

namespace callsign::numbers {
namespace {

std::vector<row_of<counter_row>> counters_of(read_tx& tx, series_id series) {
    return tx.all(range_of<counters_by_period>(series));
}

// Returns the skipped range with this number; null: the number is not skipped.
row_of<skipped_row> skipped_around(read_tx& tx, counter_id counter, std::int64_t number) {
    const auto before = range_of<skipped_by_number>(counter).after(number + 1).descending();
    const auto found = tx.all(range(before).limit(1));
    return found.empty() || found.front()->last < number ? nullptr : found.front();
}

// Moves the counter, created if it does not exist, to the number that `move` returns for it.
template <class Move>
std::int64_t advance(write_tx& tx, series_id series, std::string_view period, const Move& move) {
    auto counter = tx.get<counters_by_period>(series, period);
    if (!counter) {
        counter = tx.put(
            counter_row{counter_id{tx.draw(drawn_id::counter)}, series, std::string(period), 0});
        const auto its = tx.expect<series_by_id>(series);
        if (period > its->period) tx.edit(its, [&](callsign::series& s) { s.period = period; });
    }
    const std::int64_t number = move(*counter);
    tx.edit(counter, [&](counter_row& c) { c.last_number = number; });
    return number;
}

}  // namespace

std::vector<numbers_given> given(read_tx& tx, series_id series) {
    std::vector<numbers_given> all;
    for (const auto& c : counters_of(tx, series)) all.push_back({c->period, c->last_number});
    return all;
}

std::vector<std::string> periods(read_tx& tx, series_id series) {
    std::vector<std::string> all;
    for (const auto& c : counters_of(tx, series)) all.push_back(c->period);
    return all;
}

std::vector<numbers_skipped> skipped(read_tx& tx, series_id series) {
    std::vector<numbers_skipped> all;
    for (const auto& c : counters_of(tx, series)) {
        tx.scan(range_of<skipped_by_number>(c->id), [&](const row_of<skipped_row>& s) {
            all.push_back({c->period, s->first, s->last});
            return true;
        });
    }
    return all;
}

std::int64_t last(read_tx& tx, series_id series, std::string_view period) {
    const auto counter = tx.get<counters_by_period>(series, period);
    return counter ? counter->last_number : 0;
}

std::string last_period(read_tx& tx, series_id series) {
    return tx.expect<series_by_id>(series)->period;
}

bool is_skipped(read_tx& tx, series_id series, std::string_view period, std::int64_t number) {
    const auto counter = tx.get<counters_by_period>(series, period);
    return counter && skipped_around(tx, counter->id, number);
}

series with_last(read_tx& tx, series s) {
    s.last_number = last(tx, s.id, s.period);
    return s;
}

std::int64_t take(write_tx& tx, series_id series, std::string_view period) {
    return advance(tx, series, period, [](const counter_row& c) { return c.last_number + 1; });
}

void skip(write_tx& tx, series_id series, std::string_view period, std::int64_t through) {
    advance(tx, series, period, [&](const counter_row& c) {
        tx.put(skipped_row{c.id, c.last_number + 1, through});
        return through;
    });
}

void reclaim(write_tx& tx, series_id series, std::string_view period, std::int64_t number) {
    const auto counter = tx.get<counters_by_period>(series, period);
    const auto around = counter ? skipped_around(tx, counter->id, number) : nullptr;
    if (!around) throw_damaged("skipped_numbers", series.value, "the number is not skipped");
    tx.erase(around);
    const auto put = [&](std::int64_t first, std::int64_t last) {
        if (first <= last) tx.put(skipped_row{counter->id, first, last});
    };
    put(around->first, number - 1);
    put(number + 1, around->last);
}

}  // namespace callsign::numbers
