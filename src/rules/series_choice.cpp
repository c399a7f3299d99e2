#include "series_choice.hpp"

namespace callsign::rules {

std::optional<series> choose_series(read_tx& tx, account_id account, std::string_view prefix,
                                    std::string_view project) {
    if (!prefix.empty()) return tx.find_series(account, prefix);
    if (!project.empty()) {
        if (auto bound = tx.find_series_for_project(account, project)) return bound;
    }
    return tx.default_series(account);
}

}  // namespace callsign::rules
