#include "series_choice.hpp"

#include <callsign/rules/rows/series.hpp>

namespace callsign::rules {

std::optional<series> choose_series(read_tx& tx, account_id account, std::string_view prefix,
                                    std::string_view project) {
    if (!prefix.empty()) return all_series::find(tx, account, prefix);
    if (!project.empty()) {
        if (auto bound = all_series::find_for_project(tx, account, project)) return bound;
    }
    return all_series::default_of(tx, account);
}

}  // namespace callsign::rules
