#pragma once
// Operators' work on files of this machine that no server has open.

#include <callsign/base/time.hpp>
#include <callsign/domain/backup.hpp>
#include <callsign/domain/findings.hpp>
#include <callsign/ports/doctor.hpp>
#include <callsign/ports/taskchampion_file.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace callsign {

// The result of repairing a store whose time is in the future because a clock was far ahead once.
struct clock_repair {
    time_point last_moment;  // before the repair
    bool repaired = false;   // false: it was not after `now`, and nothing was changed
    std::int64_t slots = 0;  // slots whose times were later than `now`, and were set to it
};

// The result of restoring a backup in place of a data directory's content.
struct restored_backup {
    backup_manifest manifest;
    std::filesystem::path kept;    // where the former content is now
    std::int64_t series_held = 0;  // series that assign no numbers until they are resumed
};

// Where a store is: a data directory, or the URL of a database.
struct store_place {
    std::filesystem::path data_dir{};
    std::string url{};  // empty: in the directory
};

// The result of moving a store.
struct moved_store {
    std::int64_t rows = 0;
    check_report from, to;
};

// Each function throws std::runtime_error with a sentence for the operator if it fails.
struct local_files {
    // Reads all of a store and verifies its invariants. `now`: incomplete tasks are reported if
    // they were created some time before.
    std::function<check_report(const store_place& place, time_point now,
                               const findings::progress& progress)>
        check;
    // Moves a store to an empty place, or continues an interrupted move. No server may run on
    // either. Verifies both; if an invariant is violated, nothing is marked as moved.
    std::function<moved_store(const store_place& from, const store_place& to, time_point now,
                              const findings::progress& progress)>
        move;
    // Marks the store in a database as restored from a backup, as restore() does: holds all series.
    // Returns how many.
    std::function<std::int64_t(const std::string& url, time_point now)> mark_restored;
    // Sets the time of the store in a data directory back to `now`.
    std::function<clock_repair(const std::filesystem::path& data_dir, time_point now)> repair_clock;
    std::function<restored_backup(const std::filesystem::path& backup,
                                  const std::filesystem::path& data_dir, time_point now,
                                  const findings::progress& progress)>
        restore;
    std::function<std::unique_ptr<taskchampion_file>(const std::filesystem::path& file)>
        open_taskchampion_file;
    // Checks a server's configuration and environment. Throws nothing.
    callsign::doctor doctor;
};

}  // namespace callsign
