#pragma once
// All tasks of an account that have numbers, including purged ones, ordered by series.

#include <callsign/ports/store.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <vector>

namespace callsign::testing {

inline std::vector<task> tasks_of(read_tx& tx, account_id account) {
    std::vector<task> all;
    for (const series& from : all_series::of(tx, account)) {
        for (const auto& given : numbers::given(tx, from.id)) {
            auto some = tasks::numbered(tx, from.id, given.period, 0, read_tx::no_limit);
            all.insert(all.end(), some.begin(), some.end());
        }
    }
    return all;
}

}  // namespace callsign::testing
