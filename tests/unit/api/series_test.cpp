// /v1/series, as clients see it. The numbering of series: tests/unit/rules/series_test.cpp.

#include "support/answer_json.hpp"
#include "support/test_server.hpp"

#include <callsign/rules/rows/series.hpp>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;
using boost::json::object;
using words = std::vector<std::string>;

struct series_over_http : ::testing::Test {
    net::http_response add(std::string body) {
        return h.call(post("/v1/series", std::move(body), syn.token));
    }
    net::http_response change(const std::string& prefix, std::string body) {
        header_list headers = bearer(syn.token);
        headers.emplace_back("Content-Type", "application/merge-patch+json");
        return h.call(make_request(verb::patch, "/v1/series/" + prefix, std::move(body), headers));
    }
    std::string create(const std::string& body) {
        const auto made =
            h.call(post("/v1/tasks", body, syn.token, "k-" + std::to_string(++drawn)));
        return made.status == 201 ? text(body_of(made), "key") : text(body_of(made), "code");
    }
    object shown(const std::string& prefix) {
        const auto list = body_of(h.call(get("/v1/series", syn.token)));
        for (const auto& each : list.at("series").as_array()) {
            if (each.at("prefix").as_string() == prefix) return each.as_object();
        }
        return {};
    }
    static std::string text(const object& from, const char* name) {
        const auto* const found = from.if_contains(name);
        return found ? std::string(found->as_string()) : "";
    }
    static words faults_of(const net::http_response& response) {
        words all;
        const object problem = body_of(response);
        for (const auto& e : problem.at("errors").as_array()) {
            all.push_back(text(e.as_object(), "field") + " " + text(e.as_object(), "code"));
        }
        return all;
    }

    test_server h;
    test_server::made_account syn = h.make_account("board", "SYN");
    int drawn = 0;
};

TEST_F(series_over_http, have_a_maximum) {
    const auto tx = h.disk().begin_write();
    for (std::size_t n = 1; n < series_max; ++n) {
        all_series::put(*tx, syn.id, "S" + std::to_string(n), "", false, h.clock().now());
    }
    tx->commit();
    const auto rejected = add(R"({"prefix":"MORE"})");
    EXPECT_EQ(rejected.status, 409u) << rejected.body;
    EXPECT_EQ(code_of(rejected), "too-many-series");
}

TEST(series_quota, limits_former_prefixes) {
    test_server_options o;
    o.engine.former_prefixes_max = 1;
    test_server h(std::move(o));
    const auto syn = h.make_account("board", "SYN");
    const auto rename = [&](const std::string& path, const std::string& to,
                            const std::string& token) {
        header_list headers = bearer(token);
        headers.emplace_back("Content-Type", "application/json");
        return h.call(make_request(verb::patch, path, R"({"prefix":")" + to + "\"}", headers));
    };
    EXPECT_EQ(rename("/v1/series/SYN", "ONE", syn.token).status, 200u);
    const auto rejected = rename("/v1/series/SYN", "TWO", syn.token);
    EXPECT_EQ(rejected.status, 409u) << rejected.body;
    EXPECT_EQ(code_of(rejected), "too-many-prefixes");
}

TEST_F(series_over_http, are_added) {
    const auto made = add(R"({"prefix":"INC","project":"incidents"})");
    EXPECT_EQ(made.status, 201u);
    EXPECT_EQ(body_of(made).at("next").as_int64(), 1);
    EXPECT_EQ(create(R"({"description":"x","project":"incidents"})"), "INC-1");
    EXPECT_EQ(shown("INC").at("next").as_int64(), 2);
    const auto taken = add(R"({"prefix":"INC"})");
    EXPECT_EQ(taken.status, 409u);
    EXPECT_EQ(code_of(taken), "prefix-taken");
    EXPECT_EQ(code_of(add(R"({"prefix":"TWO","project":"incidents"})")), "project-taken");
    EXPECT_EQ(faults_of(add(R"({"prefix":"lower","reset":"weekly","timeZone":"Mars","next":-1})")),
              (words{"prefix malformed", "reset invalid", "timeZone invalid", "next invalid"}));
    EXPECT_EQ(body_of(add(R"({"prefix":"INV","next":100})")).at("next").as_int64(), 100);
    EXPECT_EQ(create(R"({"description":"x","prefix":"INV"})"), "INV-100");
}

