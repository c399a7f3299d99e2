#pragma once
// Steps of the schema as releases to come may have them, behind those that there are.

#include "store/sqlite/tables/migrations.hpp"

#include <initializer_list>
#include <vector>

namespace callsign::testing {

inline std::vector<sqlite::migration> with_later_steps(std::initializer_list<const char*> texts) {
    const auto now = sqlite::migrations();
    std::vector<sqlite::migration> all(now.begin(), now.end());
    for (const char* text : texts) all.push_back({"made up", text});
    return all;
}

}  // namespace callsign::testing
