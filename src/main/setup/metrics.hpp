#pragma once
// Every probe of every room, counted for Prometheus under the prefix callsign_, and what is read of
// the process and the disk when a text is made. What each means: docs/operations.md. The only part
// that knows Prometheus. Thread safe.

#include "process_readings.hpp"

#include <callsign/api/webhook_options.hpp>
#include <callsign/engine/outbox.hpp>
#include <callsign/engine/probe.hpp>
#include <callsign/jobs/backups.hpp>
#include <callsign/net/http.hpp>
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
    // As net's budget for bodies is now: asked for before a text is made.
    void bodies_held(std::size_t bytes);
    // The same of the feed's.
    void followers(std::size_t count);
    void webhooks(const api::delivery_counts& so_far);
    void remotes(const outbox_totals& now);
    // `every`: how often one is scheduled; zero: never.
    void backups(const jobs::backup_tally& so_far, milliseconds every);
    void space(const sqlite_space& now);
    void process(const process_readings& now);
    void ready(bool is_ready);

    // The text exposition format, version 0.0.4.
    std::string text() const;

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace callsign::setup
