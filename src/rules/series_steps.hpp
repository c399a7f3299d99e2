#pragma once
// Series on which the reaper works in steps: resumed ones and renamed ones.

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/series.hpp>

#include <optional>

namespace callsign::rules {

using next_series = std::optional<series> (*)(read_tx& tx, series_id after);

// Returns the next one after `after` whose account is not being removed.
inline std::optional<series> next_due(read_tx& tx, series_id after, next_series next) {
    auto s = next(tx, after);
    while (s && accounts::find(tx, s->account)->state == account_state::removing) {
        s = next(tx, s->id);
    }
    return s;
}

// Returns the series if it is such a one.
inline std::optional<series> due(read_tx& tx, series_id id, next_series next) {
    auto s = next_due(tx, series_id{id.value - 1}, next);
    return s && s->id == id ? s : std::nullopt;
}

}  // namespace callsign::rules
