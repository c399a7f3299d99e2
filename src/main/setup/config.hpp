#pragma once
// Configuration: a TOML file, then the environment (CALLSIGN_SECTION_KEY), then flags; later
// sources override. One table (config_keys.cpp) lists all keys, types and limits; each module owns
// its options and defaults. Unknown keys are errors; all errors are reported together.
//
// One variable has no key: CALLSIGN_MASTER_KEY is the master key itself, which belongs in no file
// but its own. No error repeats it.

#include <callsign/api/api_options.hpp>
#include <callsign/api/feed_options.hpp>
#include <callsign/api/sync_options.hpp>
#include <callsign/api/web_options.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/engine/outbox.hpp>
#include <callsign/jobs/backups.hpp>
#include <callsign/jobs/webhook_options.hpp>
#include <callsign/net/http.hpp>
#include <callsign/net/outgoing.hpp>
#include <callsign/platform/log.hpp>
#include <callsign/reaper/reaper.hpp>
#include <callsign/remote/task_sink.hpp>
#include <callsign/seal/key_ring.hpp>
#include <callsign/store/postgres.hpp>
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
    // Maximum duration of the graceful shutdown after SIGTERM.
    milliseconds drain_timeout{std::chrono::seconds{20}};
};

struct metrics_options {
    // Listener for /metrics, and for nothing else. Empty: the API's listener.
    std::string listen{};
};

// TLS of the server itself. Both files or none: then it serves plain HTTP.
struct tls_options {
    std::filesystem::path certificate{};
    std::filesystem::path key{};
    // Expiry of the certificate. The files' verified contents are in http.tls.
    time_point expires{};
};

struct secrets_options {
    // File with the master key (seal/master_key.hpp). Empty: none, unless CALLSIGN_MASTER_KEY is
    // set.
    std::filesystem::path master_key_file{};
    // The key itself, read with the configuration; null: none. Shared and immutable, because a
    // configuration is copied and a key is not. A reload does not replace it: data encrypted with
    // one key cannot be decrypted with another.
    std::shared_ptr<const seal::key_ring> master_key{};
};

// How webhooks are delivered, and to which addresses.
struct webhook_settings {
    jobs::webhook_options options;
    net::outgoing_options calls;
};

// Remote accounts.
struct remote_settings {
    outbox_options options;
    remote::sink_options calls;
};

struct config {
    server_options server;
    tls_options tls;
    net::http_options http;
    engine_options engine;
    sqlite_options store{.data_dir = "callsign-data"};  // in the working directory
    std::size_t patroni_port = 8008;  // of the database's hosts; 0: there is no Patroni
    postgres_options postgres;        // no URL: the store is in the data directory
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
    std::function<const char*(const char*)> environment;  // like getenv; tests replace it
    std::vector<std::pair<std::string, std::string>>
        flags;  // ("server.listen", value): already parsed by name
    // All names in the environment.
    std::vector<std::string> variables{};
};

// What was read, and the errors: a key with an error has its default.
struct config_reading {
    config read;
    std::vector<config_fault> faults;
};
config_reading read_config(const config_source& source);

// Returns the configuration, or all errors. Also reads the files of the master key and of TLS.
std::variant<config, std::vector<config_fault>> load_config(const config_source& source);

}  // namespace callsign::setup
