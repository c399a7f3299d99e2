#pragma once
// How the sync routes behave: TaskChampion's clients, /v1/client/*.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/sealed.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace callsign::api {

struct sync_options {
    // One version's sealed operations, one snapshot. More: 400, as the reference server answers.
    std::size_t segment_bytes_max = 100u << 20;
    std::size_t snapshot_bytes_max = 100u << 20;
    // When clients are asked for a new snapshot.
    snapshot_policy snapshots;
    // An unknown client id that sends its first version gets an opaque account of its own.
    bool open_registration = false;
    // So many of those in any hour; the next one is answered 429.
    std::size_t registrations_per_hour = 100;
    // If any are named, all others are answered 403.
    std::vector<uuid> allow_client_ids;
    // How long a replica that was told "up to date" may take to send its version before others of
    // the same client id are told so too. Zero: they are told at once.
    milliseconds turnstile{50};
    // The attribute a task's key is written to, for Taskwarrior to show. Empty: none.
    std::string key_attribute = "key";
};

}  // namespace callsign::api
