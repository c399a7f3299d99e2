#pragma once
// Options of the sync routes for TaskChampion's clients, /v1/client/*.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/sealed.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace callsign::api {

struct sync_options {
    // One version's segment, and one snapshot. More: 400, as the reference server responds.
    std::size_t segment_bytes_max = 100u << 20;
    std::size_t snapshot_bytes_max = 100u << 20;
    // When clients are asked for a new snapshot.
    snapshot_policy snapshots;
    // An unknown client ID that sends its first version gets an opaque account.
    bool open_registration = false;
    // Maximum of such registrations in any hour. More: 429.
    std::size_t registrations_per_hour = 100;
    // Client IDs that may sync; others get 403. Empty: all may.
    std::vector<uuid> allow_client_ids;
    // How long a replica that received "up to date" may take to add a version before others of the
    // same client ID receive it, too. Zero: they do not wait.
    milliseconds turnstile{50};
    // The attribute that holds a task's key, for Taskwarrior to display. Empty: none.
    std::string key_attribute = "key";
};

}  // namespace callsign::api
