#include "metrics.hpp"

#include <callsign/store/sqlite.hpp>

#include <array>
#include <map>
#include <mutex>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unordered_map>
#include <utility>

namespace callsign::setup {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;
using buckets = Histogram::BucketBoundaries;

// Range of the server's latencies: tens of microseconds for a COMMIT on a good disk, seconds on a
// bad one.
const buckets latency_seconds{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                              0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};
const buckets batch_sizes{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
// Retries come after anything from a lost packet to a night.
const buckets retry_seconds{0.1, 0.5, 1,   2,    5,    10,   30,    60,
                            120, 300, 600, 1800, 3600, 7200, 21600, 86400};
const buckets sweep_seconds{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300};

// Route templates are few and fixed. Beyond this many they are counted together, so that a defect
// cannot fill the memory.
constexpr std::size_t routes_max = 200;

constexpr std::array<const char*, 6> status_classes{"other", "1xx", "2xx", "3xx", "4xx", "5xx"};

double seconds(std::chrono::nanoseconds span) {
    return std::chrono::duration<double>(span).count();
}

Family<Counter>& counters(Registry& registry, const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}
Family<Gauge>& gauges(Registry& registry, const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}
Counter& counter(Registry& registry, const char* name, const char* help) {
    return counters(registry, name, help).Add({});
}
Gauge& gauge(Registry& registry, const char* name, const char* help) {
    return gauges(registry, name, help).Add({});
}
// Returns the metrics of a family with these values of a label.
template <class Metric, std::size_t Size>
std::array<Metric*, Size> labelled(Family<Metric>& of, const char* label,
                                   const char* const (&values)[Size]) {
    std::array<Metric*, Size> all{};
    for (std::size_t i = 0; i < Size; ++i) all[i] = &of.Add({{label, values[i]}});
    return all;
}
Histogram& histogram(Registry& registry, const char* name, const char* help, const buckets& at) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, at);
}

class engine_metrics final : public engine_probe {
  public:
    explicit engine_metrics(Registry& r) : r_(r) {}

    void queue_depth_changed(std::size_t depth) override {
        queue_depth_.Set(static_cast<double>(depth));
    }
    void rejected(limit resource) override {
        overloaded_.at(static_cast<std::size_t>(resource))->Increment();
    }
    void create_answered(create_outcome outcome) override {
        creates_.at(static_cast<std::size_t>(outcome))->Increment();
    }
    void retry_seen(milliseconds after, bool late) override {
        retry_seconds_.Observe(seconds(after));
        if (late) late_retries_.Increment();
    }
    void batch_committed(std::size_t commands, std::chrono::nanoseconds batch,
                         std::chrono::nanoseconds commit) override {
        batch_commands_.Observe(static_cast<double>(commands));
        batch_seconds_.Observe(seconds(batch));
        commit_seconds_.Observe(seconds(commit));
    }
    void batch_failed(std::size_t) override { batches_failed_.Increment(); }
    void account_full(account_limit limit) override {
        account_full_.at(static_cast<std::size_t>(limit))->Increment();
    }
    void clock_jumped(milliseconds) override { clock_jumps_.Increment(); }
    void slots_counted(const slot_counts& counts) override {
        const std::array all{counts.pending, counts.in_flight, counts.committed, counts.failed};
        for (std::size_t i = 0; i < all.size(); ++i) slots_[i]->Set(static_cast<double>(all[i]));
    }
    void totals_counted(const store_totals& totals) override {
        accounts_.Set(static_cast<double>(totals.accounts));
        tasks_.Set(static_cast<double>(totals.tasks));
        open_tasks_.Set(static_cast<double>(totals.open_tasks));
        held_series_.Set(static_cast<double>(totals.held_series));
    }
    void write_failure_changed(const std::optional<store_failure>& now) override {
        using kind = store_failure::kind;
        constexpr std::array reasons{kind::full, kind::io_error, kind::read_only, kind::corrupt};
        for (std::size_t i = 0; i < reasons.size(); ++i) {
            writes_rejected_[i]->Set(now && now->reason() == reasons[i] ? 1 : 0);
        }
    }
    void read_failed(const store_failure& why) override {
        using kind = store_failure::kind;
        unread_[why.reason() == kind::damaged   ? 0
                : why.reason() == kind::corrupt ? 1
                                                : 2]
            ->Increment();
    }