// The virtual clock begins at noon of 20 November 2026, UTC.
TEST_F(series_over_http, restart_at_midnight_of_their_zone) {
    add(R"({"prefix":"INC","reset":"daily","timeZone":"Pacific/Kiritimati"})");
    EXPECT_EQ(create(R"({"description":"x","prefix":"INC"})"), "INC-20261121-1");
    EXPECT_EQ(text(shown("INC"), "period"), "20261121");
    h.advance(std::chrono::hours{21} + std::chrono::minutes{59});
    EXPECT_EQ(create(R"({"description":"x","prefix":"INC"})"), "INC-20261121-2");
    h.advance(std::chrono::minutes{1});
    EXPECT_EQ(shown("INC").at("next").as_int64(), 1);
    EXPECT_EQ(create(R"({"description":"x","prefix":"INC"})"), "INC-20261122-1");
    const auto task = body_of(h.call(get("/v1/tasks/inc-20261121-2", syn.token)));
    EXPECT_EQ(text(task, "key"), "INC-20261121-2");
    EXPECT_EQ(text(task, "period"), "20261121");
    const auto in_order = body_of(h.call(get("/v1/tasks?prefix=INC&sort=-key", syn.token)));
    EXPECT_EQ(text(in_order.at("tasks").at(0).as_object(), "key"), "INC-20261122-1");
    EXPECT_EQ(text(in_order.at("tasks").at(2).as_object(), "key"), "INC-20261121-1");
}

TEST_F(series_over_http, are_renamed_bound_and_archived) {
    add(R"({"prefix":"OLD","project":"house"})");
    EXPECT_EQ(create(R"({"description":"x","project":"house"})"), "OLD-1");
    EXPECT_EQ(text(body_of(change("old", R"({"prefix":"NEW"})")), "prefix"), "NEW");
    EXPECT_EQ(text(body_of(h.call(get("/v1/tasks/OLD-1", syn.token))), "key"), "NEW-1");
    EXPECT_EQ(create(R"({"description":"x","prefix":"old"})"), "NEW-2");
    EXPECT_FALSE(body_of(change("OLD", R"({"project":null})")).contains("project"));
    EXPECT_EQ(create(R"({"description":"x","project":"house"})"), "SYN-1");
    EXPECT_TRUE(body_of(change("NEW", R"({"archived":true})")).at("archived").as_bool());
    EXPECT_EQ(create(R"({"description":"x","prefix":"NEW"})"), "series-archived");
    EXPECT_EQ(h.call(get("/v1/tasks/NEW-2", syn.token)).status, 200u);
    EXPECT_FALSE(body_of(change("NEW", R"({"archived":false})")).at("archived").as_bool());
    EXPECT_EQ(create(R"({"description":"x","prefix":"NEW"})"), "NEW-3");
}

// Nothing that a client has of the former key is valid still.
TEST_F(series_over_http, a_renaming_ends_validators_and_is_on_the_feed) {
    EXPECT_EQ(create(R"({"description":"x"})"), "SYN-1");
    const std::string one(header(h.call(get("/v1/tasks/SYN-1", syn.token)), "ETag"));
    const std::string all(header(h.call(get("/v1/tasks", syn.token)), "ETag"));
    const auto status_with = [&](const char* path, const char* name, const std::string& tag,
                                 verb method = verb::get) {
        auto headers = bearer(syn.token);
        headers.emplace_back(name, tag);
        const std::string body = method == verb::get ? "" : R"({"project":"p"})";
        if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
        return h.call(make_request(method, path, body, headers)).status;
    };
    EXPECT_EQ(status_with("/v1/tasks/SYN-1", "If-None-Match", one), 304u);
    EXPECT_EQ(status_with("/v1/tasks", "If-None-Match", all), 304u);
    const auto feed = [&](const std::string& after) {
        return body_of(h.call(get("/v1/changes?after=" + after, syn.token)));
    };
    const std::string end = text(feed("0"), "cursor");
    EXPECT_EQ(text(body_of(change("SYN", R"({"prefix":"NEW"})")), "prefix"), "NEW");
    EXPECT_EQ(status_with("/v1/tasks/SYN-1", "If-None-Match", one), 200u);
    EXPECT_EQ(status_with("/v1/tasks", "If-None-Match", all), 200u);
    EXPECT_EQ(status_with("/v1/tasks/SYN-1", "If-Match", one, verb::patch), 412u);
    const auto changes = feed(end).at("changes").as_array();
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(text(changes[0].at("task").as_object(), "key"), "NEW-1");
    EXPECT_EQ(changes[0].at("changed"), (boost::json::array{"key"}));
}

