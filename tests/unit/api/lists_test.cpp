// GET /v1/tasks, as clients see it. The meaning of filters: tests/unit/domain/task_filter_test.cpp;
// the contents of pages while tasks change: tests/unit/rules/read/task_lists_test.cpp.

#include "callsign/v1/callsign.pb.h"
#include "support/test_server.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;
using boost::json::object;

struct task_lists_over_http : ::testing::Test {
    void create(const std::string& body, const std::string& token) {
        const auto made = h.call(post("/v1/tasks", body, token, "k-" + std::to_string(++drawn)));
        ASSERT_EQ(made.status, 201u) << made.body;
    }
    void create(const std::string& body) { create(body, syn.token); }
    net::http_response list(const std::string& query = {}, std::string token = {}) {
        const std::string target = "/v1/tasks" + (query.empty() ? query : "?" + query);
        return h.call(get(target, token.empty() ? syn.token : token));
    }
    static object body_of(const net::http_response& response) {
        EXPECT_EQ(response.status, 200u) << response.body;
        return boost::json::parse(response.body).as_object();
    }
    static std::string next_of(const object& page) {
        const auto* const token = page.if_contains("nextPageToken");
        return token ? std::string(token->as_string()) : "";
    }
    static std::string keys_of(const object& page) {
        std::string text;
        for (const auto& t : page.at("tasks").as_array()) {
            text += (text.empty() ? "" : " ") + std::string(t.at("key").as_string());
        }
        return text;
    }
    std::string keys(const std::string& query) { return keys_of(body_of(list(query))); }
    static std::string faults_of(const net::http_response& response) {
        EXPECT_EQ(response.status, 400u) << response.body;
        std::string text;
        const auto problem = boost::json::parse(response.body).as_object();
        for (const auto& e : problem.at("errors").as_array()) {
            text += (text.empty() ? "" : ", ") + std::string(e.at("field").as_string()) + " " +
                    std::string(e.at("code").as_string());
        }
        return text;
    }

    test_server h;
    test_server::made_account syn = h.make_account("board", "SYN");
    int drawn = 0;
};

TEST_F(task_lists_over_http, have_complete_tasks_of_one_account) {
    EXPECT_EQ(list().body, R"({"tasks":[]})");
    create(
        R"({"description":"a","project":"Home.Shed","tags":["x","y"],"due":"2026-12-01T00:00:00Z"})");
    create(
        R"({"description":"b","tags":["x"],"recur":"weekly","scheduled":"2026-12-01T00:00:00Z"})");
    const auto other = h.make_account("other", "OPS");
    create(R"({"description":"theirs"})", other.token);
    const object page = body_of(list());
    EXPECT_EQ(keys_of(page), "SYN-1 SYN-2");
    EXPECT_EQ(next_of(page), "");
    const object shown =
        boost::json::parse(h.call(get("/v1/tasks/SYN-1", syn.token)).body).as_object();
    EXPECT_EQ(page.at("tasks").at(0), shown);
    EXPECT_EQ(shown.at("madeBy").as_string(), "default");
    EXPECT_EQ(page.at("tasks").at(1).at("scheduled").as_string(), "2026-12-01T00:00:00.000Z");
    EXPECT_EQ(page.at("tasks").at(1).at("recur").as_string(), "weekly");
    EXPECT_TRUE(shown.contains("entry") && shown.contains("modified"));
    EXPECT_EQ(keys("project=Home"), "SYN-1");
    EXPECT_EQ(keys("tag=x&tag=y"), "SYN-1");
    EXPECT_EQ(keys("tag=x&notTag=y"), "SYN-2");
    EXPECT_EQ(keys("dueAfter=2026-11-30T23:59:59Z&dueBefore=2026-12-01T00:00:01Z"), "SYN-1");
    EXPECT_EQ(keys("dueAfter=2026-12-01T00:00:00Z"), "");
    EXPECT_EQ(keys("prefix=syn&text=B"), "SYN-2");
    EXPECT_EQ(keys("changedAfter=1"), "SYN-2");
    EXPECT_EQ(keys("is=scheduled"), "SYN-2");
    EXPECT_EQ(keys("sort=-key"), "SYN-2 SYN-1");
    EXPECT_EQ(keys("status=completed"), "");
    h.call(post("/v1/tasks/SYN-1:complete", "", syn.token));
    EXPECT_EQ(keys("status=completed&status=pending"), "SYN-1 SYN-2");
    EXPECT_EQ(keys(""), "SYN-2");
}

