#pragma once
// The reaper decides only when to look and what to ask for; the work is done by commands in the one
// queue (reconcile_pending, forget_settled, scrub_purged), so a race with a live request is settled
// by queue order. A sweep may stop anywhere and run again.
//
// The window it asks with is the configured one, or one that it chooses of how long clients are
// seen to take until they retry (domain/auto_window.hpp). What it sees is kept in the store, at
// most once a sweep, and read when the first sweep begins: until that is read nothing is failed.
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
    // Between the end of one sweep and the start of the next.
    milliseconds interval{std::chrono::seconds{30}};
    // How long a slot may stay pending; none: `automatic` chooses. Longer than a client's longest
    // pause between retries: a client that comes back later gets a definite 409 and needs a new
    // key.
    std::optional<milliseconds> window{};
    // How long committed and failed slots are remembered, so that a retry still gets its answer.
    milliseconds retention{std::chrono::hours{24 * 7}};
    // How long it is remembered how tasks stood before they were changed: a feed can be read from
    // a cursor as old as that.
    milliseconds history_retention{std::chrono::hours{24 * 30}};
    // So long a deleted account can be had back.
    milliseconds account_grace{std::chrono::hours{24 * 30}};
    // How long the audit log goes back.
    milliseconds audit_keep{std::chrono::hours{24 * 365}};
    // Slots looked at in one step; the queue serves clients between steps.
    std::int64_t batch = 500;
    auto_window_options automatic{};
};

// One class's window, and what it was chosen of. Counts are decayed: what happened a half-life ago
// counts for half.
struct window_status {
    window_choice choice;
    double samples = 0;
    // Of retries, each part of the accounts counted for no more than samples_min; none: no retries.
    std::optional<milliseconds> p50, p90, p99;
    double failed = 0;  // slots
    double late = 0;    // of them, those whose clients came back
    // What others would have done, and the one in force; in their order.
    struct other_window {
        milliseconds window;
        retry_times::outcome would_have;
    };
    std::vector<other_window> others;
    // What the quantiles are of, by how long retries took, in that order; buckets that hold none
    // are left out.
    struct retry_bucket {
        double retries;
        other_window up_to;  // one as long as the bucket's longest
    };
    std::vector<retry_bucket> retries;
    std::int64_t changes = 0;  // since the start, and when the last one was
    std::optional<time_point> changed_at;
};

struct sweep_result {
    std::int64_t scanned = 0;
    std::int64_t committed = 0;
    std::int64_t failed = 0;
    std::int64_t forgotten = 0;
    std::int64_t scrubbed = 0;  // purged tasks whose text is gone
};

class reaper_probe {
  public:
    virtual ~reaper_probe() = default;
    virtual void swept(const sweep_result& /*result*/, milliseconds /*took*/) {}
    virtual void sweep_failed(const boost::system::error_code& /*error*/) {}
    // After each sweep: how far the wall clock is behind the store's time; zero if it is not.
    virtual void clock_compared(milliseconds /*behind*/) {}
    // A window was chosen, or set, that is another than the one before.
    virtual void window_changed(account_class /*accounts*/, milliseconds /*from*/,
                                const window_status& /*now*/) {}
    // Before each sweep: what it asks with.
    virtual void window_chosen(account_class /*accounts*/, const window_status& /*now*/) {}
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
    per_class<window_status> windows;
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
