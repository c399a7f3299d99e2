#include "main/setup/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign::setup {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(metrics, all_except_those_of_routes_exist_from_the_start) {
    const metrics m;
    const std::string text = m.text();
    for (const char* line :
         {"callsign_queue_depth 0", "callsign_batch_commands_count 0",
          "callsign_batch_seconds_sum 0", "callsign_commit_seconds_bucket{le=\"+Inf\"} 0",
          "callsign_batches_failed_total 0", "callsign_creates_total{outcome=\"created\"} 0",
          "callsign_creates_total{outcome=\"rejected\"} 0", "callsign_slots{state=\"pending\"} 0",
          "callsign_retry_seconds_count 0", "callsign_late_retries_total 0",
          "callsign_reaper_sweeps_total 0", "callsign_reaper_slots_total{result=\"scanned\"} 0",
          "callsign_reaper_sweep_seconds_count 0", "callsign_reaper_failures_total 0",
          "callsign_http_connections 0", "callsign_http_connections_rejected_total 0",
          "callsign_http_timeouts_total 0", "# TYPE callsign_build_info gauge"}) {
        EXPECT_THAT(text, HasSubstr(std::string(line)));
    }
    EXPECT_THAT(text, HasSubstr("version=\"" CALLSIGN_VERSION "\""));
}

