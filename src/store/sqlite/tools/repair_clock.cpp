// Corrects future times that a wrong clock left in the store, where the store measures by them.
// Values that clients were given stay: receipts do not change.

#include "connection.hpp"
#include "directory_lock.hpp"
#include "prepare_file.hpp"
#include "statements.hpp"

#include <callsign/store/sqlite.hpp>

#include <stdexcept>

namespace callsign {
namespace {

using sqlite::connection;

clock_repair repair(connection& db, time_point now) {
    clock_repair done;
    done.last_moment = time_point{milliseconds{db.integer_of(sql::moment_last)}};
    if (done.last_moment <= now) return done;
    db.use(sql::begin_write).run();
    db.use(sql::moment_set).bind(now).run();
    db.use(sql::slot_not_after).bind(now).run();
    done.slots = db.database().getChanges();
    db.use(sql::fork_not_after).bind(now).run();
    db.use(sql::history_not_after).bind(now).run();
    db.use(sql::commit).run_commit();
    done.repaired = true;
    return done;
}

}  // namespace

clock_repair repair_sqlite_clock(const std::filesystem::path& data_dir, time_point now) {
    const std::filesystem::path file = data_dir / "callsign.sqlite3";
    if (!std::filesystem::exists(file)) {
        throw std::runtime_error("there is no " + file.string());
    }
    // The store opens and closes it first: that migrates an older file.
    bool is_lost = false;
    open_sqlite({.data_dir = data_dir, .lost_at_close = [&] { is_lost = true; }});
    if (is_lost) throw std::runtime_error("cannot write " + file.string() + ": a sync failed");
    const sqlite::directory_lock lock(data_dir / "callsign.lock");
    connection db(file, SQLite::OPEN_READWRITE, std::size_t{2} << 20);
    db.execute("PRAGMA synchronous = FULL");
    const clock_repair done = repair(db, now);
    sqlite::move_log(db, file);
    return done;
}

}  // namespace callsign
