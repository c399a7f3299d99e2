#include "tables/migrations.hpp"

#include <stdexcept>
#include <string>

namespace callsign::sqlite {

void migrate(connection& db, std::span<const migration> known) {
    const auto applied = static_cast<std::size_t>(db.integer_of("PRAGMA user_version"));
    if (applied > known.size()) {
        throw std::runtime_error("the data was written by a newer callsignd (schema " +
                                 std::to_string(applied) + ", this one knows " +
                                 std::to_string(known.size()) + ")");
    }
    for (std::size_t next = applied; next < known.size(); ++next) {
        db.execute("BEGIN IMMEDIATE");
        db.execute(std::string(known[next].text).c_str());
        db.execute(("PRAGMA user_version = " + std::to_string(next + 1)).c_str());
        db.execute("COMMIT");
    }
}

}  // namespace callsign::sqlite
