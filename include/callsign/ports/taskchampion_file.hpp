#pragma once
// The data file of the reference server, taskchampion-sync-server.sqlite3, for imports. It is
// opened read-only, and one consistent state is read, even if that server still writes.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace callsign {

// The functions throw std::runtime_error with a sentence for the operator if the file is corrupt or
// does not belong to that server.
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
        uuid latest{};  // nil: no versions
        std::optional<taskchampion_file::snapshot> snapshot;
        // Why the client cannot be imported; empty: it can.
        std::string fault;
    };
    struct link {
        uuid version{};
        uuid parent{};
    };

    // A client with a fault does not prevent others from being read.
    virtual std::vector<client> clients() = 0;
    // Returns the links from the first version in the file to the latest; empty if the file has
    // only a snapshot of the latest version. Also throws for a client with a fault.
    virtual std::vector<link> chain_of(const client& of) = 0;
    virtual std::string segment_of(const client& of, const uuid& version) = 0;
    virtual std::string snapshot_of(const client& of) = 0;
};

}  // namespace callsign