  private:
    Registry& r_;
    static constexpr std::size_t creates_size =
        static_cast<std::size_t>(create_outcome::rejected) + 1;
    static constexpr std::size_t limits_size = static_cast<std::size_t>(limit::time) + 1;
    static constexpr std::size_t account_limits_size =
        static_cast<std::size_t>(account_limit::former_prefixes) + 1;

    Gauge& queue_depth_ = gauge(r_, "callsign_queue_depth",
                                "Commands, queries and long-running work, queued or in progress.");
    Histogram& batch_commands_ =
        histogram(r_, "callsign_batch_commands", "Commands in one batch.", batch_sizes);
    Histogram& batch_seconds_ = histogram(
        r_, "callsign_batch_seconds",
        "Time from the first command of a batch until the batch is durable.", latency_seconds);
    Histogram& commit_seconds_ =
        histogram(r_, "callsign_commit_seconds",
                  "Time from the COMMIT of a batch until it is durable.", latency_seconds);
    Counter& batches_failed_ =
        counter(r_, "callsign_batches_failed_total", "Batches that did not commit.");
    Counter& clock_jumps_ = counter(r_, "callsign_clock_jumps_total",
                                    "Forward steps of the wall clock while the server ran.");
    Histogram& retry_seconds_ =
        histogram(r_, "callsign_retry_seconds",
                  "Time from the reservation of a key to a retry with it.", retry_seconds);
    Counter& late_retries_ =
        counter(r_, "callsign_late_retries_total",
                "Retries received after the reaper failed their slot. A positive "
                "rate means that reaper.window is too short.");
    Gauge& accounts_ = gauge(r_, "callsign_accounts", "Accounts.");
    Gauge& tasks_ =
        gauge(r_, "callsign_tasks", "Tasks, completed, deleted and purged ones included.");
    Gauge& open_tasks_ =
        gauge(r_, "callsign_tasks_open",
              "Tasks that have a number and are not completed, deleted or purged.");
    Gauge& held_series_ = gauge(r_, "callsign_series_held", "Series held since a restore.");
    std::array<Counter*, creates_size> creates_ = labelled(
        counters(r_, "callsign_creates_total", "Creations, by outcome."), "outcome",
        {"created", "replayed", "existing", "failed", "conflict", "in_progress", "rejected"});
    std::array<Counter*, limits_size> overloaded_ = labelled(
        counters(r_, "callsign_overloaded_total",
                 "Requests rejected with 503, by exhausted limit: depth or bytes of the queue or "
                 "of the account's share, or time to the deadline."),
        "limit", {"depth", "bytes", "account_depth", "account_bytes", "time"});
    std::array<Counter*, account_limits_size> account_full_ =
        labelled(counters(r_, "callsign_account_full_total",
                          "Requests rejected because of a limit of the account."),
                 "limit", {"stored_bytes", "tokens", "former_prefixes"});
    std::array<Gauge*, 4> slots_ =
        labelled(gauges(r_, "callsign_slots", "Slots, by state."), "state",
                 {"pending", "in_flight", "committed", "failed"});
    std::array<Gauge*, 4> writes_rejected_ = labelled(
        gauges(r_, "callsign_writes_rejected", "1 if writes are rejected for this reason, else 0."),
        "reason", {"disk-full", "io-error", "read-only", "damaged"});
    std::array<Counter*, 3> unread_ = labelled(
        counters(r_, "callsign_read_failures_total",
                 "Requests that failed because of corruption or a read error: of a record, the "
                 "store or the disk."),
        "of", {"record", "store", "disk"});
};

// Metrics of one class of accounts.
struct window_gauges {
    Gauge& window;
    Gauge& wanted;
    Counter& changes;
    Gauge& samples;
    Gauge& failed;
    Gauge& late;
    Gauge& p50;
    Gauge& p90;
    Gauge& p99;
};

