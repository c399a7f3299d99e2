// Goal: the log has complete lines for requests, under stable names, and clients cannot flood it.
// Method: the probe gets requests, with a clock of the test, and a logger stores the lines.

#include "main/logging_probes.hpp"

#include <boost/beast/http/verb.hpp>
#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace callsign {
namespace {

using namespace std::chrono_literals;
using platform::log_level;

struct line {
    log_level level;
    std::string event;
    std::map<std::string, std::string> fields;
    std::string first_field;
};

struct kept_lines final : platform::logger {
    explicit kept_lines(std::vector<line>& all) : lines(all) {}
    void log(log_level level, std::string_view event,
             std::initializer_list<platform::log_field> fields) override {
        line added{level, std::string(event), {}, {}};
        for (const auto& [name, value] : fields) {
            if (added.fields.empty()) added.first_field = name;
            added.fields.emplace(name, value);
        }
        lines.push_back(std::move(added));
    }
    bool enabled(log_level level) const noexcept override { return level >= from; }

    std::vector<line>& lines;
    log_level from = log_level::debug;
};

struct request_lines : ::testing::Test {
    request_lines() {
        request.method(boost::beast::http::verb::post);
        request.target("/v1/tasks/SECRET-42?token=cs_secret");
        request.id = "ab-1";
        request.client_address = net::to_bytes(boost::asio::ip::make_address("192.0.2.7"));
        facts.route = "/v1/tasks/{ref}";
        facts.account = "home";
        facts.caller = "laptop";
    }

    std::vector<line> finish(unsigned status, bool is_upstream_error = false) {
        lines.clear();
        requests.request_finished({.request = request,
                                   .status = status,
                                   .facts = facts,
                                   .is_upstream_error = is_upstream_error,
                                   .took = 1'234'567ns,
                                   .bytes_in = 25,
                                   .bytes_out = 310,
                                   .sent = true});
        return lines;
    }
    line only(unsigned status, bool is_upstream_error = false) {
        auto all = finish(status, is_upstream_error);
        EXPECT_EQ(all.size(), 1u);
        return all.empty() ? line{} : all[0];
    }
    // The number of lines for `times` such requests.
    std::size_t flood(int times, unsigned status) {
        std::size_t count = 0;
        for (int i = 0; i < times; ++i) count += finish(status).size();
        return count;
    }

