#pragma once
// The data file of the reference server, taskchampion-sync-server.sqlite3, for taking it over: read
// only, whatever it holds. Beside a server that still writes to it, it shows one state.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace callsign {

class taskchampion_file {
  public:
    // Throws std::runtime_error, with a sentence for people: it is not there, not a database, or
    // not of that server. The other functions too.
    explicit taskchampion_file(const std::filesystem::path& file);
    ~taskchampion_file();
    taskchampion_file(const taskchampion_file&) = delete;
    taskchampion_file& operator=(const taskchampion_file&) = delete;

    struct snapshot {
        uuid version{};
        time_point taken_at;
        std::int64_t versions_since = 0;
    };
    struct client {
        uuid id{};
        uuid latest{};  // nil: it has no versions
        std::optional<taskchampion_file::snapshot> snapshot;
    };
    struct link {
        uuid version{};
        uuid parent{};
    };

    std::vector<client> clients();
    // From the first version that is there to the latest one.
    std::vector<link> chain_of(const client& of);
    std::string segment_of(const client& of, const uuid& version);
    std::string snapshot_of(const client& of);

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace callsign
