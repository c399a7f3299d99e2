#pragma once
// Every probe of every room, counted for Prometheus under the prefix callsign_. The only part that
// knows Prometheus. Thread safe.

#include <callsign/api/webhook_options.hpp>
#include <callsign/engine/outbox.hpp>
#include <callsign/engine/probe.hpp>
#include <callsign/net/http.hpp>
#include <callsign/reaper/reaper.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

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
    // One request answered, by route template and status class.
    void answered(std::string_view route, unsigned status, std::chrono::nanoseconds took);
    // As net's budget for bodies is now: asked for before a text is made.
    void bodies_held(std::size_t bytes);
    // The same of the feed's.
    void followers(std::size_t count);
    void webhooks(const api::delivery_counts& so_far);
    void remotes(const outbox_totals& now);

    // The text exposition format, version 0.0.4.
    std::string text() const;

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace callsign::setup
