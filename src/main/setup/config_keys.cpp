// The table of configuration keys.

#include "config_keys.hpp"

#include <array>

namespace callsign::setup {
namespace {

using namespace std::chrono_literals;

constexpr milliseconds day = 24h;

constexpr std::array<std::string_view, 4> levels{"debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 2> formats{"text", "json"};
constexpr std::array<std::string_view, 3> request_levels{"info", "debug", "off"};

// A key's member. NOLINTBEGIN(bugprone-macro-parentheses): a member's name cannot have them.
#define CALLSIGN_AT(member)   \
    [](config & c) -> auto& { \
        return c.member;      \
    }
// NOLINTEND(bugprone-macro-parentheses)

count_key count(std::size_t& (*target)(config&), std::int64_t min, std::int64_t max) {
    return {target, min, max, false};
}
count_key count(std::int64_t& (*target)(config&), std::int64_t min, std::int64_t max) {
    return {target, min, max, false};
}
count_key bytes(std::size_t& (*target)(config&), std::int64_t min, std::int64_t max) {
    return {target, min, max, true};
}

const std::array keys{
    config_key{"server", "listen", address_key{CALLSIGN_AT(server.listen)}},
    config_key{"server", "drain_timeout", duration_key{CALLSIGN_AT(server.drain_timeout), 0ms, 1h}},
    config_key{"server", "public_url", web_address_key{CALLSIGN_AT(api.public_url)}},
    config_key{"server", "trusted_proxies", addresses_key{CALLSIGN_AT(http.trusted_proxies)}},

    config_key{"tls", "certificate", path_key{CALLSIGN_AT(tls.certificate), true}},
    config_key{"tls", "key", path_key{CALLSIGN_AT(tls.key), true}},
    config_key{"tls", "handshake_timeout",
               duration_key{CALLSIGN_AT(http.handshake_timeout), 10ms, 1h}},
    config_key{"tls", "hsts_max_age",
               duration_key{CALLSIGN_AT(http.hsts_max_age), 0ms, 3'650 * day}},

    config_key{"http", "header_bytes_max",
               bytes(CALLSIGN_AT(http.header_bytes_max), 1 * KiB, 1 * MiB)},
    config_key{"http", "body_bytes_max",
               bytes(CALLSIGN_AT(http.body_bytes_max), 1 * KiB, 64 * MiB)},
    config_key{"http", "bodies_bytes_max",
               bytes(CALLSIGN_AT(http.bodies_bytes_max), 1 * MiB, 64 * GiB)},
    config_key{"http", "account_bodies_bytes_max",
               bytes(CALLSIGN_AT(http.account_bodies_bytes_max), 1 * MiB, 64 * GiB)},
    config_key{"http", "connections_max", count(CALLSIGN_AT(http.connections_max), 1, 1'000'000)},
    config_key{"http", "connections_per_address_max",
               count(CALLSIGN_AT(http.connections_per_address_max), 1, 1'000'000)},
    config_key{"http", "idle_timeout", duration_key{CALLSIGN_AT(http.idle_timeout), 10ms, day}},
    config_key{"http", "header_timeout", duration_key{CALLSIGN_AT(http.header_timeout), 10ms, 1h}},
    config_key{"http", "body_rate_min", bytes(CALLSIGN_AT(http.body_rate_min), 0, 1 * GiB)},
    config_key{"http", "body_timeout", duration_key{CALLSIGN_AT(http.body_timeout), 10ms, 1h}},
    config_key{"http", "write_timeout", duration_key{CALLSIGN_AT(http.write_timeout), 10ms, 1h}},

    config_key{"accounts", "stored_bytes_max",
               bytes(CALLSIGN_AT(engine.stored_bytes_max), 0, std::int64_t{1} << 50)},
    config_key{"accounts", "tokens_max", count(CALLSIGN_AT(engine.tokens_max), 0, 1'000'000)},
    config_key{"accounts", "former_prefixes_max",
               count(CALLSIGN_AT(engine.former_prefixes_max), 0, 1'000'000)},

    config_key{"engine", "queue_depth_max",
               count(CALLSIGN_AT(engine.queue_depth_max), 1, 1'000'000)},
    config_key{"engine", "queue_bytes_max",
               bytes(CALLSIGN_AT(engine.queue_bytes_max), 1 * KiB, 1 * GiB)},
    config_key{"engine", "account_depth_max",
               count(CALLSIGN_AT(engine.account_depth_max), 1, 1'000'000)},
    config_key{"engine", "account_bytes_max",
               bytes(CALLSIGN_AT(engine.account_bytes_max), 1 * KiB, 1 * GiB)},
    config_key{"engine", "account_readers_max",
               count(CALLSIGN_AT(engine.account_readers_max), 1, 64)},
    config_key{"engine", "offload_threads", count(CALLSIGN_AT(engine.offload_threads), 1, 64)},
    config_key{"engine", "batch_commands_max",
               count(CALLSIGN_AT(engine.batch_commands_max), 1, 100'000)},
    config_key{"engine", "batch_bytes_max",
               bytes(CALLSIGN_AT(engine.batch_bytes_max), 1 * KiB, 1 * GiB)},
    config_key{"engine", "batch_operations_max",
               count(CALLSIGN_AT(engine.batch_operations_max), 1, 1'000'000)},
    config_key{"engine", "request_deadline",
               duration_key{CALLSIGN_AT(engine.request_deadline), 10ms, 10min}},
    config_key{"engine", "trust_clock_after",
               duration_key{CALLSIGN_AT(engine.trust_clock_after), 0ms, 30 * day}},

    config_key{"store", "data_dir", path_key{CALLSIGN_AT(store.data_dir), false}},
    config_key{"store", "url", database_key{CALLSIGN_AT(postgres.url)}},
    config_key{"store", "patroni_port", count(CALLSIGN_AT(patroni_port), 0, 65'535)},
    config_key{"store", "readers", count(CALLSIGN_AT(store.readers), 1, 64)},
    config_key{"store", "cache_bytes", bytes(CALLSIGN_AT(store.cache_bytes), 1 * MiB, 64 * GiB)},
    config_key{"store", "wal_pages_max", count(CALLSIGN_AT(store.wal_pages_max), 16, 10'000'000)},
    config_key{"store", "moved_pages_max",
               count(CALLSIGN_AT(store.moved_pages_max), 16, 10'000'000)},
    config_key{"store", "recent_keys_max",
               count(CALLSIGN_AT(store.recent_keys_max), 1, 10'000'000)},
    config_key{"store", "key_filter_bytes_max",
               bytes(CALLSIGN_AT(store.key_filter_bytes_max), 0, 16 * GiB)},
    config_key{"store", "buffered_entries_max",
               count(CALLSIGN_AT(store.buffered_entries_max), 1, 1'000'000)},

    config_key{"reaper", "interval", duration_key{CALLSIGN_AT(reaper.interval), 10ms, day}},
    config_key{"reaper", "window",
               chosen_duration_key{CALLSIGN_AT(reaper.window), 1ms, 30 * day, "auto"}},
    config_key{"reaper", "window_min",
               duration_key{CALLSIGN_AT(reaper.automatic.window_min), 1ms, 30 * day}},
    config_key{"reaper", "window_max",
               duration_key{CALLSIGN_AT(reaper.automatic.window_max), 1ms, 30 * day}},
    config_key{"reaper", "quantile", ratio_key{CALLSIGN_AT(reaper.automatic.quantile), 0, 1, true}},
    config_key{"reaper", "margin", ratio_key{CALLSIGN_AT(reaper.automatic.margin), 1, 100}},
    config_key{"reaper", "samples_min",
               count(CALLSIGN_AT(reaper.automatic.samples_min), 1, 1'000'000)},
    config_key{"reaper", "half_life",
               duration_key{CALLSIGN_AT(reaper.automatic.half_life), 1min, 3650 * day}},
    config_key{"reaper", "batch", count(CALLSIGN_AT(reaper.batch), 1, 100'000)},
    config_key{"reaper", "retention", duration_key{CALLSIGN_AT(reaper.retention), 1ms, 3650 * day}},
    config_key{"reaper", "account_grace",
               duration_key{CALLSIGN_AT(reaper.account_grace), 0ms, 3650 * day}},

    config_key{"audit", "keep", duration_key{CALLSIGN_AT(reaper.audit_keep), 1h, 3650 * day}},

    config_key{"sync", "segment_bytes_max",
               bytes(CALLSIGN_AT(sync.segment_bytes_max), 1 * KiB, 512 * MiB)},
    config_key{"sync", "snapshot_bytes_max",
               bytes(CALLSIGN_AT(sync.snapshot_bytes_max), 1 * KiB, 512 * MiB)},
    config_key{"sync", "snapshot_days", count(CALLSIGN_AT(sync.snapshots.days), 1, 36'500)},
    config_key{"sync", "snapshot_versions",
               count(CALLSIGN_AT(sync.snapshots.versions), 1, 1'000'000'000)},
    config_key{"sync", "open_registration", flag_key{CALLSIGN_AT(sync.open_registration)}},
    config_key{"sync", "registrations_per_hour",
               count(CALLSIGN_AT(sync.registrations_per_hour), 1, 1'000'000)},
    config_key{"sync", "allow_client_ids", uuids_key{CALLSIGN_AT(sync.allow_client_ids)}},
    config_key{"sync", "turnstile", duration_key{CALLSIGN_AT(sync.turnstile), 0ms, 5s}},
    config_key{"sync", "key_attribute", attribute_key{CALLSIGN_AT(sync.key_attribute)}},

    config_key{"api", "cors_origins", origins_key{CALLSIGN_AT(api.cors_origins)}},
    config_key{"api", "account_requests_per_minute",
               count(CALLSIGN_AT(api.account_requests_per_minute), 0, 1'000'000)},

    config_key{"web", "enabled", flag_key{CALLSIGN_AT(web.enabled)}},

    config_key{"feed", "heartbeat", duration_key{CALLSIGN_AT(feed.heartbeat), 100ms, 1h}},
    config_key{"feed", "followers_max", count(CALLSIGN_AT(feed.followers_max), 0, 1'000'000)},
    config_key{"feed", "account_followers_max",
               count(CALLSIGN_AT(feed.account_followers_max), 0, 1'000'000)},
    config_key{"feed", "retention",
               duration_key{CALLSIGN_AT(reaper.history_retention), 1ms, 3650 * day}},

    config_key{"webhooks", "account_max",
               count(CALLSIGN_AT(webhooks.options.account_max), 0, 1'000)},
    config_key{"webhooks", "at_once", count(CALLSIGN_AT(webhooks.options.at_once), 1, 10'000)},
    config_key{"webhooks", "account_at_once",
               count(CALLSIGN_AT(webhooks.options.account_at_once), 1, 1'000)},
    config_key{"webhooks", "changes_max",
               count(CALLSIGN_AT(webhooks.options.changes_max), 1, 1'000)},
    config_key{"webhooks", "timeout",
               duration_key{CALLSIGN_AT(webhooks.calls.deadline), 10ms, 10min}},
    config_key{"webhooks", "retry_min",
               duration_key{CALLSIGN_AT(webhooks.options.retry_min), 10ms, day}},
    config_key{"webhooks", "retry_max",
               duration_key{CALLSIGN_AT(webhooks.options.retry_max), 10ms, 30 * day}},
    config_key{"webhooks", "failures_max",
               count(CALLSIGN_AT(webhooks.options.failures_max), 1, 1'000'000)},
    config_key{"webhooks", "allow_addresses", addresses_key{CALLSIGN_AT(webhooks.calls.allow)}},
    config_key{"webhooks", "ca_file", path_key{CALLSIGN_AT(webhooks.calls.ca_file), true}},
    config_key{"webhooks", "lookup_threads",
               count(CALLSIGN_AT(webhooks.options.lookup_threads), 1, 64)},

    config_key{"remote", "poll_interval",
               duration_key{CALLSIGN_AT(remote.options.poll_interval), 10ms, day}},
    config_key{"remote", "timeout", duration_key{CALLSIGN_AT(remote.calls.timeout), 10ms, 10min}},
    config_key{"remote", "retry_min",
               duration_key{CALLSIGN_AT(remote.options.retry_min), 10ms, day}},
    config_key{"remote", "retry_max",
               duration_key{CALLSIGN_AT(remote.options.retry_max), 10ms, 30 * day}},
    config_key{"remote", "verify_interval",
               duration_key{CALLSIGN_AT(remote.options.verify_interval), 10ms, 30 * day}},
    config_key{"remote", "at_once", count(CALLSIGN_AT(remote.options.at_once), 1, 10'000)},
    config_key{"remote", "answer_bytes_max",
               bytes(CALLSIGN_AT(remote.calls.answer_bytes_max), 1 * MiB, 1 * GiB)},
    config_key{"remote", "answers_bytes_max",
               bytes(CALLSIGN_AT(remote.calls.answers_bytes_max), 1 * MiB, 64 * GiB)},
    config_key{"remote", "state_bytes_max",
               bytes(CALLSIGN_AT(remote.options.state_bytes_max), 1 * MiB, 16 * GiB)},
    config_key{"remote", "creations_max",
               count(CALLSIGN_AT(remote.options.effects_max), 1, 10'000)},
    config_key{"remote", "attempts_max", count(CALLSIGN_AT(remote.options.attempts_max), 1, 1'000)},
    config_key{"remote", "edits_max", count(CALLSIGN_AT(remote.options.edits_max), 1, 100'000)},
    config_key{"remote", "ca_file", path_key{CALLSIGN_AT(remote.calls.ca_file), true}},

    config_key{"secrets", "master_key_file", path_key{CALLSIGN_AT(secrets.master_key_file), true}},

    config_key{"backup", "directory", path_key{CALLSIGN_AT(backup.directory), true}},
    config_key{"backup", "every", duration_key{CALLSIGN_AT(backup.every), 1min, 366 * day}},
    config_key{"backup", "keep", count(CALLSIGN_AT(backup.keep), 1, 100'000)},

    config_key{"log", "level", choice_key{CALLSIGN_AT(log.level), levels}},
    config_key{"log", "format", choice_key{CALLSIGN_AT(log.format), formats}},
    config_key{"log", "requests", choice_key{CALLSIGN_AT(log.requests), request_levels}},

    config_key{"metrics", "listen", address_key{CALLSIGN_AT(metrics.listen), true}},
};

#undef CALLSIGN_AT

}  // namespace

std::span<const config_key> config_keys() {
    return keys;
}

}  // namespace callsign::setup
