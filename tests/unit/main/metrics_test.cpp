#include "main/setup/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign::setup {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST(metrics, all_but_the_routes_is_there_from_the_start) {
    const metrics m;
    const std::string text = m.text();
    for (const char* line :
         {"callsign_queue_depth 0", "callsign_batch_commands_count 0",
          "callsign_batch_seconds_sum 0", "callsign_commit_seconds_bucket{le=\"+Inf\"} 0",
          "callsign_batches_failed_total 0", "callsign_creates_total{outcome=\"created\"} 0",
          "callsign_creates_total{outcome=\"refused\"} 0", "callsign_slots{state=\"pending\"} 0",
          "callsign_retry_seconds_count 0", "callsign_late_retries_total 0",
          "callsign_reaper_sweeps_total 0", "callsign_reaper_slots_total{result=\"scanned\"} 0",
          "callsign_reaper_sweep_seconds_count 0", "callsign_reaper_failures_total 0",
          "callsign_http_connections 0", "callsign_http_connections_refused_total 0",
          "callsign_http_timeouts_total 0", "# TYPE callsign_build_info gauge"}) {
        EXPECT_THAT(text, HasSubstr(std::string(line)));
    }
    EXPECT_THAT(text, HasSubstr("version=\"" CALLSIGN_VERSION "\""));
}

TEST(metrics, engine_events) {
    metrics m;
    m.engine().queue_depth_changed(17);
    m.engine().turned_away(engine_probe::lacking::account_bytes);
    m.engine().create_answered(engine_probe::create_outcome::replayed);
    m.engine().create_answered(engine_probe::create_outcome::in_progress);
    m.engine().retry_seen(3s, false);
    m.engine().retry_seen(20min, true);
    m.engine().batch_committed(40, 3ms, 2ms);
    m.engine().batch_failed(1);
    m.engine().slots_counted({.pending = 1, .committed = 2, .failed = 3});
    const std::string text = m.text();
    for (const char* line :
         {"callsign_queue_depth 17\n", "callsign_turned_away_total{lacking=\"account_bytes\"} 1\n",
          "callsign_turned_away_total{lacking=\"time\"} 0\n",
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
    m.reaper().window_changed(account_class::here, 10min, now);
    now.choice.window = 30s;
    m.reaper().window_chosen(account_class::elsewhere, now);
    const std::string text = m.text();
    for (const char* line : {"callsign_reaper_window_seconds{accounts=\"here\"} 62\n",
                             "callsign_reaper_window_seconds{accounts=\"elsewhere\"} 30\n",
                             "callsign_reaper_window_wanted_seconds{accounts=\"here\"} 41\n",
                             "callsign_reaper_window_changes_total{accounts=\"here\"} 1\n",
                             "callsign_reaper_window_changes_total{accounts=\"elsewhere\"} 0\n",
                             "callsign_retry_samples{accounts=\"here\"} 150.5\n",
                             "callsign_reaper_slots_failed{accounts=\"here\"} 3\n",
                             "callsign_reaper_slots_failed_retried{accounts=\"here\"} 1\n",
                             "callsign_retry_quantile_seconds{accounts=\"here\",quantile=\"0.99\"} "
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
    m.http().connection_opened();
    m.http().connection_opened();
    m.http().connection_closed();
    m.http().connection_refused();
    m.http().connection_timed_out();
    const std::string text = m.text();
    for (const char* line :
         {"callsign_reaper_slots_total{result=\"scanned\"} 9\n",
          "callsign_reaper_slots_total{result=\"forgotten\"} 4\n",
          "callsign_reaper_failures_total 1\n", "callsign_clock_behind_seconds 90\n",
          "callsign_clock_jumps_total 1\n", "callsign_http_connections 1\n",
          "callsign_http_connections_refused_total 1\n", "callsign_http_timeouts_total 1\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST(metrics, requests_by_route_and_class_of_status) {
    metrics m;
    // Equal texts at different addresses are one route.
    const std::string same = "/v1/tasks";
    m.answered("/v1/tasks", 201, 2ms);
    m.answered(same, 201, 2ms);
    m.answered("/v1/tasks", 422, 1ms);
    m.answered("/v1/tasks/{ref}", 200, 1ms);
    m.answered("/v1/tasks", 999, 1ms);
    const std::string text = m.text();
    for (const char* line :
         {"callsign_http_requests_total{route=\"/v1/tasks\",status=\"2xx\"} 2\n",
          "callsign_http_requests_total{route=\"/v1/tasks\",status=\"4xx\"} 1\n",
          "callsign_http_requests_total{route=\"/v1/tasks\",status=\"other\"} 1\n",
          "callsign_http_requests_total{route=\"/v1/tasks/{ref}\",status=\"2xx\"} 1\n",
          "callsign_http_request_seconds_count{route=\"/v1/tasks\"} 4\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST(metrics, routes_are_bounded) {
    metrics m;
    for (int i = 0; i < 300; ++i) m.answered("/route/" + std::to_string(i), 200, 1ms);
    const std::string text = m.text();
    EXPECT_THAT(text, HasSubstr("{route=\"/route/199\",status=\"2xx\"} 1\n"));
    EXPECT_THAT(text, Not(HasSubstr("/route/200")));
    EXPECT_THAT(text, HasSubstr("{route=\"other\",status=\"2xx\"} 100\n"));
}

}  // namespace
}  // namespace callsign::setup