struct window_families {
    explicit window_families(Registry& r)
        : window(
              gauges(r, "callsign_reaper_window_seconds", "Reaper window, by class of accounts.")),
          wanted(gauges(r, "callsign_reaper_window_wanted_seconds",
                        "Window derived from retries alone, within its limits.")),
          changes(counters(r, "callsign_reaper_window_changes_total",
                           "Changes of the window, automatic or by a reload.")),
          samples(gauges(r, "callsign_retry_samples",
                         "Weighted number of retries that the window is derived from.")),
          failed(gauges(r, "callsign_reaper_slots_failed",
                        "Recently failed slots, weighted by age with a half-life.")),
          late(gauges(r, "callsign_reaper_slots_failed_retried",
                      "Recently failed slots whose clients retried, weighted likewise.")),
          quantiles(gauges(r, "callsign_retry_quantile_seconds",
                           "Quantiles of the time to a retry, weighted by account.")) {}

    window_gauges of(const char* name) {
        const auto quantile = [&](const char* q) -> Gauge& {
            return quantiles.Add({{"accounts", name}, {"q", q}});
        };
        const prometheus::Labels who{{"accounts", name}};
        return {window.Add(who),  wanted.Add(who), changes.Add(who),
                samples.Add(who), failed.Add(who), late.Add(who),
                quantile("0.5"),  quantile("0.9"), quantile("0.99")};
    }

    Family<Gauge>& window;
    Family<Gauge>& wanted;
    Family<Counter>& changes;
    Family<Gauge>& samples;
    Family<Gauge>& failed;
    Family<Gauge>& late;
    Family<Gauge>& quantiles;
};

class reaper_metrics final : public reaper_probe {
  public:
    explicit reaper_metrics(Registry& r)
        : r_(r),
          slots_(counters(r, "callsign_reaper_slots_total",
                          "Slots processed by the reaper, by result.")),
          scanned_(slots_.Add({{"result", "scanned"}})),
          committed_(slots_.Add({{"result", "committed"}})),
          failed_(slots_.Add({{"result", "failed"}})),
          forgotten_(slots_.Add({{"result", "forgotten"}})),
          windows_(r),
          local_(windows_.of("local")),
          remote_(windows_.of("remote")) {}

    void swept(const sweep_result& result, milliseconds took) override {
        sweeps_.Increment();
        sweep_seconds_.Observe(seconds(took));
        scanned_.Increment(static_cast<double>(result.scanned));
        committed_.Increment(static_cast<double>(result.committed));
        failed_.Increment(static_cast<double>(result.failed));
        forgotten_.Increment(static_cast<double>(result.forgotten));
    }
    void sweep_failed(const boost::system::error_code&) override { failures_.Increment(); }
    void clock_compared(milliseconds behind) override { clock_behind_.Set(seconds(behind)); }
    void window_changed(account_class accounts, milliseconds, const window_status& now) override {
        of(accounts).changes.Increment();
        window_chosen(accounts, now);
    }
    void window_chosen(account_class accounts, const window_status& now) override {
        const window_gauges& g = of(accounts);
        g.window.Set(seconds(now.choice.window));
        g.wanted.Set(seconds(now.choice.wanted));
        g.samples.Set(now.samples);
        g.failed.Set(now.failed);
        g.late.Set(now.late);
        // Without retries there are none.
        if (now.p50) g.p50.Set(seconds(*now.p50));
        if (now.p90) g.p90.Set(seconds(*now.p90));
        if (now.p99) g.p99.Set(seconds(*now.p99));
    }

  private:
    Registry& r_;
    const window_gauges& of(account_class accounts) const {
        return accounts == account_class::local ? local_ : remote_;
    }

    Counter& sweeps_ = counter(r_, "callsign_reaper_sweeps_total", "Sweeps that ran to their end.");
    Histogram& sweep_seconds_ =
        histogram(r_, "callsign_reaper_sweep_seconds", "Duration of one sweep.", sweep_seconds);
    Counter& failures_ = counter(r_, "callsign_reaper_failures_total", "Sweeps that failed.");
    Gauge& clock_behind_ =
        gauge(r_, "callsign_clock_behind_seconds", "Lag of the wall clock behind store time.");
    Family<Counter>& slots_;
    Counter& scanned_;
    Counter& committed_;
    Counter& failed_;
    Counter& forgotten_;
    window_families windows_;
    window_gauges local_;
    window_gauges remote_;
};

