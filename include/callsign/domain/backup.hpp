#pragma once
// A backup: a directory with a copy of the whole store, and a manifest, written last, that says
// what the copy is. Without one there is no backup, only the beginning of one.

#include <callsign/base/sha256.hpp>
#include <callsign/base/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

struct backup_manifest {
    std::string program;  // the version of callsignd that made it
    std::int64_t schema = 0;
    time_point made_at;
    std::int64_t bytes = 0;
    digest sha256{};  // of the copy

    friend bool operator==(const backup_manifest&, const backup_manifest&) = default;
};

// What a scheduled backup's directory is called: by its instant, without colons, which some
// programs take for the name of a machine. In the order of time.
std::string backup_name(time_point at);
// nullopt: no backup was ever called so.
std::optional<time_point> time_of_backup(std::string_view name);

// How far something is that takes long, in whatever it counts.
struct amount_done {
    std::int64_t done = 0;
    std::int64_t total = 0;
};

}  // namespace callsign
