#pragma once
// What operators do with files on this machine, where no server has them open.

#include <callsign/base/time.hpp>
#include <callsign/domain/backup.hpp>
#include <callsign/domain/findings.hpp>
#include <callsign/ports/doctor.hpp>
#include <callsign/ports/taskchampion_file.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

namespace callsign {

// What a clock that was far ahead once has left: a store whose time is not that of the world.
struct clock_repair {
    time_point last_moment;  // as it was found
    bool repaired = false;   // false: it was not after `now`, and nothing was done
    std::int64_t slots = 0;  // whose times were later than `now`, and are `now`
};

// A backup that is in the place of what was in a data directory.
struct restored_backup {
    backup_manifest manifest;
    std::filesystem::path kept;    // where what was there is now
    std::int64_t series_held = 0;  // they give no number until they are told where to go on
};

// Each throws std::runtime_error, with a sentence for people, if it cannot do it.
struct local_files {
    // Reads all of a data directory and proves what must hold there. `now`: what is incomplete, and
    // was made a while before, is listed.
    std::function<check_report(const std::filesystem::path& data_dir, time_point now,
                               const findings::progress& progress)>
        check;
    // Sets the time of the store in a data directory back to `now`.
    std::function<clock_repair(const std::filesystem::path& data_dir, time_point now)> repair_clock;
    std::function<restored_backup(const std::filesystem::path& backup,
                                  const std::filesystem::path& data_dir, time_point now,
                                  const findings::progress& progress)>
        restore;
    std::function<std::unique_ptr<taskchampion_file>(const std::filesystem::path& file)>
        open_taskchampion_file;
    // Looks for what is wrong with a server's surroundings, or will be. Throws nothing.
    callsign::doctor doctor;
};

}  // namespace callsign
