#include "migrations.hpp"

#include "conversion.hpp"
#include "rows.hpp"

#include <callsign/domain/task_faults.hpp>

#include <sqlite3.h>
#include <stdexcept>
#include <string>

namespace callsign::sqlite {

namespace {

// What migrations ask of rows whose form is this program's.
void provide_functions(SQLite::Database& db) {
    constexpr auto task_is_over = [](sqlite3_context* context, int, sqlite3_value** arguments) {
        const auto* const bytes = static_cast<const char*>(sqlite3_value_blob(arguments[0]));
        const auto size = static_cast<std::size_t>(sqlite3_value_bytes(arguments[0]));
        const auto all = decode_attributes({bytes ? bytes : "", size});
        sqlite3_result_int(context, all && is_over(*all) ? 1 : 0);
    };
    db.createFunction("task_is_over", 1, true, nullptr, task_is_over);
}

}  // namespace

void migrate(connection& db, const store_progress& progress) {
    const auto known = migrations();
    const auto applied = static_cast<std::size_t>(db.integer_of("PRAGMA user_version"));
    if (applied > known.size()) {
        throw std::runtime_error("the data was written by a newer callsignd (schema " +
                                 std::to_string(applied) + ", this one knows " +
                                 std::to_string(known.size()) + ")");
    }
    if (applied < known.size()) provide_functions(db.database());
    constexpr std::size_t bulk_indexes_begun = 17;  // with 18 they are made
    for (std::size_t next = applied; next < known.size(); ++next) {
        if (next == bulk_indexes_begun) move_to_bulk_indexes(db, progress);
        db.execute("BEGIN IMMEDIATE");
        db.execute(std::string(known[next].text).c_str());
        db.execute(("PRAGMA user_version = " + std::to_string(next + 1)).c_str());
        db.execute("COMMIT");
    }
}

}  // namespace callsign::sqlite
