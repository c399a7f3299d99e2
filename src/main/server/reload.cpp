// SIGHUP: the settings that can change without a restart.

#include "../server.hpp"
#include "../setup/changed_keys.hpp"

#include <variant>

namespace callsign {

void server::reload() {
    auto loaded = setup::load_config(source_);
    if (const auto* faults = std::get_if<std::vector<setup::config_fault>>(&loaded)) {
        for (const setup::config_fault& fault : *faults) {
            log_->log(log_level::error, "configuration error",
                      {{"where", fault.where}, {"text", fault.text}});
        }
        log_->log(log_level::error, "configuration reload rejected; settings unchanged",
                  {{"faults", std::to_string(faults->size())}});
        return;
    }
    const auto& fresh = std::get<setup::config>(loaded);
    if (!can_reload(fresh)) return;
    const setup::changed_keys changed = setup::take_changes(told_, fresh);
    config_.tls = fresh.tls;
    config_.http.tls = fresh.http.tls;
    if (speaks_tls()) http_.use_certificate(config_.http.tls);
    config_.reaper = fresh.reaper;
    config_.log.level = fresh.log.level;
    config_.log.requests = fresh.log.requests;
    config_.remote.options = fresh.remote.options;
    reaper_.reload(config_.reaper);
    outbox_.reload(config_.remote.options);
    log_ = platform::make_logger(config_.log);
    log_->log(
        log_level::info, "configuration reloaded",
        {{"window", config_.reaper.window ? to_duration_text(*config_.reaper.window) : "auto"},
         {"interval", to_duration_text(config_.reaper.interval)},
         {"retention", to_duration_text(config_.reaper.retention)},
         {"log_level", config_.log.level},
         {"certificate_expires", speaks_tls() ? to_rfc3339(config_.tls.expires) : "none"},
         {"changed", setup::list_of(changed.in_force)}});
    if (!changed.after_restart.empty()) {
        log_->log(log_level::warn, "changed settings need a restart",
                  {{"keys", setup::list_of(changed.after_restart)}});
    }
    warn_of_expiry();
}

// Each file is valid by itself. Returns whether they may replace the current ones.
bool server::can_reload(const setup::config& fresh) {
    std::string why;
    if (speaks_tls() != (fresh.http.tls != nullptr)) {
        why = "turning TLS on or off needs a restart";
    } else if (speaks_tls() && fresh.tls.expires <= clock_->now() &&
               fresh.tls.expires < config_.tls.expires) {
        why = "the certificate expired at " + to_rfc3339(fresh.tls.expires);
    }
    if (why.empty()) return true;
    log_->log(log_level::error, "configuration reload rejected; settings unchanged",
              {{"error", why}});
    return false;
}

}  // namespace callsign
