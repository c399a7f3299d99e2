// Webhooks as accounts see them, and their posts: in order, signed, retried after a failure, and
// complete.

#include "support/late_reader.hpp"
#include "webhooks_fixture.hpp"

#include <callsign/rules/rows/webhooks.hpp>
#include <callsign/seal/webhook_signature.hpp>

#include <array>
#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <set>

namespace callsign::testing {
namespace {

TEST_F(webhook_api, changes_are_posted_in_their_order) {
    const std::string id = add();
    for (const char* text : {"a", "b", "c"}) create(text);
    EXPECT_EQ(to.descriptions(), (texts{"a", "b", "c"}));
    EXPECT_EQ(to.calls[0].url, (net::outgoing_url{true, "example.com", "443", "/hook?a=b"}));
    EXPECT_EQ(to.calls[0].call.method, "POST");
    EXPECT_EQ(to.calls[0].header("Content-Type"), "application/json");
    const json::object body = json::parse(to.calls[2].call.body).as_object();
    EXPECT_EQ(body.at("webhookId").as_string(), id);
    EXPECT_EQ(body.at("cursor"), show(id).at("cursor"));
    EXPECT_EQ(body.at("changes").at(0).at("seq"), 3);
    EXPECT_EQ(body.at("changes").at(0).at("task").at("key"), "SYN-3");
}

TEST_F(webhook_api, bodies_are_signed_with_its_secret) {
    add();
    create("a");
    const posted& p = to.calls.at(0);
    const auto secret = seal::parse_webhook_secret(secret_text);
    const std::int64_t at = std::stoll(p.header("webhook-timestamp"));
    EXPECT_EQ(at, h.clock().now().time_since_epoch() / 1s);
    EXPECT_EQ(p.header("webhook-signature"),
              seal::webhook_signature(secret->bytes(), p.header("webhook-id"), at, p.call.body));
    EXPECT_EQ(p.call.body.find("whsec"), std::string::npos);
}

TEST_F(webhook_api, earlier_changes_are_posted_on_request) {
    create("before");
    add("");
    const std::string all = add();
    EXPECT_EQ(to.descriptions(), (texts{"before"}));
    EXPECT_EQ(to.calls[0].descriptions(), (texts{"before"}));
    create("after");
    EXPECT_EQ(to.descriptions(), (texts{"before", "after", "after"}));
    const std::string cursor(show(all).at("cursor").as_string());
    add(R"(,"after":")" + cursor + "\"");
    create("last");
    EXPECT_EQ(to.calls.size(), 6u);
}

TEST_F(webhook_api, a_filter_narrows_it) {
    const std::string id = add(R"(,"after":"0","filter":"tag=urgent&status=pending")");
    create("a");
    create("b", R"(,"tags":["urgent"])");
    create("c");
    call(verb::post, "/v1/tasks/SYN-2:complete", "", 200);
    h.settle();
    create("d");
    // The change by which the task leaves the filter is posted, too.
    EXPECT_EQ(to.descriptions(), (texts{"b", "b"}));
    EXPECT_EQ(json::parse(to.calls[1].call.body).at("changes").at(0).at("task").at("status"),
              "completed");
    EXPECT_EQ(show(id).at("filter"), "tag=urgent&status=pending");
}

TEST_F(webhook_api, a_failed_post_is_retried_before_all_others) {
    const std::string id = add();
    to.answers = {};
    to.answers.push_back(status(500));
    to.answers.push_back(no_answer());
    create("a");
    create("b");
    EXPECT_EQ(to.calls.size(), 1u);
    EXPECT_EQ(show(id).at("cursor"), "0");
    EXPECT_EQ(show(id).at("failures"), 1);
    h.advance(8s);
    EXPECT_EQ(to.calls.size(), 1u);
    h.advance(4s);
    EXPECT_EQ(to.calls.size(), 2u);
    h.advance(17s);
    EXPECT_EQ(to.calls.size(), 2u);
    h.advance(6s);
    // The same delivery, regardless of later changes; and then the rest.
    ASSERT_EQ(to.calls.size(), 4u);
    EXPECT_EQ(to.descriptions(), (texts{"a", "a", "a", "b"}));
    EXPECT_EQ(to.calls[0].header("webhook-id"), to.calls[2].header("webhook-id"));
    EXPECT_EQ(to.calls[0].call.body, to.calls[2].call.body);
    EXPECT_NE(to.calls[2].header("webhook-id"), to.calls[3].header("webhook-id"));
    EXPECT_EQ(show(id).at("failures"), 0);
    const json::array log = attempts(id);
    ASSERT_EQ(log.size(), 4u);
    EXPECT_EQ(log[3].at("status"), 500);
    EXPECT_EQ(log[2].at("status"), 0);
    EXPECT_NE(log[2].at("error").as_string(), "");
    EXPECT_EQ(log[1].at("delivered"), true);
    EXPECT_EQ(log[0].at("status"), 204);
}

TEST_F(webhook_api, of_a_disabled_account_pause_until_it_is_enabled) {
    const std::string id = add();
    create("a");
    ASSERT_EQ(to.descriptions(), texts{"a"});
    // A request in progress may still create a task in the disabled account.
    ASSERT_TRUE(h.run(h.engine().submit(edit_account{account, {}, true})));
    import_tasks late{account,
                      {{make_uuid_v4(std::array<std::uint8_t, 16>{9}), {{"description", "b"}}}}};
    ASSERT_TRUE(h.run(h.engine().submit(std::move(late))));
    h.advance(60s);
    EXPECT_EQ(to.descriptions(), texts{"a"});
    ASSERT_TRUE(h.run(h.engine().submit(edit_account{account, {}, false})));
    h.advance(1s);
    EXPECT_EQ(to.descriptions(), (texts{"a", "b", "b"}));  // the change of its key
    EXPECT_EQ(show(id).at("failures"), 0);
}

// In the first attempt other changes followed that do not match the filter.
TEST_F(webhook_api, a_retry_is_the_same_regardless_of_changes_beside_its_filter) {
    const std::string id = add(R"(,"after":"0","filter":"tag=urgent")");
    to.takes = 1s;
    create("before");
    create("a", R"(,"tags":["urgent"])");
    for (const char* text : {"b", "c", "d"}) create(text);
    for (int n = 0; n < 3; ++n) to.answers.push_back(status(500));
    h.advance(10min);
    ASSERT_EQ(to.calls.size(), 4u);
    for (const posted& p : to.calls) {
        EXPECT_EQ(p.header("webhook-id"), to.calls[0].header("webhook-id"));
        EXPECT_EQ(p.call.body, to.calls[0].call.body);
    }
    // The cursor contains the mark of the version: another history, after a restore, has other
    // delivery ids.
    const auto body = json::parse(to.calls[0].call.body).as_object();
    const std::string cursor(body.at("cursor").as_string());
    EXPECT_EQ(to.calls[0].header("webhook-id"), id + "_" + cursor + "_" + cursor);
}

// Changes that do not match the filter advance the position durably, too: otherwise they would be
// read again after each restart until they expire.
TEST_F(webhook_api, its_place_is_durable_though_nothing_was_for_it) {
    const std::string id = add(R"(,"after":"0","filter":"tag=urgent")");
    for (const char* text : {"a", "b", "c"}) create(text);
    EXPECT_EQ(show(id).at("cursor"), "0");
    h.advance(1min);
    EXPECT_NE(show(id).at("cursor"), "0");
    create("d");
    create("e", R"(,"tags":["urgent"])");
    h.advance(1min);
    EXPECT_EQ(to.descriptions(), (texts{"e"}));
}

TEST_F(webhook_api, a_failure_keeps_the_position_after_skipped_changes) {
    const std::string id = add(R"(,"after":"0","filter":"tag=urgent")");
    for (const char* text : {"a", "b", "c"}) create(text);
    to.answers.push_back(status(500));
    create("d", R"(,"tags":["urgent"])");
    const auto kept = h.look([&](read_tx& tx) { return webhooks::of(tx, account); });
    EXPECT_EQ(kept.at(0).after, feed_place{3});
    EXPECT_EQ(kept.at(0).failures, 1);
}

TEST_F(webhook_api, its_server_may_request_a_longer_pause) {
    add();
    to.answers.push_back(status(503, {{"Retry-After", "40"}}));
    create("a");
    h.advance(35s);
    EXPECT_EQ(to.calls.size(), 1u);
    h.advance(10s);
    EXPECT_EQ(to.calls.size(), 2u);
    // The pause is limited by the maximum.
    to.answers.push_back(status(503, {{"Retry-After", "1000000"}}));
    create("b");
    h.advance(70s);
    EXPECT_EQ(to.calls.size(), 4u);
}

TEST_F(webhook_api, consecutive_failures_disable_it_until_its_owner_enables_it) {
    const std::string id = add();
    for (int n = 0; n < 4; ++n) to.answers.push_back(status(302, {{"Location", "/other"}}));
    create("a");
    h.advance(1h);
    EXPECT_EQ(to.calls.size(), 4u);
    EXPECT_EQ(show(id).at("state"), "disabled");
    EXPECT_EQ(show(id).at("reason"), "failures");
    create("b");
    h.advance(1h);
    EXPECT_EQ(to.calls.size(), 4u);
    call(verb::patch, "/v1/webhooks/" + id, R"({"enabled":true})", 200);
    h.advance(1s);
    EXPECT_EQ(show(id).at("state"), "active");
    EXPECT_FALSE(show(id).contains("reason"));
    EXPECT_EQ(to.descriptions(), (texts{"a", "a", "a", "a", "a", "b"}));
}

TEST_F(webhook_api, one_that_returns_410_is_disabled_at_once) {
    const std::string id = add();
    to.answers.push_back(status(410));
    create("a");
    h.advance(1h);
    EXPECT_EQ(to.calls.size(), 1u);
    EXPECT_EQ(show(id).at("reason"), "gone");
}

TEST_F(webhook_api, its_owner_disables_it_and_sets_it_back) {
    const std::string id = add();
    create("a");
    call(verb::patch, "/v1/webhooks/" + id, R"({"enabled":false})", 200);
    create("b");
    h.advance(1h);
    EXPECT_EQ(to.descriptions(), (texts{"a"}));
    EXPECT_EQ(show(id).at("reason"), "by-request");
    call(verb::patch, "/v1/webhooks/" + id, R"({"enabled":true,"after":"0"})", 200);
    h.settle();
    EXPECT_EQ(to.descriptions(), (texts{"a", "a", "b"}));
    call(verb::patch, "/v1/webhooks/" + id, R"({"after":"now"})", 200);
    h.settle();
    create("c");
    EXPECT_EQ(to.descriptions(), (texts{"a", "a", "b", "c"}));
}

// With an attempt in progress, and with one that waits for its retry.
TEST_F(webhook_api, it_is_removed_at_any_moment) {
    to.takes = 5s;
    const std::string in_progress = add();
    const std::string waiting = add();
    to.answers.push_back(status(204));
    to.answers.push_back(status(500));
    create("a");
    EXPECT_EQ(to.calls.size(), 2u);
    call(verb::delete_, "/v1/webhooks/" + in_progress, "", 204);
    h.advance(6s);
    call(verb::delete_, "/v1/webhooks/" + waiting, "", 204);
    create("b");
    h.advance(1h);
    EXPECT_EQ(to.calls.size(), 2u);
    call(verb::get, "/v1/webhooks/" + waiting, "", 404);
    call(verb::get, "/v1/webhooks/" + waiting + "/deliveries", "", 404);
    call(verb::delete_, "/v1/webhooks/" + waiting, "", 404);
    EXPECT_TRUE(call(verb::get, "/v1/webhooks", "", 200).at("webhooks").as_array().empty());
}

TEST_F(webhook_api, posts_to_one_are_sequential_and_those_of_an_account_are_limited) {
    to.takes = 1s;
    for (int n = 0; n < 3; ++n) add();
    for (const char* text : {"a", "b", "c", "d", "e"}) create(text);
    h.advance(1h);
    EXPECT_EQ(to.at_once_most, 2);
    EXPECT_EQ(to.descriptions().size(), 15u);
}

// Two of an account are delivered at once; the others find what the first ones read.
TEST(webhooks_of_an_account, read_the_same_changes_once) {
    const auto disk = make_memory_store();
    late_reader counted(*disk);
    test_server_options options = with_webhooks();
    options.disk = &counted;
    options.service.webhooks.account_max = 10;
    test_server h(std::move(options));
    receiver to(h);
    h.make_account("home", "SYN");
    const std::string token = h.make_token("home", token_scope::admin);
    h.service().start_webhooks(to, nullptr, h.io().get_executor());
    for (int n = 0; n < 10; ++n) {
        h.call(post("/v1/webhooks", R"({"url":"https://example.com/"})", token));
    }
    h.advance(1h);
    to.takes = 1s;
    const int before = counted.reads;
    h.call(post("/v1/tasks", R"({"description":"a"})", token, "a"));
    h.advance(1h);
    const int reads = counted.reads - before;
    EXPECT_EQ(to.calls.size(), 10u);
    std::set<std::string> ids;
    for (const posted& p : to.calls) {
        EXPECT_EQ(p.descriptions(), (texts{"a"}));
        ids.emplace(json::parse(p.call.body).at("webhookId").as_string());
    }
    EXPECT_EQ(ids.size(), 10u);
    EXPECT_EQ(reads, 1);
}

TEST_F(webhook_api, a_slow_server_does_not_delay_other_accounts) {
    to.takes = 30s;
    for (int n = 0; n < 3; ++n) add();
    create("slow");
    EXPECT_EQ(to.calls.size(), 2u);
    h.make_account("next", "NXT");
    token = h.make_token("next", token_scope::admin);
    add();
    to.takes = 0s;
    create("quick");
    EXPECT_EQ(to.calls.back().descriptions(), (texts{"quick"}));
}

// Each look-up occupies a thread.
TEST_F(webhook_api, an_account_has_one_look_up_of_a_name_at_a_time) {
    to.lookup_takes = 30s;
    for (int n = 0; n < 2; ++n) add();
    create("slow");
    EXPECT_EQ(to.lookups.size(), 1u);
    h.make_account("next", "NXT");
    token = h.make_token("next", token_scope::admin);
    add();
    to.lookup_takes = 0s;
    create("quick");
    EXPECT_EQ(to.calls.back().descriptions(), (texts{"quick"}));
    h.advance(30s);
    EXPECT_EQ(to.descriptions(), (texts{"quick", "slow", "slow"}));
}

test_server_options with_two_lookups() {
    test_server_options options = with_webhooks();
    options.service.webhooks.lookup_threads = 2;
    return options;
}
struct webhook_lookups : webhook_api {
    webhook_lookups() : webhook_api(with_two_lookups()) {
        add();
        be("next", "NXT");
        be("third", "THI");
    }
    // Adds an account with one webhook.
    void be(const std::string& name, const std::string& prefix) {
        h.make_account(name, prefix);
        token = h.make_token(name, token_scope::admin);
        add();
    }
    void create_as(const std::string& name, const std::string& text) {
        token = h.make_token(name, token_scope::admin);
        create(text);
    }
};

TEST_F(webhook_lookups, slow_names_of_many_accounts_leave_threads_for_others) {
    to.lookup_takes = 2s;
    create_as("home", "a");
    create_as("next", "b");
    EXPECT_EQ(to.lookups.size(), 2u);
    h.advance(2s);
    EXPECT_EQ(to.descriptions(), (texts{"a", "b"}));
    create_as("home", "c");
    create_as("next", "d");
    EXPECT_EQ(to.lookups.size(), 3u);
    to.lookup_takes = 0s;
    create_as("third", "e");
    EXPECT_EQ(to.descriptions(), (texts{"a", "b", "e"}));
    h.advance(2s);
    EXPECT_EQ(to.descriptions(), (texts{"a", "b", "e", "c", "d"}));
}

TEST_F(webhook_api, every_error_of_a_request_is_reported) {
    EXPECT_EQ(fields_of(call(verb::post, "/v1/webhooks",
                             R"({"url":"ftp://x/","filter":"tag=a&foo=1&is=blocked","secret":"s",)"
                             R"("after":"?"})",
                             400)),
              (texts{"url", "filter.foo", "filter.is", "after", "secret"}));
    EXPECT_EQ(fields_of(call(verb::post, "/v1/webhooks",
                             R"({"url":"https://example.com/","filter":"ref=SYN-1"})", 400)),
              (texts{"filter.ref"}));
    const auto rejected = call(verb::post, "/v1/webhooks", R"({"url":"http://10.0.0.1/"})", 400);
    EXPECT_EQ(rejected.at("errors").at(0).at("code"), "address-not-allowed");
    EXPECT_EQ(fields_of(call(verb::post, "/v1/webhooks", "{}", 400)), (texts{"url"}));
    const std::string id = add();
    EXPECT_EQ(fields_of(call(verb::patch, "/v1/webhooks/" + id, R"({"after":"x"})", 400)),
              (texts{"after"}));
    EXPECT_EQ(fields_of(call(verb::patch, "/v1/webhooks/" + id, R"({"enabled":null})", 400)),
              (texts{"enabled"}));
    call(verb::patch, "/v1/webhooks/nothing", R"({"enabled":true})", 404);
    EXPECT_EQ(call(verb::post, "/v1/webhooks",
                   R"({"url":"https://example.com/","after":"0123456789ab.7"})", 410)
                  .at("code"),
              "cursor-unknown");
    EXPECT_EQ(fields_of(call(verb::post, "/v1/webhooks",
                             R"({"url":"https://example.com/","filter":"prefix=NO"})", 400)),
              (texts{"prefix"}));
}

TEST_F(webhook_api, an_account_has_a_maximum) {
    for (int n = 0; n < 3; ++n) add();
    EXPECT_EQ(call(verb::post, "/v1/webhooks", R"({"url":"https://example.com/"})", 409).at("code"),
              "too-many-webhooks");
}

TEST_F(webhook_api, a_secret_is_generated_and_shown_once) {
    const auto made = call(verb::post, "/v1/webhooks", R"({"url":"https://example.com/"})", 201);
    const std::string text(made.at("secret").as_string());
    EXPECT_TRUE(seal::parse_webhook_secret(text));
    const std::string id(made.at("webhookId").as_string());
    EXPECT_FALSE(show(id).contains("secret"));
    const auto kept = h.look([&](read_tx& tx) { return webhooks::of(tx, account); });
    EXPECT_EQ(kept.at(0).sealed_secret.find(text.substr(6)), std::string::npos);
    const auto other = call(verb::post, "/v1/webhooks", R"({"url":"https://example.com/"})", 201);
    EXPECT_NE(other.at("secret"), made.at("secret"));
}

TEST_F(webhook_api, its_url_and_filter_can_be_changed) {
    const std::string id = add();
    create("one");
    const auto now = call(verb::patch, "/v1/webhooks/" + id,
                          R"({"url":"https://example.com/other","filter":"tag=a"})", 200);
    EXPECT_EQ(now.at("filter").as_string(), "tag=a");
    create("two");
    create("three", R"(,"tags":["a"])");
    EXPECT_EQ(to.descriptions(), (texts{"one", "three"}));
    EXPECT_EQ(to.calls.back().url.target, "/other");
    EXPECT_FALSE(
        call(verb::patch, "/v1/webhooks/" + id, R"({"filter":null})", 200).contains("filter"));
    create("four");
    EXPECT_EQ(to.descriptions().back(), "four");
    EXPECT_EQ(fields_of(call(verb::patch, "/v1/webhooks/" + id,
                             R"({"url":"https://10.0.0.1/","filter":"x=1"})", 400)),
              (texts{"url", "filter.x"}));
    EXPECT_EQ(fields_of(call(verb::patch, "/v1/webhooks/" + id, R"({"url":null})", 400)),
              texts{"url"});
}

// Receivers verify with either secret for a day.
TEST_F(webhook_api, its_secret_is_rotated_with_two_signatures) {
    const std::string id = add();
    const auto signatures = [&](const std::string& description) {
        create(description);
        return to.calls.back().header("webhook-signature");
    };
    const auto signed_by = [&](const std::string& secret) {
        const posted& p = to.calls.back();
        const auto at = std::stoll(p.header("webhook-timestamp"));
        return seal::webhook_signature(seal::parse_webhook_secret(secret)->bytes(),
                                       p.header("webhook-id"), at, p.call.body);
    };
    const std::string old_secret(secret_text);
    const std::string one = signatures("one");
    EXPECT_EQ(one, signed_by(old_secret));
    const auto rotated = call(verb::post, "/v1/webhooks/" + id + ":rotateSecret", "{}", 200);
    const std::string next(rotated.at("secret").as_string());
    EXPECT_TRUE(rotated.contains("formerSecretUntil"));
    EXPECT_NE(next, old_secret);
    const std::string two = signatures("two");
    EXPECT_EQ(two, signed_by(next) + " " + signed_by(old_secret));
    h.advance(25h);
    const std::string three = signatures("three");
    EXPECT_EQ(three, signed_by(next));
    // A second rotation ends the first one.
    call(verb::post, "/v1/webhooks/" + id + ":rotateSecret", R"({"secret":")" + old_secret + "\"}",
         200);
    const std::string four = signatures("four");
    EXPECT_EQ(four, signed_by(old_secret) + " " + signed_by(next));
    EXPECT_EQ(fields_of(call(verb::post, "/v1/webhooks/" + id + ":rotateSecret",
                             R"({"secret":"s"})", 400)),
              texts{"secret"});
    EXPECT_FALSE(show(id).contains("secret"));
}

// Each rotation has read the former secret; the later one would drop the secret of the first.
TEST_F(webhook_api, two_rotations_at_once_are_one) {
    const std::string id = add();
    header_list headers = bearer(token);
    headers.emplace_back("Content-Type", "application/json");
    const auto rotate = [&] {
        return h.start(
            make_request(verb::post, "/v1/webhooks/" + id + ":rotateSecret", "{}", headers));
    };
    const auto one = rotate(), other = rotate();
    h.settle();
    ASSERT_TRUE(one->has_value() && other->has_value());
    EXPECT_EQ(std::min((*one)->status, (*other)->status), 200u);
    EXPECT_EQ(std::max((*one)->status, (*other)->status), 409u);
}

TEST_F(webhook_api, a_test_posts_once_and_returns_the_outcome) {
    const std::string id = add();
    create("one");
    const auto before = attempts(id).size();
    const auto outcome = call(verb::post, "/v1/webhooks/" + id + ":test", "", 200);
    EXPECT_TRUE(outcome.at("delivered").as_bool());
    EXPECT_EQ(outcome.at("status").as_int64(), 204);
    const posted& p = to.calls.back();
    const auto body = json::parse(p.call.body).as_object();
    EXPECT_EQ(body.at("type").as_string(), "test");
    EXPECT_EQ(body.at("webhookId").as_string(), id);
    EXPECT_FALSE(body.contains("changes"));
    EXPECT_EQ(p.header("webhook-id"), outcome.at("deliveryId").as_string());
    EXPECT_NE(p.header("webhook-signature"), "");
    for (int n = 0; n < 6; ++n) {
        h.advance(5s);
        to.answers.push_back(n % 2 == 0 ? no_answer() : status(410));
        const auto failed = call(verb::post, "/v1/webhooks/" + id + ":test", "", 200);
        EXPECT_FALSE(failed.at("delivered").as_bool());
        EXPECT_EQ(failed.contains("error"), n % 2 == 0);
    }
    EXPECT_EQ(attempts(id).size(), before);
    EXPECT_EQ(show(id).at("state").as_string(), "active");
    EXPECT_EQ(show(id).at("failures").as_int64(), 0);
    call(verb::post, "/v1/webhooks/5e1f7a38-93b2-4c1d-9a44-0c7d1a9be001:test", "", 404);
}

// Else a token could send requests to any server as fast as it likes.
TEST_F(webhook_api, an_account_tests_one_webhook_at_a_time_with_a_pause) {
    const std::string id = add(), other = add();
    const auto test = [&](const std::string& which) {
        return make_request(verb::post, "/v1/webhooks/" + which + ":test", "", bearer(token));
    };
    to.takes = 2s;
    const auto first = h.start(test(id));
    h.settle();
    const auto during = h.call(test(other));
    EXPECT_EQ(during.status, 429u) << during.body;
    EXPECT_EQ(code_of(during), "rate-limited");
    EXPECT_EQ(header(during, "Retry-After"), "5");
    h.advance(2s);
    ASSERT_TRUE(first->has_value());
    EXPECT_EQ((*first)->status, 200u);
    to.takes = 0s;
    h.advance(3'900ms);
    const auto early = h.call(test(id));
    EXPECT_EQ(early.status, 429u);
    EXPECT_EQ(header(early, "Retry-After"), "2");
    h.advance(1'100ms);
    EXPECT_EQ(h.call(test(id)).status, 200u);
    EXPECT_EQ(to.calls.size(), 2u);
    h.make_account("neighbour", "SYN");
    token = h.make_token("neighbour", token_scope::admin);
    EXPECT_EQ(h.call(test(add())).status, 200u) << "another account's own";
}

TEST_F(webhook_api, an_opaque_account_has_none) {
    const std::string operators = h.operator_token();
    const auto made = h.call(post(
        "/v1/admin/accounts", R"({"name":"sealed","prefix":"SEA","mode":"opaque"})", operators));
    ASSERT_EQ(made.status, 201u);
    token = h.make_token("sealed", token_scope::admin);
    EXPECT_EQ(call(verb::post, "/v1/webhooks", R"({"url":"https://example.com/"})", 409).at("code"),
              "account-opaque");
}

// The server stops during a post: no request is left, and the webhook counts no failure.
TEST_F(webhook_api, a_stop_cancels_posts_in_progress) {
    to.takes = 1h;
    const std::string id = add();
    add();
    add();
    create("a");
    EXPECT_EQ(to.at_once, 2);
    bool stopped = false;
    asio::co_spawn(h.io(), h.service().stop_webhooks(),
                   [&](const std::exception_ptr&) { stopped = true; });
    h.settle();
    EXPECT_TRUE(stopped);
    EXPECT_EQ(show(id).at("failures"), 0);
    EXPECT_TRUE(attempts(id).empty());
    create("b");
    h.advance(2h);
    EXPECT_EQ(to.calls.size(), 2u);
}

}  // namespace
}  // namespace callsign::testing
