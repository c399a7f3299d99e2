#pragma once
// `callsign doctor`: its input, the state of the server, and its findings.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/findings.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace callsign {

enum class verdict : std::uint8_t { ok, warning, error, skipped };

struct diagnosis {
    std::string check;  // "config", "permissions", ...
    callsign::verdict verdict = verdict::ok;
    std::string found;   // a sentence without its full stop
    std::string advice;  // what to do; empty: nothing
};

// A series that is held since a restore.
struct held_series {
    std::string account;
    std::string prefix;
};

// The state of a store's rows.
struct store_sight {
    time_point last_moment{};
    std::int64_t pending = 0;
    std::optional<time_point> oldest_pending{};
    // The first held series, of held_count.
    std::vector<held_series> held{};
    std::int64_t held_count = 0;
    std::vector<incomplete_task> incomplete{};  // the first of incomplete_count
    std::int64_t incomplete_count = 0;
    // A device whose key is encrypted with the master key, if there is one.
    struct sealed_device {
        account_id account;
        uuid client_id{};
        std::string sealed_key;
    };
    std::optional<sealed_device> device{};
};

// The state of a running server, as it reports it.
struct server_report {
    std::string error{};      // why it could not be queried; empty: it was
    bool is_alive = false;    // there was an error, and it responds nevertheless
    std::string not_ready{};  // why it rejects writes; empty: it accepts them
    milliseconds window{};
    milliseconds interval{};
    std::optional<time_point> oldest_pending{};
    std::optional<time_point> last_sweep{};
    // The first held series; empty: none, or not requested.
    std::vector<held_series> held{};
};

struct doctor_question {
    std::optional<std::filesystem::path> config_file{};
    std::string data_dir{};  // value of the flag; empty: from the configuration
    time_point now{};
    std::function<const char*(const char*)> environment{};
    // All names of environment variables.
    std::vector<std::string> variables{};
    // Queries the server of this data directory; with `held`, its held series as well.
    std::function<server_report(const std::filesystem::path& data_dir, bool held)> ask{};
    // Returns the JSON text that a Patroni responds to GET http://HOST:PORT + path. Throws
    // std::exception: there is none.
    std::function<std::string(const std::string& host, std::size_t port, const std::string& path)>
        ask_patroni{};
};

// Reads only. Throws nothing: a check that is not possible reports why.
using doctor = std::function<std::vector<diagnosis>(const doctor_question&)>;

}  // namespace callsign