    net::http_request request;
    net::request_facts facts;
    std::vector<line> lines;
    current_logger log = std::make_unique<kept_lines>(lines);
    platform::log_options options;
    net::http_probe none;
    line_budget::clock::time_point now{1h};
    request_log requests{log, none, options, [this] { return now; }};
};

TEST_F(request_lines, have_the_client_the_request_and_its_outcome) {
    const line said = only(201);
    EXPECT_EQ(said.level, log_level::info);
    EXPECT_EQ(said.event, "request");
    EXPECT_EQ(said.fields, (std::map<std::string, std::string>{{"client", "192.0.2.7"},
                                                               {"method", "POST"},
                                                               {"route", "/v1/tasks/{ref}"},
                                                               {"status", "201"},
                                                               {"ms", "1.235"},
                                                               {"in", "25"},
                                                               {"out", "310"},
                                                               {"account", "home"},
                                                               {"by", "laptop"},
                                                               {"reason", "-"},
                                                               {"sent", "yes"},
                                                               {"request", "ab-1"}}));
}

TEST_F(request_lines, limit_values_that_clients_choose) {
    request.method_string("BREW-" + std::string(5000, 'X'));
    facts.account = std::string(5000, 'a');
    facts.caller = std::string(5000, 'b');
    const line said = only(404);
    std::size_t bytes = 0;
    for (const auto& [name, value] : said.fields) bytes += name.size() + value.size();
    EXPECT_LT(bytes, 400u);
    EXPECT_EQ(said.fields.at("method"), "other");
}

TEST_F(request_lines, are_at_the_level_that_is_configured) {
    options.requests = "debug";
    EXPECT_EQ(only(201).level, log_level::debug);
    options.requests = "off";
    EXPECT_TRUE(finish(201).empty());
    EXPECT_EQ(only(500).level, log_level::error) << "server errors are logged regardless";
}

TEST_F(request_lines, of_routine_probes_are_at_debug) {
    for (const char* route : {"/livez", "/readyz", "/metrics"}) {
        facts.route = route;
        EXPECT_EQ(only(200).level, log_level::debug);
        EXPECT_EQ(only(503).level, log_level::debug);
    }
}

// A remote server that is down for an hour would otherwise fill the log.
TEST_F(request_lines, errors_of_remote_servers_are_not_server_errors) {
    EXPECT_EQ(only(201).level, log_level::info);
    EXPECT_EQ(only(503).level, log_level::error);
    EXPECT_EQ(only(503, true).level, log_level::info);
}

TEST_F(request_lines, of_failures_are_limited_and_dropped_ones_are_counted) {
    EXPECT_EQ(flood(1000, 503), 20u);
    now += 1s;
    const auto after = finish(503);
    ASSERT_EQ(after.size(), 2u);
    EXPECT_EQ(after[0].event, "request-lines-dropped");
    EXPECT_EQ(after[0].fields.at("count"), "980");
    EXPECT_EQ(flood(100, 201), 100u) << "successful requests have their own lines";
}

TEST_F(request_lines, of_anonymous_clients_are_limited_whether_they_are_rejected_or_not) {
    facts.account = facts.caller = "";
    EXPECT_EQ(flood(1000, 200), 50u);
    EXPECT_EQ(flood(1000, 404), 50u) << "rejected requests have a limit of their own";
    facts.account = "home";
    EXPECT_EQ(flood(100, 404), 100u) << "an account has a limit of its own";
}

TEST_F(request_lines, of_rejections_begin_with_the_client) {
    facts = {.route = "/v1/tasks", .rejected = "auth-failed", .reason = "unknown-token"};
    const auto said = finish(401);
    ASSERT_EQ(said.size(), 2u);
    EXPECT_EQ(said[0].level, log_level::warn);
    EXPECT_EQ(said[0].event, "auth-failed");
    EXPECT_EQ(said[0].first_field, "client");
    EXPECT_EQ(said[0].fields, (std::map<std::string, std::string>{{"client", "192.0.2.7"},
                                                                  {"reason", "unknown-token"},
                                                                  {"route", "/v1/tasks"},
                                                                  {"account", "-"},
                                                                  {"by", "-"},
                                                                  {"request", "ab-1"}}));
    EXPECT_EQ(said[1].event, "request");
    EXPECT_EQ(said[1].fields.at("reason"), "unknown-token");
}

TEST_F(request_lines, of_one_kind_of_rejection_do_not_use_up_the_limit_of_others) {
    options.requests = "off";
    facts = {.route = "/v1/tasks", .rejected = "auth-failed", .reason = "unknown-token"};
    EXPECT_EQ(flood(1000, 401), 21u);
    facts.rejected = "sync-rejected";
    EXPECT_EQ(flood(1000, 404), 21u);
    now += 1s;
    EXPECT_EQ(flood(1000, 404), 22u);
}

TEST_F(request_lines, of_one_rejected_client_hide_no_other) {
    options.requests = "off";
    facts = {.route = "/v1/tasks", .rejected = "auth-failed", .reason = "unknown-token"};
    for (int second = 0; second < 2; ++second, now += 1s) {
        flood(1000, 401);
        request.client_address = net::to_bytes(boost::asio::ip::make_address("192.0.2.8"));
        const auto said = finish(401);
        ASSERT_EQ(said.size(), 1u);
        EXPECT_EQ(said[0].fields.at("client"), "192.0.2.8");
        EXPECT_TRUE(finish(401).empty());
        request.client_address = net::to_bytes(boost::asio::ip::make_address("192.0.2.7"));
    }
    // This holds for any number of clients.
    std::size_t lines = 0;
    for (int n = 0; n < 1000; ++n) {
        request.client_address = net::to_bytes(
            boost::asio::ip::address_v4(boost::asio::ip::address_v4::uint_type{0x0a000000} + n));
        lines += finish(401).size();
    }
    EXPECT_EQ(lines, 64u + 20u + 1u) << "and one line with the number of dropped ones";
}

struct write_lines : ::testing::Test {
    std::vector<line> lines;
    current_logger log = std::make_unique<kept_lines>(lines);
    engine_probe none;
    write_log writes{log, none};
};

TEST_F(write_lines, report_when_writes_are_rejected_and_when_they_resume) {
    using kind = store_failure::kind;
    writes.write_failure_changed(store_failure(kind::full, "no room"));
    writes.write_failure_changed(store_failure(kind::io_error, "EIO"));
    writes.write_failure_changed(store_failure(kind::read_only, "read-only"));
    writes.write_failure_changed(store_failure(kind::corrupt, "a page"));
    writes.write_failure_changed(std::nullopt);
    ASSERT_EQ(lines.size(), 5u);
    const char* const reasons[] = {"disk-full", "io-error", "read-only", "damaged"};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(lines[i].event, "writes-rejected");
        EXPECT_EQ(lines[i].level, log_level::error);
        EXPECT_EQ(lines[i].fields.at("reason"), reasons[i]);
    }
    EXPECT_EQ(lines[4].event, "writes-resumed");
}

TEST_F(write_lines, report_unreadable_data_once_a_minute) {
    using kind = store_failure::kind;
    for (int times = 0; times < 3; ++times) {
        writes.read_failed(store_failure(kind::damaged, "tasks, row 5"));
        writes.read_failed(store_failure(kind::corrupt, "a page"));
        writes.read_failed(store_failure(kind::read_failed, "EIO"));
    }
    ASSERT_EQ(lines.size(), 3u);
    const char* const events[] = {"a record is damaged", "the store is damaged",
                                  "the disk cannot be read"};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(lines[i].event, events[i]);
        EXPECT_EQ(lines[i].level, log_level::error);
    }
    EXPECT_EQ(lines[0].fields.at("where"), "tasks, row 5");
}

}  // namespace
}  // namespace callsign
