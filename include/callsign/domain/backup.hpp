#pragma once
// A backup: a directory with a copy of the whole store and a manifest that describes the copy. The
// manifest is written last; a directory without one is an unfinished backup.

#include <callsign/base/sha256.hpp>
#include <callsign/base/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

struct backup_manifest {
    std::string program;  // version of the callsignd that made the backup
    std::int64_t schema = 0;
    time_point made_at;
    std::int64_t bytes = 0;
    digest sha256{};  // of the copy

    friend bool operator==(const backup_manifest&, const backup_manifest&) = default;
};

// Returns a scheduled backup's directory name: its instant, without colons, which some programs
// take for the end of a host name. The names sort by time.
std::string backup_name(time_point at);
// Returns nullopt for a name that backup_name() cannot return.
std::optional<time_point> time_of_backup(std::string_view name);

// Progress of a long operation, in a unit of its own.
struct amount_done {
    std::int64_t done = 0;
    std::int64_t total = 0;
};

}  // namespace callsign