// Responses of one route and status class. Created when first needed: a route that never failed has
// no 5xx line.
struct answer_metrics {
    Counter* answered = nullptr;
    Histogram* took = nullptr;
};
struct route_metrics {
    std::string name;
    std::array<answer_metrics, status_classes.size()> by_class{};
};

class request_metrics {
  public:
    explicit request_metrics(Registry& r)
        : requests_(counters(r, "callsign_http_requests_total",
                             "Requests, by route template and status class.")),
          took_(prometheus::BuildHistogram()
                    .Name("callsign_http_request_seconds")
                    .Help("Time from the arrival of a request to its response, by route template "
                          "and status class.")
                    .Register(r)) {}

    // Hashes a short text and allocates nothing: a family's own look-up would copy every label.
    void answered(std::string_view route, unsigned status, std::chrono::nanoseconds took) {
        const std::size_t klass = status / 100 < status_classes.size() ? status / 100 : 0;
        answer_metrics found;
        {
            const std::lock_guard lock(mutex_);
            route_metrics& of = find(route);
            answer_metrics& here = of.by_class[klass];
            if (!here.answered) {
                const prometheus::Labels labels{{"route", of.name},
                                                {"status", status_classes[klass]}};
                here = {&requests_.Add(labels), &took_.Add(labels, latency_seconds)};
            }
            found = here;
        }
        found.answered->Increment();
        found.took->Observe(seconds(took));
    }

  private:
    route_metrics& find(std::string_view route) {
        const auto found = routes_.find(route);
        if (found != routes_.end()) return *found->second;
        if (routes_.size() >= routes_max && route != "other") return find("other");
        auto made = std::make_unique<route_metrics>();
        made->name = route;
        const std::string_view name = made->name;
        return *routes_.emplace(name, std::move(made)).first->second;
    }

    Family<Counter>& requests_;
    Family<Histogram>& took_;
    std::mutex mutex_;
    // The keys are views of the names in the values.
    std::unordered_map<std::string_view, std::unique_ptr<route_metrics>> routes_;
};

// Outcomes of sync requests, in which statuses have their own meanings.
class sync_metrics {
  public:
    explicit sync_metrics(Registry& r)
        : calls_(counters(r, "callsign_sync_total",
                          "Requests of sync clients, by call and outcome.")) {
        for (std::size_t call = 0; call < calls.size(); ++call) {
            for (std::size_t outcome = 0; outcome < outcomes.size(); ++outcome) {
                counters_[call][outcome] =
                    &calls_.Add({{"call", calls[call].name}, {"outcome", outcomes[outcome]}});
            }
        }
    }

    void answered(std::string_view route, unsigned status, std::string_view rejected) {
        for (std::size_t call = 0; call < calls.size(); ++call) {
            if (calls[call].route != route) continue;
            counters_[call][outcome_of(status, rejected)]->Increment();
            return;
        }
    }

  private:
    struct call_name {
        std::string_view route;
        const char* name;
    };
    static constexpr std::array calls{
        call_name{"/v1/client/add-version/{parent}", "add-version"},
        call_name{"/v1/client/get-child-version/{parent}", "get-child-version"},
        call_name{"/v1/client/add-snapshot/{version}", "add-snapshot"},
        call_name{"/v1/client/snapshot", "get-snapshot"}};
    // none: no such version or snapshot, which is how a sync ends. gone: the version has expired,
    // or never existed. rejected: other 4xx. failed: 5xx, to be retried.
    static constexpr std::array outcomes{"ok", "none", "conflict", "gone", "rejected", "failed"};

    static std::size_t outcome_of(unsigned status, std::string_view rejected) {
        if (status < 400) return 0;
        if (status == 404 && rejected.empty()) return 1;
        if (status == 409) return 2;
        if (status == 410) return 3;
        return status < 500 ? 4 : 5;
    }

