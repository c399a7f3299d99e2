// Log lines, and what is printed at the start.

#include "../server.hpp"
#include "../setup/environment_names.hpp"
#include "../setup/listen_address.hpp"

#include <iostream>

namespace callsign {

namespace {

// Automatic renewal happens long before this.
constexpr std::chrono::days expiry_noticed{7};

}  // namespace

void server::announce(const std::string& welcome_text) {
    const tcp::endpoint at = http_.local_endpoint();
    const std::string url = setup::to_url(at.address(), at.port(), speaks_tls());
    setup::make_listen_file(listen_file_, config_.store.data_dir,
                            setup::local_url(at, speaks_tls()), *log_);
    std::cout << welcome_text << "callsignd listening on " << url << std::endl;
    log_->log(log_level::info, "started",
              {{"version", CALLSIGN_VERSION},
               {"url", url},
               {"data_dir", config_.store.data_dir.string()}});
    if (metrics_http_) {
        const tcp::endpoint metrics_at = metrics_http_->local_endpoint();
        log_->log(
            log_level::info, "metrics listener started",
            {{"url", setup::to_url(metrics_at.address(), metrics_at.port(), false) + "/metrics"}});
    }
    if (!speaks_tls() && !is_behind_tls() && !at.address().is_loopback()) {
        log_->log(log_level::warn, "unencrypted listener on a non-loopback address; enable TLS",
                  {{"listen", config_.server.listen},
                   {"settings", "tls.certificate, or server.public_url of a proxy with TLS"}});
    }
    warn_of_expiry();
    for (const setup::unknown_name& each : setup::unknown_names(source_.variables)) {
        log_->log(log_level::warn, "unknown environment variable; ignored",
                  {{"name", each.name}, {"nearest", each.nearest.empty() ? "-" : each.nearest}});
    }
    if (const sqlite_release sqlite = sqlite_in_use(); sqlite.loses_pages) {
        log_->log(log_level::debug,
                  "SQLite with the WAL-reset bug; only one connection writes and checkpoints",
                  {{"version", sqlite.version}});
    }
}

void server::warn_of_expiry() {
    if (!speaks_tls() || config_.tls.expires - clock_->now() > expiry_noticed) return;
    log_->log(log_level::warn,
              "TLS certificate expired or expires within 7 days; renew, then send SIGHUP",
              {{"expires", to_rfc3339(config_.tls.expires)},
               {"certificate", config_.tls.certificate.string()}});
}

void server::log_backup(const fs::path& dir, const jobs::backup_answer& done) {
    if (const auto* const failed = std::get_if<jobs::backup_failed>(&done)) {
        log_->log(log_level::error, "backup failed",
                  {{"directory", dir.string()}, {"error", failed->why}});
    } else {
        const auto& made = std::get<backup_manifest>(done);
        log_->log(log_level::info, "backup created",
                  {{"directory", dir.string()}, {"bytes", std::to_string(made.bytes)}});
    }
}

void server::check_told(std::error_code error) {
    if (!error) return;
    log_->log(log_level::warn, "service manager not notified", {{"error", error.message()}});
}

}  // namespace callsign
