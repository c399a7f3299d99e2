#pragma once
// Counts the events of all probes for Prometheus, under the prefix callsign_, and adds readings of
// process and disk when a text is produced (docs/operations.md). The only user of the Prometheus
// library. Thread-safe.

#include "process_readings.hpp"

#include <callsign/engine/outbox.hpp>
#include <callsign/engine/probe.hpp>
#include <callsign/jobs/backups.hpp>
#include <callsign/jobs/webhook_options.hpp>
#include <callsign/net/http.hpp>
#include <callsign/ports/shared_store.hpp>
#include <callsign/reaper/reaper.hpp>
#include <callsign/store/sqlite.hpp>

#include <memory>
#include <string>

namespace callsign::setup {

class metrics {
  public:
    metrics();
    ~metrics();
    metrics(const metrics&) = delete;
    metrics& operator=(const metrics&) = delete;

    engine_probe& engine();
    reaper_probe& reaper();
    outbox_probe& outbox();
    net::http_probe& http();
    // Current use of net's body budget; set before a text is produced.
    void bodies_held(std::size_t bytes);
    // Current number of the feed's followers, set likewise.
    void followers(std::size_t count);
    void webhooks(const jobs::delivery_counts& so_far);
    void remotes(const outbox_totals& now);
    // `every`: the interval of scheduled backups; zero: disabled.
    void backups(const jobs::backup_tally& so_far, milliseconds every);
    void space(const sqlite_space& now);
    // Only of a store in PostgreSQL.
    void postgres(const shared_store_usage& now);
    void process(const process_readings& now);
    void ready(bool is_ready);
    // Another server owns the store.
    void standby(bool stands_by);

    // Returns the text exposition format, version 0.0.4.
    std::string text() const;

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace callsign::setup