    Family<Counter>& calls_;
    std::array<std::array<Counter*, outcomes.size()>, calls.size()> counters_{};
};

// Rejections that are logged. Their events and reasons are static texts, and few.
class rejection_metrics {
  public:
    explicit rejection_metrics(Registry& r)
        : rejections_(counters(r, "callsign_rejections_total",
                               "Requests rejected, by event and reason of the log.")) {}

    void answered(std::string_view event, std::string_view reason) {
        if (event.empty()) return;
        Counter*& counter = counters_[{event, reason}];
        if (!counter) {
            counter =
                &rejections_.Add({{"event", std::string(event)}, {"reason", std::string(reason)}});
        }
        counter->Increment();
    }

  private:
    Family<Counter>& rejections_;
    std::map<std::pair<std::string_view, std::string_view>, Counter*> counters_;
};

// The process and its host, as they are when a text is produced.
class machine_metrics {
  public:
    explicit machine_metrics(Registry& r)
        : r_(r),
          backups_(counters(r, "callsign_backups_total", "Backups, by outcome.")),
          made_(backups_.Add({{"outcome", "made"}})),
          failed_(backups_.Add({{"outcome", "failed"}})) {}

    void standby(bool stands_by) { standby_.Set(stands_by ? 1 : 0); }
    void ready(bool is_ready) { ready_.Set(is_ready ? 1 : 0); }
    void space(const sqlite_space& now) {
        database_.Set(static_cast<double>(now.database_bytes));
        log_.Set(static_cast<double>(now.log_bytes));
        free_.Set(static_cast<double>(now.free_bytes));
        disk_.Set(static_cast<double>(now.disk_bytes));
    }
    void postgres(const shared_store_usage& now) {
        for (std::size_t i = 0; i < trips_.size(); ++i) {
            trips_[i]->Increment(static_cast<double>(now.trips[i]) - trips_[i]->Value());
        }
        log_row_.Set(static_cast<double>(now.last_row));
        taken_over_.Set(seconds(now.taken_over_at.time_since_epoch()));
    }
    void backups(const jobs::backup_tally& so_far, milliseconds every) {
        made_.Increment(static_cast<double>(so_far.made) - made_.Value());
        failed_.Increment(static_cast<double>(so_far.failed) - failed_.Value());
        backup_every_.Set(seconds(every));
        if (so_far.newest) backup_at_.Set(seconds(so_far.newest->time_since_epoch()));
    }
    void process(const process_readings& now) {
        if (now.cpu_seconds > cpu_.Value()) cpu_.Increment(now.cpu_seconds - cpu_.Value());
        resident_.Set(static_cast<double>(now.resident_bytes));
        virtual_.Set(static_cast<double>(now.virtual_bytes));
        open_files_.Set(static_cast<double>(now.open_files));
        open_files_max_.Set(static_cast<double>(now.open_files_max));
        start_time_.Set(now.start_time);
    }

  private:
    Registry& r_;
    Gauge& ready_ = gauge(r_, "callsign_ready", "1: as /readyz says.");
    Gauge& standby_ =
        gauge(r_, "callsign_standby", "1: another server owns the store, and this one stands by.");
    Gauge& database_ = gauge(r_, "callsign_database_bytes", "Size of the database file.");
    Gauge& log_ = gauge(r_, "callsign_wal_bytes", "Size of the write-ahead log's file.");
    Gauge& free_ = gauge(r_, "callsign_disk_free_bytes",
                         "Free space on the file system of the data directory.");
    Gauge& disk_ = gauge(r_, "callsign_disk_bytes", "Size of that file system.");
    std::array<Counter*, trips_size> trips_ =
        labelled(counters(r_, "callsign_postgres_round_trips_total",
                          "Round trips to PostgreSQL, by purpose."),
                 "purpose", {"commit", "prefetch", "miss", "read", "heartbeat"});
    Gauge& log_row_ = gauge(r_, "callsign_postgres_log_row",
                            "Last row of the batch log by this server; 0 without PostgreSQL.");
    Gauge& taken_over_ =
        gauge(r_, "callsign_postgres_taken_over_timestamp_seconds",
              "Unix time at which this server took the store over; 0 without PostgreSQL.");
    Gauge& backup_at_ = gauge(r_, "callsign_backup_last_timestamp_seconds",
                              "Unix time of the newest backup; 0 if none is known.");
    Gauge& backup_every_ = gauge(r_, "callsign_backup_interval_seconds",
                                 "Interval of scheduled backups; 0 if disabled.");
    Family<Counter>& backups_;
    Counter& made_;
    Counter& failed_;
    Counter& cpu_ = counter(r_, "process_cpu_seconds_total",
                            "Total user and system CPU time spent in seconds.");
    Gauge& resident_ = gauge(r_, "process_resident_memory_bytes", "Resident memory size in bytes.");
    Gauge& virtual_ = gauge(r_, "process_virtual_memory_bytes", "Virtual memory size in bytes.");
    Gauge& open_files_ = gauge(r_, "process_open_fds", "Number of open file descriptors.");
    Gauge& open_files_max_ =
        gauge(r_, "process_max_fds", "Maximum number of open file descriptors.");
    Gauge& start_time_ = gauge(r_, "process_start_time_seconds",
                               "Start time of the process since unix epoch in seconds.");
};

