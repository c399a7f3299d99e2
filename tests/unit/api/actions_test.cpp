// POST /v1/tasks/{ref}:verb, as clients see it. The effects are tested in
// tests/unit/rules/task_actions_test.cpp.

#include "support/test_server.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;
using boost::json::object;

struct task_actions : ::testing::Test {
    task_actions() { h.call(post("/v1/tasks", R"({"description":"Ship it"})", syn.token, "k")); }

    net::http_response act(const std::string& path, std::string body = {}, header_list more = {}) {
        header_list headers = bearer(syn.token);
        if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
        headers.insert(headers.end(), more.begin(), more.end());
        return h.call(make_request(verb::post, "/v1/tasks/" + path, std::move(body), headers));
    }
    static object task_of(const net::http_response& response) {
        EXPECT_EQ(response.status, 200u) << response.body;
        return boost::json::parse(response.body).as_object();
    }

    test_server h;
    test_server::made_account syn = h.make_account("board", "SYN");
};

TEST_F(task_actions, return_the_task_and_its_etag) {
    const auto done = act("syn-1:complete");
    const object task = task_of(done);
    EXPECT_EQ(task.at("status").as_string(), "completed");
    EXPECT_EQ(task.at("prefix").as_string(), "SYN");
    EXPECT_EQ(task.at("number").as_int64(), 1);
    const auto etag = std::find_if(done.headers.begin(), done.headers.end(),
                                   [](const auto& field) { return field.first == "ETag"; });
    ASSERT_NE(etag, done.headers.end());
    EXPECT_EQ(act("SYN-1:reopen", "", {{"If-Match", h.etag(1)}}).status, 412u);
    EXPECT_EQ(
        task_of(act("SYN-1:reopen", "", {{"If-Match", etag->second}})).at("status").as_string(),
        "pending");
    EXPECT_TRUE(task_of(act("SYN-1:start")).contains("start"));
    EXPECT_FALSE(task_of(act("SYN-1:stop")).contains("start"));
    const std::string uuid(task.at("uuid").as_string());
    EXPECT_EQ(task_of(act(uuid + ":complete")).at("status").as_string(), "completed");
}

TEST_F(task_actions, annotate_and_denotate_report_errors) {
    const auto annotated =
        task_of(act("SYN-1:annotate", R"({"description":"seen","entry":"2026-11-20T12:48:00Z"})"));
    EXPECT_EQ(boost::json::serialize(annotated.at("annotations")),
              R"([{"entry":"2026-11-20T12:48:00.000Z","description":"seen"}])");
    EXPECT_EQ(task_of(act("SYN-1:annotate", R"({"description":"now"})"))
                  .at("annotations")
                  .as_array()
                  .size(),
              2u);
    for (const char* body : {R"({})", R"({"description":""})", R"({"description":"\u0001"})",
                             R"({"description":"x","entry":"2039-01-01T00:00:00Z"})",
                             R"({"text":"x"})", R"(nonsense)"}) {
        EXPECT_EQ(act("SYN-1:annotate", body).status, 400u) << body;
    }
    EXPECT_EQ(act("SYN-1:denotate", "{}").status, 400u);
    EXPECT_EQ(task_of(act("SYN-1:denotate", R"({"description":"now"})"))
                  .at("annotations")
                  .as_array()
                  .size(),
              1u);
    EXPECT_FALSE(task_of(act("SYN-1:denotate", R"({"entry":"2026-11-20T12:48:00Z"})"))
                     .contains("annotations"));
}

TEST_F(task_actions, need_an_existing_task) {
    EXPECT_EQ(act("SYN-2:complete").status, 404u);
    EXPECT_EQ(act("nonsense:complete").status, 400u);
    EXPECT_EQ(act("SYN-1:finish").status, 405u);
    EXPECT_EQ(act(":complete").status, 405u);
    h.call(make_request(verb::delete_, "/v1/tasks/SYN-1?purge=true", "", bearer(syn.token)));
    EXPECT_EQ(act("SYN-1:start").status, 410u);
}

TEST_F(task_actions, the_response_to_a_creation_has_the_etag) {
    const auto made = h.call(post("/v1/tasks", R"({"description":"Two"})", syn.token, "two"));
    const auto etag = std::find_if(made.headers.begin(), made.headers.end(),
                                   [](const auto& field) { return field.first == "ETag"; });
    ASSERT_NE(etag, made.headers.end());
    EXPECT_EQ(task_of(act("SYN-2:start", "", {{"If-Match", etag->second}})).at("key").as_string(),
              "SYN-2");
}

}  // namespace
}  // namespace callsign::testing