TEST_F(series_over_http, report_why_they_are_not_changed) {
    EXPECT_EQ(create(R"({"description":"x"})"), "SYN-1");
    EXPECT_EQ(code_of(change("NONE", "{}")), "unknown-prefix");
    EXPECT_EQ(code_of(change("SYN", R"({"next":5})")), "series-in-use");
    EXPECT_EQ(code_of(change("SYN", R"({"next":1})")), "series-in-use");
    EXPECT_EQ(code_of(change("SYN", R"({"reset":"daily"})")), "series-in-use");
    EXPECT_EQ(code_of(change("SYN", R"({"archived":true})")), "series-in-use");
    EXPECT_EQ(change("SYN", R"({"next":5,"allowsGaps":true})").status, 200u);
    EXPECT_EQ(create(R"({"description":"x"})"), "SYN-5");
    EXPECT_EQ(faults_of(change("SYN", R"({"prefix":"x","reset":"","timeZone":"","next":0,
                                          "archived":null})")),
              (words{"archived invalid", "prefix malformed", "reset invalid", "timeZone invalid",
                     "next invalid"}));
}

TEST_F(series_over_http, are_an_operators_too) {
    const auto token = h.operator_token();
    header_list headers = bearer(token);
    headers.emplace_back("Content-Type", "application/json");
    const auto changed = h.call(make_request(verb::patch, "/v1/admin/accounts/board/series/SYN",
                                             R"({"prefix":"BOARD"})", headers));
    EXPECT_EQ(changed.status, 200u) << changed.body;
    EXPECT_EQ(create(R"({"description":"x"})"), "BOARD-1");
}

// ---- import of numbers ----

struct numbers_over_http : series_over_http {
    net::http_response import(std::string body, const std::string& account = "board") {
        return h.call(post("/v1/admin/accounts/" + account + "/numbers", std::move(body),
                           h.operator_token()));
    }
    static std::string row(int number, const std::string& more = {}) {
        return R"({"prefix":"SYN","number":)" + std::to_string(number) +
               R"(,"uuid":"11111111-2222-4333-8444-55555555555)" + std::to_string(number) +
               R"(","title":"Old one","createdAt":"2020-01-01T00:00:00Z")" + more + "}";
    }
};

TEST_F(numbers_over_http, are_imported) {
    const auto done = import(R"({"rows":[)" + row(1) + "," + row(2) + "]}");
    EXPECT_EQ(done.body, R"({"imported":2,"thereAlready":0})");
    const auto task = body_of(h.call(get("/v1/tasks/SYN-2", syn.token)));
    EXPECT_EQ(text(task, "description"), "Old one");
    EXPECT_EQ(text(task, "createdAt"), "2020-01-01T00:00:00.000Z");
    EXPECT_EQ(create(R"({"description":"x"})"), "SYN-3");
}

TEST_F(numbers_over_http, are_rejected_by_row) {
    const auto no = import(R"({"rows":[)" + row(1) + "," + row(3) + "," + row(4) + "]}");
    EXPECT_EQ(no.status, 422u);
    EXPECT_EQ(code_of(no), "numbers-rejected");
    EXPECT_EQ(faults_of(no), words{"rows[1] gap"});
    EXPECT_EQ(create(R"({"description":"x"})"), "SYN-1");
    const auto bad = import(R"({"rows":[{"prefix":"x","number":0,"uuid":"u","after":1}]})");
    EXPECT_EQ(faults_of(bad),
              (words{"rows[0].prefix malformed", "rows[0].number invalid", "rows[0].uuid malformed",
                     "rows[0].title required", "rows[0].createdAt required"}));
    std::string many;
    for (int n = 0; n <= 250; ++n) many += (n ? "," : "") + row(1);
    EXPECT_EQ(faults_of(import(R"({"rows":[)" + many + "]}")), words{"rows too-many"});
    EXPECT_EQ(code_of(import("{}", "nobody")), "account-not-found");
}

}  // namespace
}  // namespace callsign::testing
