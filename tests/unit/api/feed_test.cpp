// The feed as a long poll.

#include "feed_fixture.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using std::chrono::seconds;

TEST_F(feed_api, shows_changes_after_a_cursor) {
    create("a", "one");
    edit("SYN-1", R"({"description":"first", "tags":["x","y"], "attributes":{"estimate":"3"}})");
    const json::object all = get("/v1/changes");
    EXPECT_EQ(texts(all), (lines{"SYN-1 one", "SYN-1 first"}));
    EXPECT_EQ(all.at("last").as_int64(), 2);
    const auto& second = all.at("changes").at(1).as_object();
    EXPECT_EQ(second.at("seq").as_int64(), 2);
    EXPECT_EQ(second.at("by").as_string(), "default");
    EXPECT_EQ(json::serialize(second.at("changed")),
              R"(["attributes.estimate","description","modified","tags"])");
    EXPECT_EQ(second.at("cursor").as_string(), cursor_of(all));
    EXPECT_FALSE(second.at("purged").as_bool());
    // From each cursor; after the last one there is nothing.
    const std::string first(all.at("changes").at(0).at("cursor").as_string());
    EXPECT_EQ(texts(get("/v1/changes?after=" + first)), lines{"SYN-1 first"});
    const json::object end = get("/v1/changes?after=" + cursor_of(all));
    EXPECT_TRUE(end.at("changes").as_array().empty());
    EXPECT_EQ(cursor_of(end), cursor_of(all));
    EXPECT_EQ(cursor_of(get("/v1/changes?after=now")), cursor_of(all));
    const json::object one = get("/v1/changes?limit=1");
    EXPECT_EQ(texts(one), lines{"SYN-1 one"});
    EXPECT_EQ(cursor_of(one), first);
    EXPECT_EQ(one.at("last").as_int64(), 2);
}

TEST_F(feed_api, an_opaque_account_has_none) {
    const std::string sealed = api::make_token(home.entropy());
    ASSERT_TRUE(home.run(home.engine().submit(create_account{
        "sealed", "SEA", "default", sha256(sealed), make_uuid_v7(time_point{}, 1, 1)})));
    for (const char* path : {"/v1/changes", "/v1/changes/stream"}) {
        const auto no = home.call(make_request(verb::get, path, {}, bearer(sealed)));
        EXPECT_EQ(no.status, 409u) << path;
        EXPECT_NE(no.body.find("account-opaque"), std::string::npos);
    }
    EXPECT_EQ(home.service().follower_count(), 0u);
}

TEST_F(feed_api, an_empty_account_has_a_cursor_too) {
    EXPECT_EQ(cursor_of(get("/v1/changes")), "0");
    EXPECT_EQ(cursor_of(get("/v1/changes?after=now")), "0");
}

TEST_F(feed_api, every_error_of_the_query_is_listed) {
    const json::object why = get(
        "/v1/changes?after=x&limit=-1&wait=90s&is=blocked&sort=key&status=done&pageSize=3", 400);
    lines fields;
    for (const auto& error : why.at("errors").as_array()) {
        fields.emplace_back(error.at("field").as_string());
    }
    std::sort(fields.begin(), fields.end());
    EXPECT_EQ(fields, (lines{"after", "is", "limit", "pageSize", "sort", "status", "wait"}));
    for (const char* bad :
         {"1", "-1", "0.1", "NOW", "0123456789ab", "0123456789ab.0", "0123456789ab.01",
          "0123456789ab.1.", "0123456789ab.1.0", "0123456789AB.1", "0123456789ab.1.1.1",
          "0123456789ab.99999999999999999999"}) {
        EXPECT_EQ(get("/v1/changes?after=" + std::string(bad), 400).at("code").as_string(),
                  "validation-failed")
            << bad;
    }
}

TEST_F(feed_api, a_cursor_of_another_history_is_rejected_with_a_valid_one) {
    create("a", "one");
    create("b", "two");
    const std::string end = cursor_of(get("/v1/changes"));
    for (const std::string& other :
         {end.substr(0, 12) + ".1", end.substr(0, 12) + ".3", std::string("000000000000.2")}) {
        const json::object why = get("/v1/changes?after=" + other, 410);
        EXPECT_EQ(why.at("code").as_string(), "cursor-unknown");
        EXPECT_EQ(cursor_of(why), end);
    }
}

TEST_F(feed_api, an_expired_cursor_is_rejected_with_the_oldest) {
    create("a", "one");
    edit("SYN-1", R"({"description":"first"})");
    edit("SYN-1", R"({"description":"1st"})");
    home.advance(std::chrono::hours{24 * 31});
    ASSERT_TRUE(home.run(home.reaper().sweep_once()));
    const json::object why = get("/v1/changes?after=0", 410);
    EXPECT_EQ(why.at("code").as_string(), "cursor-expired");
    EXPECT_EQ(texts(get("/v1/changes?after=" + cursor_of(why))), lines{"SYN-1 1st"});
}