TEST_F(task_lists_over_http, report_every_error_of_a_query) {
    EXPECT_EQ(faults_of(list("stauts=pending&status=waiting&is=urgent&dueAfter=tomorrow&sort=due-"
                             "&pageSize=x&changedAfter=x&prefix=1&project=a&project=b")),
              "stauts unknown-parameter, project duplicate-parameter, status invalid, is invalid, "
              "prefix malformed, dueAfter invalid, changedAfter invalid, sort invalid, "
              "pageSize invalid");
    for (const char* bad : {"pageSize=-1", "pageSize=x"}) {
        EXPECT_EQ(faults_of(list(bad)), "pageSize invalid") << bad;
    }
    for (const char* good : {"pageSize=0", "pageSize=501", "pageSize=99999999999"}) {
        EXPECT_EQ(list(good).status, 200u) << good;
    }
    for (const char* bad : {"attribute=x", "attribute=:x"}) {
        EXPECT_EQ(faults_of(list(bad)), "attribute malformed") << bad;
    }
    const auto lists = testing::body_of(list("status[]=pending&tag[0]=a&nope[]=1"));
    EXPECT_EQ(text_of(lists.at("errors").at(0).at("detail")),
              "Repeat status instead: status=...&status=...");
    EXPECT_EQ(text_of(lists.at("errors").at(1).at("detail")),
              "Repeat tag instead: tag=...&tag=...");
    EXPECT_EQ(text_of(lists.at("errors").at(2).at("detail")), "Unknown parameter.");
    std::string many = "tag=x";
    for (int n = 0; n < 64; ++n) many += "&tag=x";
    EXPECT_EQ(list(many).status, 400u);
    EXPECT_EQ(faults_of(list("prefix=NONE")), "prefix unknown-prefix");
    EXPECT_EQ(faults_of(list("prefix=NONE&sort=due")), "prefix unknown-prefix");
    for (const char* bad : {"x", "AAAA", "a2tra2tra2tr", "%00"}) {
        EXPECT_EQ(faults_of(list("pageToken=" + std::string(bad))), "pageToken malformed") << bad;
    }
}

TEST_F(task_lists_over_http, come_in_pages) {
    for (int n = 1; n <= 5; ++n) {
        create(R"({"description":"t","due":"2026-12-0)" + std::to_string(6 - n) +
               R"(T00:00:00Z"})");
    }
    for (const std::string order : {"sort=key", "sort=-key", "sort=due", "sort=-due",
                                    "is=unblocked", "sort=entry", "sort=modified"}) {
        std::string all, token;
        int pages = 0;
        do {
            const object page = body_of(list(order + "&pageSize=2&pageToken=" + token));
            all += " " + keys_of(page);
            token = next_of(page);
            ASSERT_LE(++pages, 4) << order;
        } while (!token.empty());
        EXPECT_EQ(all.size(), 5u * 6) << order << all;
    }
    EXPECT_EQ(keys("sort=due"), "SYN-5 SYN-4 SYN-3 SYN-2 SYN-1");
    EXPECT_EQ(keys("sort=-due"), "SYN-1 SYN-2 SYN-3 SYN-4 SYN-5");
    EXPECT_EQ(keys("sort=-urgency"), "SYN-5 SYN-4 SYN-3 SYN-2 SYN-1");
}

