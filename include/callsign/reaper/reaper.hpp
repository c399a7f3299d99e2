#pragma once
// The reaper decides only when to look and what to ask for; the work is done by commands in the one
// queue (reconcile_pending, forget_settled), so a race with a live request is settled by queue
// order. A sweep may stop anywhere and run again.
//
// Threads: everything on the network executor.

#include <callsign/base/result.hpp>
#include <callsign/base/time.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/engine/outbox.hpp>
#include <callsign/ports/clock.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>

namespace callsign {

struct reaper_options {
    // Between the end of one sweep and the start of the next.
    milliseconds interval{std::chrono::seconds{30}};
    // How long a slot may stay pending. Longer than a client's longest pause between retries: a
    // client that comes back later gets a definite 409 and needs a new key.
    milliseconds window{std::chrono::minutes{10}};
    // How long committed and failed slots are remembered, so that a retry still gets its answer.
    milliseconds retention{std::chrono::hours{24 * 7}};
    // How long it is remembered how tasks stood before they were changed: a feed can be read from
    // a cursor as old as that.
    milliseconds history_retention{std::chrono::hours{24 * 30}};
    // Slots looked at in one step; the queue serves clients between steps.
    std::int64_t batch = 500;
};

struct sweep_result {
    std::int64_t scanned = 0;
    std::int64_t committed = 0;
    std::int64_t failed = 0;
    std::int64_t forgotten = 0;
};

class reaper_probe {
  public:
    virtual ~reaper_probe() = default;
    virtual void swept(const sweep_result& /*result*/, milliseconds /*took*/) {}
    virtual void sweep_failed(const boost::system::error_code& /*error*/) {}
    // After each sweep: how far the wall clock is behind the store's time; zero if it is not.
    virtual void clock_compared(milliseconds /*behind*/) {}
};

// A wall clock that is less behind the store's time is nothing to speak of: clocks are set a little
// now and then.
inline constexpr milliseconds clock_behind_noticed{std::chrono::seconds{5}};

struct reaper_status {
    reaper_options options;
    std::int64_t sweeps = 0;
    std::optional<time_point> last_sweep;
    sweep_result last_result;
    milliseconds clock_behind{0};  // as engine::clock_behind()
};

class reaper {
  public:
    reaper(engine& engine, clock& clock, const boost::asio::any_io_executor& network,
           reaper_options options, reaper_probe& probe);
    ~reaper();
    reaper(const reaper&) = delete;
    reaper& operator=(const reaper&) = delete;

    // Whom to ask what became of slots whose tasks live elsewhere. Outlives the reaper.
    void ask_elsewhere(outbox& outbox);

    // Sweeps until stop(). Spawn once.
    boost::asio::awaitable<void> run();
    void stop();

    // One whole sweep now. A second caller waits for its turn: sweeps do not overlap.
    boost::asio::awaitable<result<sweep_result>> sweep_once();

    // In force from the next step on.
    void reload(reaper_options options);

    reaper_status status() const;

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace callsign