TEST_F(feed_api, a_filter_is_a_lists) {
    create("a", "one");
    create("b", "two");
    edit("SYN-2", R"({"tags":["x"]})");
    edit("SYN-1", R"({"status":"completed"})");
    EXPECT_EQ(texts(get("/v1/changes?tag=x")), lines{"SYN-2 two"});
    EXPECT_EQ(texts(get("/v1/changes?status=completed")), lines{"SYN-1 one"});
    EXPECT_EQ(texts(get("/v1/changes?text=O")),
              (lines{"SYN-1 one", "SYN-2 two", "SYN-2 two", "SYN-1 one"}));
    EXPECT_EQ(get("/v1/changes?prefix=NIX", 400).at("errors").at(0).at("code").as_string(),
              "unknown-prefix");
    // What is a list's own would be ignored.
    for (const std::string own : {"ref=SYN-1", "fields=key", "count=true", "sort=due"}) {
        EXPECT_EQ(get("/v1/changes?" + own, 400).at("errors").at(0).at("code").as_string(),
                  "unknown-parameter")
            << own;
    }
}

TEST_F(feed_api, a_poll_waits_for_a_change) {
    const auto answer =
        home.start(make_request(verb::get, "/v1/changes?after=now&wait=30s", {}, bearer(token)));
    home.advance(seconds{29});
    EXPECT_FALSE(answer->has_value());
    create("a", "one");
    home.settle();
    ASSERT_TRUE(answer->has_value());
    EXPECT_EQ(texts(json::parse((*answer)->body).as_object()), lines{"SYN-1 one"});
}

TEST_F(feed_api, a_poll_ends_before_proxies_end_it) {
    const auto answer =
        home.start(make_request(verb::get, "/v1/changes?after=now&wait=60s", {}, bearer(token)));
    home.advance(seconds{54});
    EXPECT_FALSE(answer->has_value());
    home.advance(seconds{2});
    ASSERT_TRUE(answer->has_value());
    EXPECT_EQ((*answer)->status, 200u);
}

TEST_F(feed_api, a_poll_ends_without_one) {
    create("a", "one");
    const auto other =
        home.start(make_request(verb::get, "/v1/changes?after=now&wait=30s", {}, bearer(token)));
    const auto filtered = home.start(
        make_request(verb::get, "/v1/changes?after=now&wait=30s&tag=x", {}, bearer(token)));
    home.advance(seconds{10});
    edit("SYN-1", R"({"description":"first"})");  // does not match the filter
    home.advance(seconds{19});
    EXPECT_TRUE(other->has_value());
    EXPECT_FALSE(filtered->has_value());
    home.advance(seconds{2});
    ASSERT_TRUE(filtered->has_value());
    const auto answer = json::parse((*filtered)->body).as_object();
    EXPECT_TRUE(answer.at("changes").as_array().empty());
    EXPECT_EQ(cursor_of(answer), cursor_of(get("/v1/changes?after=now")));
}

TEST_F(feed_api, a_poll_ends_when_its_connection_does) {
    for (const bool before : {false, true}) {
        auto asked = make_request(verb::get, "/v1/changes?after=now&wait=30s", {}, bearer(token));
        const auto end = std::make_shared<net::early_end>();
        asked.ending = end;
        if (before) end->come();
        const auto answer = home.start(std::move(asked));
        home.settle();
        EXPECT_EQ(answer->has_value(), before);
        end->come();
        home.settle();
        ASSERT_TRUE(answer->has_value());
        EXPECT_EQ((*answer)->status, 200u);
        EXPECT_EQ(home.service().follower_count(), 0u);
    }
}

TEST_F(feed_api, other_accounts_do_not_wake_it) {
    const auto beside = home.make_account("beside", "TWO");
    const auto answer =
        home.start(make_request(verb::get, "/v1/changes?after=now&wait=30s", {}, bearer(token)));
    home.settle();
    EXPECT_EQ(home.call(post("/v1/tasks", R"({"description":"theirs"})", beside.token, "a")).status,
              201u);
    home.advance(seconds{29});
    EXPECT_FALSE(answer->has_value());
    const auto theirs = home.call(make_request(verb::get, "/v1/changes", {}, bearer(beside.token)));
    EXPECT_EQ(texts(json::parse(theirs.body).as_object()), lines{"TWO-1 theirs"});
}

TEST_F(feed_api, changes_are_not_kept_without_memory) {
    create("a", std::string(500, 'x'));
    const auto budget = std::make_shared<net::body_budget>(20'000, 10'000);
    for (const bool crowded : {false, true}) {
        net::body_lease others(budget, account);
        if (crowded) others.reserve(9'000);
        for (const char* path : {"/v1/changes", "/v1/changes/stream"}) {
            auto asked = make_request(verb::get, path, {}, bearer(token));
            asked.memory = std::make_shared<net::body_lease>(budget);
            const auto response = home.call(std::move(asked));
            EXPECT_EQ(response.status, crowded ? 503u : 200u) << path;
            EXPECT_EQ(header(response, "Retry-After"), crowded ? "1" : "") << path;
        }
    }
    EXPECT_EQ(budget->held(), 0u);
}

}  // namespace
}  // namespace callsign::testing
