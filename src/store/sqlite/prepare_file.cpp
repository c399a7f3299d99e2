// A file that is new, older, or made without sums becomes one that the store can open.

#include "prepare_file.hpp"

#include "connection.hpp"
#include "migrations.hpp"
#include "page_sums.hpp"

namespace callsign::sqlite {
namespace {

// Puts sums into the pages of a file that was made without them. It goes without where there is no
// room for a second one.
void rewrite(connection& db, const std::filesystem::path& file) {
    if (std::filesystem::space(file).available < 3 * std::filesystem::file_size(file)) return;
    db.execute("PRAGMA journal_mode = DELETE");
    db.execute("PRAGMA synchronous = FULL");
    db.execute("PRAGMA temp_store = FILE");  // as large as the database
    db.execute("VACUUM");
    mark_summed(db);
}

}  // namespace

std::filesystem::path prepare_directory(const sqlite_options& options) {
    std::filesystem::create_directories(options.data_dir);
    return options.data_dir / "callsign.sqlite3";
}

void prepare_file(const std::filesystem::path& file, const sqlite_options& options) {
    connection db(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, options.cache_bytes);
    std::filesystem::permissions(
        file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    make_room_for_sums(db);
    if (std::filesystem::file_size(file) == 0) {
        mark_summed(db);
    } else if (!has_sums(file)) {
        rewrite(db, file);
    }
    db.execute("PRAGMA journal_mode = WAL");
    db.execute("PRAGMA synchronous = FULL");
    migrate(db);
}

}  // namespace callsign::sqlite
