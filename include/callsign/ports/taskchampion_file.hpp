#pragma once
// The data file of the reference server, taskchampion-sync-server.sqlite3, for taking it over: read
// only, whatever it holds. Beside a server that still writes to it, it shows one state.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace callsign {

// The functions throw std::runtime_error, with a sentence for people: it is damaged, or not of that
// server.
class taskchampion_file {
  public:
    taskchampion_file() = default;
    taskchampion_file(const taskchampion_file&) = delete;
    taskchampion_file& operator=(const taskchampion_file&) = delete;
    virtual ~taskchampion_file() = default;

    struct snapshot {
        uuid version{};
        time_point taken_at;
        std::int64_t versions_since = 0;
    };
    struct client {
        uuid id{};
        uuid latest{};  // nil: it has no versions
        std::optional<taskchampion_file::snapshot> snapshot;
        // Why it cannot be taken over; empty: it can.
        std::string fault;
    };
    struct link {
        uuid version{};
        uuid parent{};
    };

    // One that has a fault does not keep the others from being read.
    virtual std::vector<client> clients() = 0;
    // From the first version that is there to the latest one; empty where the file has the snapshot
    // of that one alone. Throws for a client with a fault, too.
    virtual std::vector<link> chain_of(const client& of) = 0;
    virtual std::string segment_of(const client& of, const uuid& version) = 0;
    virtual std::string snapshot_of(const client& of) = 0;
};

}  // namespace callsign
