#pragma once
// `callsign doctor`: what is asked, what the server says of itself, and what was found.

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

enum class verdict : std::uint8_t { ok, warning, fault, skipped };

struct diagnosis {
    std::string check;  // "config", "permissions", ...
    callsign::verdict verdict = verdict::ok;
    std::string found;   // a sentence without its full stop
    std::string advice;  // what to do about it; empty: nothing
};

// A series that gives no numbers since a restore.
struct held_series {
    std::string account;
    std::string prefix;
};

// The state of a store's rows.
struct store_sight {
    time_point last_moment{};
    std::int64_t pending = 0;
    std::optional<time_point> oldest_pending{};
    // The first of them.
    std::vector<held_series> held{};
    std::int64_t held_count = 0;
    std::vector<incomplete_task> incomplete{};  // the first of them
    std::int64_t incomplete_count = 0;
    // A device whose key is sealed with the master key, if there is one.
    struct sealed_device {
        account_id account;
        uuid client_id{};
        std::string sealed_key;
    };
    std::optional<sealed_device> device{};
};

// What a running server says when it is asked.
struct server_word {
    std::string why_not{};    // why it could not be asked; empty: it was
    std::string not_ready{};  // why it refuses writes; empty: it takes them
    milliseconds window{};
    milliseconds interval{};
    std::optional<time_point> oldest_pending{};
    std::optional<time_point> last_sweep{};
    // The first of them; empty: none, or not asked for.
    std::vector<held_series> held{};
};

struct doctor_question {
    std::optional<std::filesystem::path> config_file{};
    std::string data_dir{};  // as a flag; empty: what the configuration says
    time_point now{};
    std::function<const char*(const char*)> environment{};
    // Every name in it.
    std::vector<std::string> variables{};
    // Of the server on this data directory. With `held`, its held series, too.
    std::function<server_word(const std::filesystem::path& data_dir, bool held)> ask{};
};

// Reads and asks only. Nothing is thrown: a check that cannot be made says why.
using doctor = std::function<std::vector<diagnosis>(const doctor_question&)>;

}  // namespace callsign
