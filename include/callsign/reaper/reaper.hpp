#pragma once
// The reaper decides only when to sweep and what to submit. The work is done by commands in the one
// queue (reconcile_pending, forget_settled, scrub_purged), so the order of the queue decides races
// with requests. A sweep may stop anywhere and run again.
//
// The window is the configured one, or is derived from the times after which clients retry
// (domain/auto_window.hpp). What was observed is stored at most once a sweep, and read when the
// first sweep begins; until it has been read no slot is failed.
//
// Threads: everything on the network executor.

#include <callsign/base/result.hpp>
#include <callsign/base/time.hpp>
#include <callsign/domain/auto_window.hpp>
#include <callsign/domain/retry_times.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/engine/outbox.hpp>
#include <callsign/ports/clock.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace callsign {

struct reaper_options {
    // From the end of one sweep to the start of the next.
    milliseconds interval{std::chrono::seconds{30}};
    // How long a slot may stay pending; none: `automatic` decides. Must exceed the longest pause
    // between a client's retries: a client that retries later gets a definite 409 and needs a new
    // key.
    std::optional<milliseconds> window{};
    // Retention of failed slots and of those that created no task. The others are kept as long as
    // their task.
    milliseconds retention{std::chrono::hours{24 * 7}};
    // Retention of task history: the greatest age of a usable feed cursor.
    milliseconds history_retention{std::chrono::hours{24 * 30}};
    // The grace period, in which a deleted account can be restored.
    milliseconds account_grace{std::chrono::hours{24 * 30}};
    // Retention of the audit log.
    milliseconds audit_keep{std::chrono::hours{24 * 365}};
    // Slots per step; the queue serves clients between steps.
    std::int64_t batch = 500;
    // Steps of one sweep that number the tasks of resumed series, and as many that update the keys
    // of renamed ones. Repeated renames of a large series must not keep a sweep from its end.
    std::int64_t series_steps_max = 256;
    auto_window_options automatic{};
};

// The window of one class and the observations it is derived from. Counts decay: an event one
// half-life ago counts half.
struct window_status {
    window_choice choice;
    double samples = 0;
    // Quantiles of retry times, each part of the accounts limited to samples_min; none: no retries.
    std::optional<milliseconds> p50, p90, p99;
    double failed = 0;  // slots that the reaper failed
    double late = 0;    // failed slots whose clients came back
    // Estimates for other windows and the current one, sorted.
    struct other_window {
        milliseconds window;
        retry_times::outcome would_have;
    };
    std::vector<other_window> others;
    // The histogram behind the quantiles, sorted, without empty buckets.
    struct retry_bucket {
        double retries;
        other_window up_to;  // for a window of the bucket's upper edge
    };
    std::vector<retry_bucket> retries;
    std::int64_t changes = 0;  // since the start, and the time of the last one
    std::optional<time_point> changed_at;
};

struct sweep_result {
    std::int64_t scanned = 0;
    std::int64_t committed = 0;
    std::int64_t failed = 0;
    std::int64_t forgotten = 0;
    std::int64_t scrubbed = 0;  // purged tasks whose text was removed
};

class reaper_probe {
  public:
    virtual ~reaper_probe() = default;
    virtual void swept(const sweep_result& /*result*/, milliseconds /*took*/) {}
    virtual void sweep_failed(const boost::system::error_code& /*error*/) {}
    // After each sweep: how far the wall clock is behind the store's time; zero if it is not.
    virtual void clock_compared(milliseconds /*behind*/) {}
    // A window was chosen or configured that differs from the one before.
    virtual void window_changed(account_class /*accounts*/, milliseconds /*from*/,
                                const window_status& /*now*/) {}
    // Before each sweep: the window that it uses.
    virtual void window_chosen(account_class /*accounts*/, const window_status& /*now*/) {}
};

// A wall clock that is less behind the store's time is ignored: clocks are adjusted at times.
inline constexpr milliseconds clock_behind_noticed{std::chrono::seconds{5}};

struct reaper_status {
    reaper_options options;
    std::int64_t sweeps = 0;
    std::optional<time_point> last_sweep;
    sweep_result last_result;
    milliseconds clock_behind{0};  // as engine::clock_behind()
    per_class<window_status> windows;
};

class reaper {
  public:
    reaper(engine& engine, clock& clock, const boost::asio::any_io_executor& network,
           reaper_options options, reaper_probe& probe);
    ~reaper();
    reaper(const reaper&) = delete;
    reaper& operator=(const reaper&) = delete;

    // Sets the outbox, which queries remote servers about slots. It must outlive the reaper.
    void use_outbox(outbox& outbox);

    // Sweeps until stop(). Spawn once.
    boost::asio::awaitable<void> run();
    void stop();

    // Runs one whole sweep now. A second caller waits for its turn: sweeps do not overlap.
    boost::asio::awaitable<result<sweep_result>> sweep_once();

    // Takes effect with the next step.
    void reload(reaper_options options);

    reaper_status status() const;

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace callsign