// A page that needs several reads has exactly the requested size.
TEST_F(task_lists_over_http, have_pages_of_many_reads) {
    constexpr int count = 450;
    import_tasks all;
    all.account = syn.id;
    for (std::uint64_t n = 1; n <= count; ++n) {
        all.tasks.push_back({make_uuid_v7(h.clock().now(), 1, n),
                             {{"description", std::string(1'000, 'x')}, {"status", "pending"}}});
    }
    while (!all.tasks.empty()) {
        const auto done = h.run(h.engine().submit(all));
        const auto taken = std::get<import_tasks::done>(*done).taken;
        all.tasks.erase(all.tasks.begin(), all.tasks.begin() + static_cast<std::ptrdiff_t>(taken));
    }
    for (const std::string order : {"sort=key", "sort=-entry"}) {
        const object first = body_of(list(order + "&pageSize=400"));
        EXPECT_EQ(first.at("tasks").as_array().size(), 400u) << order;
        const object rest = body_of(list(order + "&pageSize=400&pageToken=" + next_of(first)));
        EXPECT_EQ(rest.at("tasks").as_array().size(), 50u) << order;
        EXPECT_EQ(next_of(rest), "") << order;
        EXPECT_NE(keys_of(rest).find("SYN-450"), std::string::npos) << order;
    }
}

// The number of tasks that are compared with all others is limited.
TEST_F(task_lists_over_http, are_not_sorted_beyond_a_limit) {
    for (std::uint64_t n = 1; n <= 25; ++n) {
        import_tasks one;
        one.account = syn.id;
        attributes links;
        for (std::uint64_t i = 0; i < 8'100; ++i) {
            links.emplace("dep_" + to_string(make_uuid_v7({}, 2, n * 10'000 + i)), "");
        }
        one.tasks.push_back({make_uuid_v7({}, 1, n), std::move(links)});
        ASSERT_TRUE(h.run(h.engine().submit(std::move(one))));
    }
    EXPECT_EQ(keys("pageSize=2"), "SYN-1 SYN-2");
    const auto rejected = list("is=blocked");
    EXPECT_EQ(rejected.status, 422u);
    EXPECT_EQ(boost::json::parse(rejected.body).at("code"), "too-many-tasks");
    EXPECT_EQ(rejected.content_type, "application/problem+json");
}

// A page token is valid for its own query and account only.
TEST_F(task_lists_over_http, reject_the_token_of_another_query) {
    for (int n = 1; n <= 3; ++n) create(R"({"description":"t","tags":["x"]})");
    for (const std::string order : {"sort=key", "sort=due"}) {
        const std::string token = next_of(body_of(list(order + "&tag=x&pageSize=1")));
        ASSERT_NE(token, "");
        EXPECT_EQ(keys("tag=x&pageSize=2&" + order + "&pageToken=" + token), "SYN-2 SYN-3")
            << "the order of parameters and the page size may differ";
        EXPECT_EQ(faults_of(list(order + "&pageToken=" + token)), "pageToken malformed");
        const std::string turned = "sort=-" + order.substr(5);
        EXPECT_EQ(faults_of(list(turned + "&tag=x&pageToken=" + token)), "pageToken malformed");
        EXPECT_EQ(faults_of(list(order + "&tag=x&tag=y&pageToken=" + token)),
                  "pageToken malformed");
        const auto other = h.make_account("other-" + token.substr(0, 4), "OPS");
        const auto theirs = list(order + "&tag=x&pageToken=" + token, other.token);
        EXPECT_TRUE(theirs.status == 410 || keys_of(body_of(theirs)).empty()) << theirs.body;
    }
}

TEST_F(task_lists_over_http, sorted_ones_show_tasks_that_still_match_and_expire) {
    for (int n = 1; n <= 6; ++n) create(R"({"description":"t"})");
    const object first = body_of(list("sort=entry&pageSize=2"));
    h.call(post("/v1/tasks/SYN-3:complete", "", syn.token));
    h.call(post("/v1/tasks/SYN-1:start", "", syn.token));
    create(R"({"description":"new"})");
    const std::string more = "sort=entry&pageSize=2&pageToken=" + next_of(first);
    EXPECT_EQ(keys(more), "SYN-4 SYN-5");
    h.advance(std::chrono::minutes{16});
    const auto late = list(more);
    EXPECT_EQ(late.status, 410u);
    EXPECT_EQ(boost::json::parse(late.body).at("code").as_string(), "page-token-expired");
}

// Every kind of change stores the name of its token in the version.
TEST_F(task_lists_over_http, are_of_versions_with_an_author) {
    create(R"({"description":"t"})");
    const auto last = [&] {
        return h.look([&](read_tx& tx) {
            const auto head = accounts::head_of(tx, syn.id).seq;
            return tokens::name_of(tx, versions::some(tx, syn.id, head - 1, 1).front().author);
        });
    };
    EXPECT_EQ(last(), "default");
    const std::string other = h.make_token("board", token_scope::write);  // its name is "test"
    header_list headers = bearer(other);
    headers.emplace_back("Content-Type", "application/merge-patch+json");
    const auto by_other = [&](net::http_request request) {
        create(R"({"description":"between"})");
        EXPECT_EQ(last(), "default");
        const auto answer = h.call(std::move(request));
        EXPECT_EQ(answer.status, 200u) << answer.body;
        return last();
    };
    EXPECT_EQ(by_other(make_request(verb::patch, "/v1/tasks/SYN-1", R"({"project":"p"})", headers)),
              "test");
    EXPECT_EQ(by_other(post("/v1/tasks/SYN-1:start", "", other)), "test");
    EXPECT_EQ(by_other(post("/v1/tasks:batchUpdate",
                            R"({"items":[{"ref":"SYN-1","task":{"project":"q"}}]})", other)),
              "test");
    EXPECT_EQ(
        by_other(post("/v1/tasks:batchCreate",
                      R"({"items":[{"idempotencyKey":"b","task":{"description":"b"}}]})", other)),
        "test");
    EXPECT_EQ(by_other(make_request(verb::delete_, "/v1/tasks/SYN-1", "", bearer(other))), "test");
}

TEST_F(task_lists_over_http, return_304_if_nothing_has_changed) {
    create(R"({"description":"t"})");
    const auto first = list("tag=x");
    const std::string tag(header(first, "ETag"));
    ASSERT_FALSE(tag.empty());
    auto again = get("/v1/tasks?tag=x", syn.token);
    again.insert("If-None-Match", tag);
    EXPECT_EQ(h.call(again).status, 304u);
    EXPECT_TRUE(h.call(again).body.empty());
    create(R"({"description":"t","tags":["x"]})");
    EXPECT_EQ(h.call(again).status, 200u);
}

TEST_F(task_lists_over_http, are_of_the_tasks_named) {
    for (const char* const text : {"a", "b", "c", "d"}) {
        create(R"({"description":")" + std::string(text) + "\"}");
    }
    const auto uuid = body_of(h.call(get("/v1/tasks/SYN-2", syn.token))).at("uuid").as_string();
    h.call(post("/v1/tasks/SYN-3:complete", "", syn.token));
    h.call(make_request(verb::delete_, "/v1/tasks/SYN-4?purge=true", "", bearer(syn.token)));
    const std::string some = "ref=SYN-3&ref=syn-1&ref=SYN-4&ref=SYN-99&ref=SYN-3&ref=";
    EXPECT_EQ(keys(some + std::string(uuid)), "SYN-3 SYN-1 SYN-2");
    EXPECT_EQ(keys("ref=SYN-3&ref=SYN-1&status=pending"), "SYN-1") << "filters apply";
    EXPECT_EQ(keys("ref=SYN-99"), "");
    const object first = body_of(list("ref=SYN-3&ref=SYN-2&ref=SYN-1&pageSize=2"));
    EXPECT_EQ(keys_of(first), "SYN-3 SYN-2");
    const std::string next = "&pageToken=" + next_of(first);
    EXPECT_EQ(keys("ref=SYN-3&ref=SYN-2&ref=SYN-1" + next), "SYN-1");
    EXPECT_EQ(faults_of(list("ref=SYN-3&ref=SYN-1" + next)), "pageToken malformed");
    EXPECT_EQ(faults_of(list(next.substr(1))), "pageToken malformed");
    EXPECT_EQ(faults_of(list("ref=what")), "ref malformed");
    EXPECT_EQ(faults_of(list("ref=SYN-1&sort=due&prefix=SYN&is=blocked&count=true")),
              "sort invalid, prefix invalid, is invalid, count invalid");
    std::string many = "ref=SYN-1";
    for (int n = 2; n <= 500; ++n) many += "&ref=SYN-" + std::to_string(n);
    EXPECT_EQ(keys(many), "SYN-1 SYN-2 SYN-3");
    EXPECT_EQ(faults_of(list(many + "&ref=SYN-501")), "ref too-many");
}

TEST_F(task_lists_over_http, have_the_fields_asked_for) {
    create(R"({"description":"a","project":"Home","tags":["x"]})");
    const auto uuid = body_of(h.call(get("/v1/tasks/SYN-1", syn.token))).at("uuid").as_string();
    EXPECT_EQ(list("fields=key,tags,due").body,
              R"({"tasks":[{"uuid":")" + std::string(uuid) + R"(","key":"SYN-1","tags":["x"]}]})");
    EXPECT_EQ(list("fields=seq").body,
              R"({"tasks":[{"uuid":")" + std::string(uuid) + R"(","seq":1}]})");
    EXPECT_EQ(faults_of(list("fields=key,colour")), "fields unknown-field");
    EXPECT_EQ(faults_of(list("fields=,key")), "fields unknown-field");
    // In protobuf, too; and another choice is another response.
    header_list headers = bearer(syn.token);
    headers.emplace_back("Accept", "application/x-protobuf");
    const auto packed = h.call(make_request(verb::get, "/v1/tasks?fields=key", "", headers));
    v1::TaskList page;
    ASSERT_TRUE(page.ParseFromString(packed.body));
    EXPECT_EQ(page.tasks(0).key(), "SYN-1");
    EXPECT_EQ(page.tasks(0).seq(), 0);
    EXPECT_EQ(page.tasks(0).description(), "");
    EXPECT_NE(header(list("fields=key"), "ETag"), header(list(), "ETag"));
}

TEST_F(task_lists_over_http, are_counted_on_request) {
    const auto counted = [&](const std::string& query) {
        return boost::json::serialize(body_of(list(query)).at("count"));
    };
    EXPECT_EQ(counted("count=true"), R"({"tasks":0,"exact":true})");
    for (int n = 0; n < 5; ++n) create(R"({"description":"a","priority":"H"})");
    create(R"({"description":"b"})");
    EXPECT_EQ(counted("count=true&pageSize=2"), R"({"tasks":6,"exact":true})");
    EXPECT_EQ(counted("count=true&pageSize=2&priority=H"), R"({"tasks":5,"exact":true})");
    EXPECT_EQ(counted("count=true&pageSize=2&priority=H&sort=-entry"),
              R"({"tasks":5,"exact":true})");
    EXPECT_FALSE(body_of(list("count=false")).contains("count"));
    EXPECT_EQ(faults_of(list("count=yes")), "count invalid");
    EXPECT_EQ(faults_of(list("count=true&prefix=NONE")), "prefix unknown-prefix");
    // The second page has it, too.
    const object first = body_of(list("pageSize=4"));
    EXPECT_EQ(counted("count=true&pageToken=" + next_of(first)), R"({"tasks":6,"exact":true})");
}

TEST_F(task_lists_over_http, are_counted_up_to_a_bound) {
    import_tasks many{syn.id, {}};
    for (int n = 0; n < 10'001; ++n) {
        many.tasks.push_back({make_uuid_v7(virtual_start, 1, static_cast<std::uint64_t>(n)),
                              {{"description", "x"}, {"status", "pending"}}});
        if (many.tasks.size() < 500 && n < 10'000) continue;
        ASSERT_TRUE(h.run(h.engine().submit(many)));
        many.tasks.clear();
    }
    const auto counted = [&](const std::string& query) {
        return boost::json::serialize(body_of(list("count=true&pageSize=1" + query)).at("count"));
    };
    EXPECT_EQ(counted(""), R"({"tasks":10000,"exact":false})");
    EXPECT_EQ(counted("&sort=-entry"), R"({"tasks":10001,"exact":true})");
}

TEST_F(task_lists_over_http, need_the_scope_read_in_a_managed_account) {
    EXPECT_EQ(h.call(get("/v1/tasks")).status, 401u);
    EXPECT_EQ(list("", h.make_token("board", token_scope::read)).status, 200u);
    EXPECT_EQ(list("", h.operator_token()).status, 403u);
    create(R"({"description":"protobuf"})");
    auto request = get("/v1/tasks", syn.token);
    request.insert("Accept", "application/x-protobuf");
    v1::TaskList message;
    ASSERT_TRUE(message.ParseFromString(h.call(request).body));
    EXPECT_EQ(message.tasks(0).key(), "SYN-1");
}

}  // namespace
}  // namespace callsign::testing