TEST(metrics, engine_events) {
    metrics m;
    m.engine().queue_depth_changed(17);
    m.engine().rejected(engine_probe::limit::account_bytes);
    m.engine().create_answered(engine_probe::create_outcome::replayed);
    m.engine().create_answered(engine_probe::create_outcome::in_progress);
    m.engine().retry_seen(3s, false);
    m.engine().retry_seen(20min, true);
    m.engine().batch_committed(40, 3ms, 2ms);
    m.engine().batch_failed(1);
    m.engine().slots_counted({.pending = 1, .committed = 2, .failed = 3});
    const std::string text = m.text();
    for (const char* line :
         {"callsign_queue_depth 17\n", "callsign_overloaded_total{limit=\"account_bytes\"} 1\n",
          "callsign_overloaded_total{limit=\"time\"} 0\n",
          "callsign_creates_total{outcome=\"replayed\"} 1\n",
          "callsign_creates_total{outcome=\"in_progress\"} 1\n",
          "callsign_creates_total{outcome=\"created\"} 0\n",
          "callsign_retry_seconds_bucket{le=\"5\"} 1\n", "callsign_retry_seconds_count 2\n",
          "callsign_late_retries_total 1\n", "callsign_batch_commands_bucket{le=\"32\"} 0\n",
          "callsign_batch_commands_bucket{le=\"64\"} 1\n", "callsign_batches_failed_total 1\n",
          "callsign_slots{state=\"failed\"} 3\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST(metrics, windows_by_class_of_accounts) {
    metrics m;
    window_status now;
    now.choice.window = 62s;
    now.choice.wanted = 41s;
    now.samples = 150.5;
    now.failed = 3;
    now.late = 1;
    now.p99 = 41s;
    m.reaper().window_changed(account_class::local, 10min, now);
    now.choice.window = 30s;
    m.reaper().window_chosen(account_class::remote, now);
    const std::string text = m.text();
    for (const char* line : {"callsign_reaper_window_seconds{accounts=\"local\"} 62\n",
                             "callsign_reaper_window_seconds{accounts=\"remote\"} 30\n",
                             "callsign_reaper_window_wanted_seconds{accounts=\"local\"} 41\n",
                             "callsign_reaper_window_changes_total{accounts=\"local\"} 1\n",
                             "callsign_reaper_window_changes_total{accounts=\"remote\"} 0\n",
                             "callsign_retry_samples{accounts=\"local\"} 150.5\n",
                             "callsign_reaper_slots_failed{accounts=\"local\"} 3\n",
                             "callsign_reaper_slots_failed_retried{accounts=\"local\"} 1\n",
                             "callsign_retry_quantile_seconds{accounts=\"local\",q=\"0.99\"} "
                             "41\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST(metrics, reaper_and_connection_events) {
    metrics m;
    m.reaper().swept({.scanned = 9, .committed = 2, .failed = 3, .forgotten = 4}, 15ms);
    m.reaper().sweep_failed({});
    m.reaper().clock_compared(90s);
    m.engine().clock_jumped(1s);
    m.engine().account_full(account_limit::tokens);
    m.http().connection_opened();
    m.http().connection_opened();
    m.http().connection_closed();
    m.http().connection_rejected();
    m.http().connection_timed_out();
    const std::string text = m.text();
    for (const char* line :
         {"callsign_reaper_slots_total{result=\"scanned\"} 9\n",
          "callsign_reaper_slots_total{result=\"forgotten\"} 4\n",
          "callsign_reaper_failures_total 1\n", "callsign_clock_behind_seconds 90\n",
          "callsign_clock_jumps_total 1\n", "callsign_account_full_total{limit=\"tokens\"} 1\n",
          "callsign_http_connections 1\n", "callsign_http_connections_rejected_total 1\n",
          "callsign_http_timeouts_total 1\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

struct answers {
    metrics m;
    void add(std::string_view route, unsigned status, std::string_view rejected = {},
             std::string_view reason = {}) {
        net::http_response response;
        response.status = status;
        response.facts.route = route;
        response.facts.rejected = rejected;
        response.facts.reason = reason;
        m.http().request_answered({}, response, 2ms);
    }
};

TEST(metrics, requests_by_route_and_class_of_status) {
    answers a;
    // Equal texts at different addresses are one route.
    const std::string same = "/v1/tasks";
    a.add("/v1/tasks", 201);
    a.add(same, 201);
    a.add("/v1/tasks", 422);
    a.add("/v1/tasks/{ref}", 200);
    a.add("/v1/tasks", 999);
    const std::string text = a.m.text();
    for (const char* line :
         {"callsign_http_requests_total{route=\"/v1/tasks\",status=\"2xx\"} 2\n",
          "callsign_http_requests_total{route=\"/v1/tasks\",status=\"4xx\"} 1\n",
          "callsign_http_requests_total{route=\"/v1/tasks\",status=\"other\"} 1\n",
          "callsign_http_requests_total{route=\"/v1/tasks/{ref}\",status=\"2xx\"} 1\n",
          "callsign_http_request_seconds_count{route=\"/v1/tasks\",status=\"2xx\"} 2\n",
          "callsign_http_request_seconds_count{route=\"/v1/tasks\",status=\"4xx\"} 1\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST(metrics, routes_are_limited) {
    answers a;
    for (int i = 0; i < 300; ++i) a.add("/route/" + std::to_string(i), 200);
    const std::string text = a.m.text();
    EXPECT_THAT(text, HasSubstr("{route=\"/route/199\",status=\"2xx\"} 1\n"));
    EXPECT_THAT(text, Not(HasSubstr("/route/200")));
    EXPECT_THAT(text, HasSubstr("{route=\"other\",status=\"2xx\"} 100\n"));
}

TEST(metrics, sync_calls_by_outcome) {
    answers a;
    a.add("/v1/client/add-version/{parent}", 200);
    a.add("/v1/client/add-version/{parent}", 409);
    a.add("/v1/client/add-version/{parent}", 503);
    a.add("/v1/client/get-child-version/{parent}", 404);
    a.add("/v1/client/get-child-version/{parent}", 404, "sync-rejected", "unknown-client");
    a.add("/v1/client/get-child-version/{parent}", 410, "sync-rejected", "unknown-version");
    a.add("/v1/client/snapshot", 200);
    a.add("/v1/tasks", 409);
    const std::string text = a.m.text();
    for (const char* line :
         {"{call=\"add-version\",outcome=\"ok\"} 1\n",
          "{call=\"add-version\",outcome=\"conflict\"} 1\n",
          "{call=\"add-version\",outcome=\"failed\"} 1\n",
          "{call=\"get-child-version\",outcome=\"none\"} 1\n",
          "{call=\"get-child-version\",outcome=\"rejected\"} 1\n",
          "{call=\"get-child-version\",outcome=\"gone\"} 1\n",
          "{call=\"get-snapshot\",outcome=\"ok\"} 1\n",
          "{call=\"add-snapshot\",outcome=\"ok\"} 0\n",
          "callsign_rejections_total{event=\"sync-rejected\",reason=\"unknown-client\"} 1\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST(metrics, stored_rows_and_whether_writes_are_possible) {
    metrics m;
    m.engine().totals_counted({.accounts = 2, .tasks = 40, .open_tasks = 30, .held_series = 1});
    m.engine().write_failure_changed(store_failure(store_failure::kind::full, "full"));
    m.engine().read_failed(store_failure(store_failure::kind::damaged, "a record"));
    m.ready(false);
    m.space({.database_bytes = 4096, .log_bytes = 824, .free_bytes = 7, .disk_bytes = 70});
    std::string text = m.text();
    for (const char* line :
         {"callsign_accounts 2\n", "callsign_tasks 40\n", "callsign_tasks_open 30\n",
          "callsign_series_held 1\n", "callsign_writes_rejected{reason=\"disk-full\"} 1\n",
          "callsign_writes_rejected{reason=\"io-error\"} 0\n",
          "callsign_writes_rejected{reason=\"damaged\"} 0\n",
          "callsign_read_failures_total{of=\"record\"} 1\n", "callsign_ready 0\n",
          "callsign_database_bytes 4096\n", "callsign_wal_bytes 824\n",
          "callsign_disk_free_bytes 7\n", "callsign_disk_bytes 70\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
    m.engine().write_failure_changed(std::nullopt);
    m.ready(true);
    text = m.text();
    EXPECT_THAT(text, HasSubstr("callsign_writes_rejected{reason=\"disk-full\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("callsign_ready 1\n"));
}

TEST(metrics, a_store_in_postgres) {
    metrics m;
    EXPECT_THAT(m.text(), HasSubstr("callsign_postgres_log_row 0\n"));
    shared_store_usage now{time_point{1'700'000'000s}, 7, {}};
    now.trips = {1, 2, 3, 4, 5};
    m.postgres(now);
    now.trips[static_cast<std::size_t>(trip::miss)] = 9;
    m.postgres(now);
    m.standby(true);
    const std::string text = m.text();
    for (const char* line :
         {"callsign_postgres_round_trips_total{purpose=\"commit\"} 1\n",
          "callsign_postgres_round_trips_total{purpose=\"prefetch\"} 2\n",
          "callsign_postgres_round_trips_total{purpose=\"miss\"} 9\n",
          "callsign_postgres_round_trips_total{purpose=\"read\"} 4\n",
          "callsign_postgres_round_trips_total{purpose=\"heartbeat\"} 5\n",
          "callsign_postgres_log_row 7\n",
          "callsign_postgres_taken_over_timestamp_seconds 1700000000\n", "callsign_standby 1\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST(metrics, backups) {
    metrics m;
    m.backups({.made = 3, .failed = 1, .newest = time_point{1'700'000'000s}}, 24h);
    m.backups({.made = 4, .failed = 1, .newest = time_point{1'700'000'060s}}, 24h);
    const std::string text = m.text();
    for (const char* line : {"callsign_backups_total{outcome=\"made\"} 4\n",
                             "callsign_backups_total{outcome=\"failed\"} 1\n",
                             "callsign_backup_last_timestamp_seconds 1700000060\n",
                             "callsign_backup_interval_seconds 86400\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST(metrics, the_process_as_the_kernel_has_it) {
    const process_readings now = read_process();
    EXPECT_GT(now.cpu_seconds, 0);
    EXPECT_GT(now.resident_bytes, 1 << 20);
    EXPECT_GT(now.virtual_bytes, now.resident_bytes);
    EXPECT_GE(now.open_files, 3);
    EXPECT_GE(now.open_files_max, now.open_files);
    const double unix_now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    EXPECT_LE(now.start_time, unix_now + 1);
    EXPECT_GT(now.start_time, unix_now - 3600);
    metrics m;
    m.process(now);
    m.process({});
    EXPECT_THAT(m.text(), Not(HasSubstr("process_cpu_seconds_total 0\n"))) << "the value increases";
}

}  // namespace
}  // namespace callsign::setup
