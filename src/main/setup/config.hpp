#pragma once
// Configuration: a TOML file, then the environment (CALLSIGN_SECTION_KEY), then flags; the later
// wins. One table (config_keys.cpp) lists every key with its type and bounds; each room
// owns its options and their defaults. Unknown keys are errors, and all faults come at once.
//
// One variable has no key: CALLSIGN_MASTER_KEY is the master key itself, which belongs in no file
// but its own. No fault repeats it.

#include <callsign/api/api_options.hpp>
#include <callsign/api/feed_options.hpp>
#include <callsign/api/sync_options.hpp>
#include <callsign/api/web_options.hpp>
#include <callsign/api/webhook_options.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/engine/outbox.hpp>
#include <callsign/jobs/backups.hpp>
#include <callsign/net/http.hpp>
#include <callsign/net/outgoing.hpp>
#include <callsign/platform/log.hpp>
#include <callsign/reaper/reaper.hpp>
#include <callsign/remote/task_sink.hpp>
#include <callsign/seal/key_ring.hpp>
#include <callsign/store/sqlite.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace callsign::setup {

struct server_options {
    std::string listen = "127.0.0.1:8080";
    // Finishing what is under way at SIGTERM may take this long.
    milliseconds drain_timeout{std::chrono::seconds{20}};
};

struct metrics_options {
    // Where /metrics is shown, and nowhere else then. Empty: where everything is.
    std::string listen{};
};

// TLS of the server itself. Both files or none: then it speaks in clear.
struct tls_options {
    std::filesystem::path certificate{};
    std::filesystem::path key{};
    // What they hold, read with the configuration and checked, is http.tls; until when it holds:
    time_point expires{};
};

struct secrets_options {
    // Where the master key is (seal/master_key.hpp). Empty: none, unless CALLSIGN_MASTER_KEY has
    // it.
    std::filesystem::path master_key_file{};
    // The key itself, read with the configuration; nullptr: there is none. Shared, because a
    // configuration is copied and a key is not; nobody changes it. A server takes it when it starts
    // and keeps it: what is sealed under one key does not open with another, so a reload brings no
    // new one.
    std::shared_ptr<const seal::key_ring> master_key{};
};

// How webhooks are delivered, and to where they may be.
struct webhook_settings {
    api::webhook_options options;
    net::outgoing_options calls;
};

// Accounts whose tasks live on another server.
struct remote_settings {
    outbox_options options;
    remote::sink_options calls;
};

struct config {
    server_options server;
    tls_options tls;
    net::http_options http;
    engine_options engine;
    sqlite_options store{.data_dir = "callsign-data"};  // beside where it was started
    reaper_options reaper;
    api::sync_options sync;
    api::api_options api;
    api::web_options web;
    api::feed_options feed;
    webhook_settings webhooks;
    remote_settings remote;
    jobs::backup_options backup;
    secrets_options secrets;
    platform::log_options log;
    metrics_options metrics;
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
    // Every name in the environment.
    std::vector<std::string> variables{};
};

// What could be read, and what could not: a faulty key has its default.
struct config_reading {
    config read;
    std::vector<config_fault> faults;
};
config_reading read_config(const config_source& source);

// The configuration, or every fault in it. Reads the files of the master key and of TLS, too.
std::variant<config, std::vector<config_fault>> load_config(const config_source& source);

}  // namespace callsign::setup
