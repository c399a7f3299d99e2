#pragma once
// Schema steps of hypothetical later releases, added to the existing ones.

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
