#pragma once
// The IDs of the rows of a SQLite store, by table.

#include <SQLiteCpp/SQLiteCpp.h>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace callsign::testing {

inline SQLite::Database rows_of(const std::filesystem::path& data_dir) {
    return SQLite::Database((data_dir / "callsign.sqlite3").string());
}

// For each table whose rows have IDs of their own.
inline std::map<std::string, std::vector<std::int64_t>> ids_in(SQLite::Database& db) {
    static const std::set<std::string> not_drawn{"totals",      "index_progress", "instance",
                                                 "retry_times", "key_runs",       "key_pages"};
    std::map<std::string, std::vector<std::int64_t>> all;
    SQLite::Statement tables(
        db,
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE"
        " m.type = 'table' AND c.pk = 1 AND c.type = 'INTEGER' AND (SELECT max(pk) FROM"
        " pragma_table_info(m.name)) = 1");
    while (tables.executeStep()) {
        const std::string name = tables.getColumn(0), column = tables.getColumn(1);
        if (not_drawn.contains(name)) continue;
        SQLite::Statement rows(db, "SELECT " + column + " FROM " + name);
        auto& ids = all[name];
        while (rows.executeStep()) ids.push_back(rows.getColumn(0));
    }
    return all;
}

}  // namespace callsign::testing