class http_metrics final : public net::http_probe {
  public:
    explicit http_metrics(Registry& r) : r_(r), requests_(r), sync_(r), rejections_(r) {}

    void connection_opened() override { connections_.Increment(); }
    void connection_closed() override { connections_.Decrement(); }
    void connection_rejected() override { rejected_.Increment(); }
    void connection_evicted() override { evicted_.Increment(); }
    void connection_timed_out() override { timeouts_.Increment(); }
    void session_failed(std::string_view) override { failed_.Increment(); }
    void request_answered(const net::http_request&, const net::http_response& response,
                          std::chrono::nanoseconds took) override {
        const net::request_facts& facts = response.facts;
        requests_.answered(facts.route, response.status, took);
        sync_.answered(facts.route, response.status, facts.rejected);
        rejections_.answered(facts.rejected, facts.reason);
    }
    void bodies_held(std::size_t bytes) { bodies_.Set(static_cast<double>(bytes)); }
    void followers(std::size_t count) { followers_.Set(static_cast<double>(count)); }
    void webhooks(const jobs::delivery_counts& so_far) {
        delivered_.Increment(static_cast<double>(so_far.delivered) - delivered_.Value());
        not_delivered_.Increment(static_cast<double>(so_far.failed) - not_delivered_.Value());
    }

  private:
    Registry& r_;
    Gauge& connections_ = gauge(r_, "callsign_http_connections", "Connections open.");
    Gauge& bodies_ = gauge(r_, "callsign_http_bodies_bytes",
                           "Memory held for request bodies, of http.bodies_bytes_max.");
    Gauge& followers_ = gauge(r_, "callsign_followers", "Connections that follow changes.");
    Counter& delivered_ = counter(r_, "callsign_webhook_deliveries_total",
                                  "Webhook deliveries accepted by their server.");
    Counter& not_delivered_ =
        counter(r_, "callsign_webhook_failures_total", "Failed webhook delivery attempts.");
    Counter& rejected_ =
        counter(r_, "callsign_http_connections_rejected_total",
                "Connections rejected by http.connections_max or an address's share.");
    Counter& evicted_ = counter(r_, "callsign_http_connections_evicted_total",
                                "Idle connections closed to make room for new ones.");
    Counter& timeouts_ = counter(r_, "callsign_http_timeouts_total",
                                 "Connections closed by a timeout of the client.");
    Counter& failed_ = counter(r_, "callsign_http_sessions_failed_total",
                               "Connections closed by an internal error.");
    request_metrics requests_;
    sync_metrics sync_;
    rejection_metrics rejections_;
};

// Remote accounts.
class outbox_metrics final : public outbox_probe {
  public:
    explicit outbox_metrics(Registry& r) : r_(r) {}

    void delivered(delivery outcome) override {
        delivered_.at(static_cast<std::size_t>(outcome))->Increment();
    }
    void looked_up() override { lookups_.Increment(); }
    void fenced() override { fences_.Increment(); }
    void version_pulled() override { pulled_.Increment(); }
    void key_contested() override { contested_.Increment(); }

