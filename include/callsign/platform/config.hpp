#pragma once
// Configuration: a TOML file, then the environment (CALLSIGN_SECTION_KEY), then flags; the later
// wins. One table (src/platform/config.cpp) lists every key with its type and bounds; each room
// owns its options and their defaults. Unknown keys are errors, and all faults come at once.

#include <callsign/api/sync_options.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/net/http.hpp>
#include <callsign/reaper/reaper.hpp>
#include <callsign/store/sqlite.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace callsign::platform {

struct log_options {
    std::string level = "info";   // debug, info, warn, error
    std::string format = "text";  // text, json
};

struct server_options {
    std::string listen = "127.0.0.1:8080";
    // Finishing what is under way at SIGTERM may take this long.
    milliseconds drain_timeout{std::chrono::seconds{20}};
};

struct config {
    server_options server;
    net::http_options http;
    engine_options engine;
    sqlite_options store{.data_dir = "callsign-data"};  // beside where it was started
    reaper_options reaper;
    api::sync_options sync;
    log_options log;
};

struct config_fault {
    std::string where;  // "callsign.toml:12", "CALLSIGN_REAPER_WINDOW", "--listen"
    std::string text;
};

struct config_source {
    std::optional<std::filesystem::path> file;
    std::function<const char*(const char*)> environment;  // as getenv; tests give their own
    std::vector<std::pair<std::string, std::string>>
        flags;  // ("server.listen", value): already parsed by name
};

// The configuration, or every fault in it.
std::variant<config, std::vector<config_fault>> load_config(const config_source& source);

}  // namespace callsign::platform
