#pragma once
// Runs `callsign check` on a data directory, in this process.

#include <callsign/rules/audit.hpp>
#include <callsign/store/sqlite.hpp>

namespace callsign::testing {

inline check_report report_on(const std::filesystem::path& data_dir) {
    return check_sqlite(data_dir, rules::audit, [](std::string_view) {});
}

}  // namespace callsign::testing