    void totals(const outbox_totals& now) {
        accounts_.Set(static_cast<double>(now.accounts));
        halted_.Set(static_cast<double>(now.halted));
        failing_.Set(static_cast<double>(now.failing));
        catch_up_.Set(static_cast<double>(now.versions_pulled));
        lag_.Set(seconds(now.lag));
    }

  private:
    Registry& r_;
    static constexpr std::size_t outcomes_size = static_cast<std::size_t>(delivery::found) + 1;

    Counter& lookups_ = counter(r_, "callsign_remote_lookups_total",
                                "Requests to a remote server for the outcome of a version whose "
                                "response was lost.");
    Counter& fences_ = counter(r_, "callsign_remote_fences_total",
                               "Versions sent to fence off late copies of other versions.");
    Counter& pulled_ = counter(r_, "callsign_remote_versions_pulled_total",
                               "Versions pulled from remote servers.");
    Counter& contested_ =
        counter(r_, "callsign_remote_keys_contested_total",
                "Keys no longer corrected because another writer overwrote them.");
    Gauge& accounts_ = gauge(r_, "callsign_remote_accounts", "Remote accounts.");
    Gauge& halted_ = gauge(r_, "callsign_remote_accounts_halted", "Halted remote accounts.");
    Gauge& failing_ = gauge(r_, "callsign_remote_accounts_failing",
                            "Remote accounts whose server is unreachable or responds incorrectly.");
    Gauge& catch_up_ = gauge(r_, "callsign_remote_catch_up_versions",
                             "Versions pulled since the mirrors were last up to date.");
    Gauge& lag_ = gauge(r_, "callsign_remote_lag_seconds",
                        "Time since the mirror furthest behind was up to date.");
    std::array<Counter*, outcomes_size> delivered_ =
        labelled(counters(r_, "callsign_remote_deliveries_total",
                          "Versions sent to remote servers, by outcome."),
                 "outcome", {"accepted", "conflict", "lost", "rejected", "unreachable", "found"});
};

}  // namespace

class metrics::impl {
  public:
    impl() {
        prometheus::BuildGauge()
            .Name("callsign_build_info")
            .Help("Always 1; labels contain the versions.")
            .Register(registry)
            .Add({{"version", CALLSIGN_VERSION}, {"sqlite", sqlite_in_use().version}})
            .Set(1);
    }

    Registry registry;
    engine_metrics engine{registry};
    reaper_metrics reaper{registry};
    http_metrics http{registry};
    outbox_metrics outbox{registry};
    machine_metrics machine{registry};
};

metrics::metrics() : impl_(std::make_unique<impl>()) {}
metrics::~metrics() = default;

engine_probe& metrics::engine() {
    return impl_->engine;
}
reaper_probe& metrics::reaper() {
    return impl_->reaper;
}
outbox_probe& metrics::outbox() {
    return impl_->outbox;
}
net::http_probe& metrics::http() {
    return impl_->http;
}

void metrics::bodies_held(std::size_t bytes) {
    impl_->http.bodies_held(bytes);
}

void metrics::followers(std::size_t count) {
    impl_->http.followers(count);
}

void metrics::webhooks(const jobs::delivery_counts& so_far) {
    impl_->http.webhooks(so_far);
}

void metrics::remotes(const outbox_totals& now) {
    impl_->outbox.totals(now);
}

void metrics::backups(const jobs::backup_tally& so_far, milliseconds every) {
    impl_->machine.backups(so_far, every);
}

void metrics::space(const sqlite_space& now) {
    impl_->machine.space(now);
}
void metrics::postgres(const shared_store_usage& now) {
    impl_->machine.postgres(now);
}

void metrics::process(const process_readings& now) {
    impl_->machine.process(now);
}

void metrics::ready(bool is_ready) {
    impl_->machine.ready(is_ready);
}
void metrics::standby(bool stands_by) {
    impl_->machine.standby(stands_by);
}

std::string metrics::text() const {
    return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace callsign::setup
