#pragma once
// The auditor, with its findings as text.

#include <callsign/rules/audit.hpp>

#include <string>
#include <vector>

namespace callsign::testing {

// Returns the violated guarantees; empty: none.
inline std::vector<std::string> audit(store& store) {
    findings found([](std::string_view) {});
    rules::audit(*store.begin_read(), found);
    std::vector<std::string> words;
    for (const auto& [invariant, text] : found.report.faults) {
        words.push_back(invariant + ": " + text);
    }
    return words;
}

}  // namespace callsign::testing
