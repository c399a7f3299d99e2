#include "reads.hpp"
#include "tables/migrations.hpp"
#include "tools/storage_checks.hpp"

#include <callsign/base/describe_file_error.hpp>
#include <callsign/store/sqlite.hpp>

#include <utility>

namespace callsign {
namespace {

using sqlite::connection;

constexpr std::size_t check_cache_bytes = std::size_t{64} << 20;

}  // namespace

check_report check_sqlite(const std::filesystem::path& data_dir, const auditor& audit,
                          const findings::progress& progress, time_point made_before) {
    const auto file = data_dir / "callsign.sqlite3";
    if (std::error_code closed; !std::filesystem::exists(file, closed)) {
        if (closed) {
            throw std::runtime_error("cannot read " + file.string() + ": " +
                                     describe_file_error(file, closed.value()));
        }
        throw std::runtime_error("there is no callsign.sqlite3 in " + data_dir.string());
    }
    try {
        const auto version = connection(file, SQLite::OPEN_READONLY, std::size_t{1} << 20)
                                 .integer_of("PRAGMA user_version");
        const auto known = static_cast<std::int64_t>(sqlite::migrations().size());
        if (version != known) {
            throw std::runtime_error(file.string() + " has schema " + std::to_string(version) +
                                     ", and this program checks schema " + std::to_string(known) +
                                     (version < known
                                          ? ": callsignd of this version brings it up to date"
                                          : ": use the newer program"));
        }
        connection db(file, SQLite::OPEN_READONLY, check_cache_bytes);
        db.execute("BEGIN");  // one snapshot, however long the check takes
        findings found(progress, made_before);
        sqlite::check_storage(db, found);
        sqlite::reads_over<read_tx> tx(db, {});
        audit(tx, found);
        return std::move(found.report);
    } catch (const SQLite::Exception& error) {
        throw std::runtime_error("cannot read " + file.string() + ": " + error.what());
    } catch (const store_failure& error) {
        if (error.is_damage()) {
            return {{}, {{"file", std::string("the file can be opened: ") + error.what()}}};
        }
        throw std::runtime_error("cannot read " + file.string() + ": " + error.what());
    }
}

}  // namespace callsign
