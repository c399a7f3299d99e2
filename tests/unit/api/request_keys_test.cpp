// Idempotency-Key on writes other than creations of tasks: a retry changes nothing and gets the
// first response.

#include "support/answer_json.hpp"
#include "support/test_server.hpp"

#include <callsign/rules/rows/requests.hpp>
#include <callsign/seal/key_ring.hpp>

#include <array>
#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;
using boost::json::object;
using namespace std::chrono_literals;

constexpr std::array<std::uint8_t, seal::key_bytes> key_of_master{0x4B, 1, 2, 3};

struct request_keys : ::testing::Test {
    request_keys() : h(options()) {
        admin = h.make_token("syn", token_scope::admin);
        h.call(post("/v1/tasks", R"({"description":"x","tags":["a"]})", syn.token, "first"));
    }

    static test_server_options options() {
        test_server_options all{
            .reaper = {.interval = 1h, .window = 1min, .retention = 24h, .history_retention = 10h},
            .reaping = true};
        all.service.master_key = std::make_shared<const seal::key_ring>(seal::key(key_of_master));
        return all;
    }
    static std::string token_of(const net::http_response& response) {
        return text_of(body_of(response).at("token"));
    }
    net::http_response send(verb method, const std::string& target, std::string body,
                            const std::string& key, header_list more = {}) {
        header_list headers = bearer(admin);
        if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
        if (!key.empty()) headers.emplace_back("Idempotency-Key", key);
        headers.insert(headers.end(), more.begin(), more.end());
        return h.call(make_request(method, target, std::move(body), headers));
    }
    net::http_response act(const std::string& verb_, const std::string& body,
                           const std::string& key, header_list more = {}) {
        return send(verb::post, "/v1/tasks/SYN-1:" + verb_, body, key, std::move(more));
    }
    object task() { return body_of(h.call(get("/v1/tasks/SYN-1", syn.token))); }

    // A retry gets the first response, marked.
    void expect_replay(const net::http_response& first, const net::http_response& again) {
        EXPECT_EQ(again.status, first.status) << again.body;
        EXPECT_EQ(again.body, first.body);
        EXPECT_EQ(header(first, "Idempotent-Replayed"), "");
        EXPECT_EQ(header(again, "Idempotent-Replayed"), "true");
        EXPECT_EQ(header(again, "ETag"), header(first, "ETag"));
        EXPECT_EQ(header(again, "Location"), header(first, "Location"));
    }

    test_server h;
    test_server::made_account syn = h.make_account("syn", "SYN");
    std::string admin;
};

// A completes and loses the response, B reopens, A retries.
TEST_F(request_keys, a_retried_edit_does_not_undo_a_neighbours) {
    const std::string etag = text_of(task().at("etag"));
    const auto first = act("complete", "", "k", {{"If-Match", etag}});
    ASSERT_EQ(first.status, 200u) << first.body;
    ASSERT_EQ(act("reopen", "", "").status, 200u);
    const auto reopened = task();
    expect_replay(first, act("complete", "", "k", {{"If-Match", etag}}));
    expect_replay(first, act("complete", "", "k", {{"If-Match", text_of(reopened.at("etag"))}}));
    EXPECT_EQ(task(), reopened);
}

TEST_F(request_keys, each_write_of_a_task_takes_effect_once) {
    const auto note = act("annotate", R"({"description":"said"})", "note");
    ASSERT_EQ(note.status, 200u) << note.body;
    h.advance(5s);
    expect_replay(note, act("annotate", R"({"description":"said"})", "note"));
    EXPECT_EQ(task().at("annotations").as_array().size(), 1u);

    const auto patch = [&] {
        return send(verb::patch, "/v1/tasks/SYN-1", R"({"tags":["b"]})", "patch");
    };
    const auto patched = patch();
    send(verb::patch, "/v1/tasks/SYN-1", R"({"tags":["c"]})", "");
    expect_replay(patched, patch());
    EXPECT_EQ(text_of(task().at("tags").at(0)), "c");

    // An edit without effect is remembered, too.
    const auto same = send(verb::patch, "/v1/tasks/SYN-1", R"({"tags":["c"]})", "same");
    send(verb::patch, "/v1/tasks/SYN-1", R"({"tags":["d"]})", "");
    expect_replay(same, send(verb::patch, "/v1/tasks/SYN-1", R"({"tags":["c"]})", "same"));

    const auto deleted = send(verb::delete_, "/v1/tasks/SYN-1", "", "delete");
    act("reopen", "", "");
    expect_replay(deleted, send(verb::delete_, "/v1/tasks/SYN-1", "", "delete"));
    EXPECT_EQ(text_of(task().at("status")), "pending");

    const auto purged = send(verb::delete_, "/v1/tasks/SYN-1?purge=true", "", "purge");
    EXPECT_EQ(purged.status, 204u);
    expect_replay(purged, send(verb::delete_, "/v1/tasks/SYN-1?purge=true", "", "purge"));
    EXPECT_EQ(code_of(patch()), "task-deleted") << "what it was is removed";
}

TEST_F(request_keys, a_rejected_request_leaves_its_key_unused) {
    EXPECT_EQ(act("complete", "", "k", {{"If-Match", h.etag(99)}}).status, 412u);
    EXPECT_EQ(send(verb::patch, "/v1/tasks/SYN-1", R"({"depends":["SYN-9"]})", "k").status, 400u);
    const auto done = act("complete", "", "k");
    EXPECT_EQ(done.status, 200u);
    EXPECT_EQ(header(done, "Idempotent-Replayed"), "");
}

TEST_F(request_keys, a_key_is_of_one_request) {
    ASSERT_EQ(act("complete", "", "k").status, 200u);
    for (const auto& other :
         {act("reopen", "", "k"), send(verb::patch, "/v1/tasks/SYN-1", "{}", "k"),
          send(verb::post, "/v1/series", R"({"prefix":"OPS"})", "k")}) {
        EXPECT_EQ(other.status, 422u) << other.body;
        EXPECT_EQ(code_of(other), "idempotency-key-reused");
    }
    EXPECT_EQ(text_of(task().at("status")), "completed");
    EXPECT_EQ(code_of(act("reopen", "", "\"open")), "idempotency-key-malformed");
    // Creations have keys of their own, and so has each account.
    EXPECT_EQ(act("reopen", "", "first").status, 200u);
    const auto other = h.make_account("other", "SYN");
    EXPECT_EQ(h.call(post("/v1/tasks", R"({"description":"y"})", other.token, "k")).status, 201u);
    EXPECT_EQ(h.call(post("/v1/tasks/SYN-1:complete", "", other.token, "k")).status, 200u);
}

TEST_F(request_keys, a_batch_has_a_key_for_each_item) {
    const auto edit = [&](const std::string& description) {
        return body_of(
                   send(verb::post, "/v1/tasks:batchUpdate",
                        R"({"items":[{"ref":"SYN-1","idempotencyKey":"k","task":{"description":")" +
                            description + R"("}},{"ref":"SYN-1","task":{"priority":"H"}}]})",
                        ""))
            .at("results")
            .as_array();
    };
    const auto first = edit("one");
    EXPECT_FALSE(first[0].at("replayed").as_bool());
    send(verb::patch, "/v1/tasks/SYN-1", R"({"description":"two"})", "");
    const auto again = edit("one");
    EXPECT_TRUE(again[0].at("replayed").as_bool());
    EXPECT_FALSE(again[1].at("replayed").as_bool());
    EXPECT_EQ(again[0].at("task"), first[0].at("task"));
    EXPECT_EQ(text_of(task().at("description")), "two");
    EXPECT_EQ(text_of(edit("other")[0].at("problem").at("code")), "idempotency-key-reused");
}

// The server keeps a hash of a token only, and yet returns the same one.
TEST_F(request_keys, a_token_is_created_once_and_its_secret_returned_again) {
    const auto make = [&] { return send(verb::post, "/v1/tokens", R"({"name":"phone"})", "k"); };
    const auto count = [&] {
        return body_of(h.call(get("/v1/tokens", admin))).at("tokens").as_array().size();
    };
    const auto before = count();
    const auto first = make();
    ASSERT_EQ(first.status, 201u) << first.body;
    expect_replay(first, make());
    EXPECT_EQ(count(), before + 1);
    EXPECT_EQ(h.call(get("/v1/tasks", token_of(first))).status, 200u);
    // The secret is not in the store as it is, and another token does not reveal it.
    const auto kept = h.look([&](read_tx& tx) { return requests::find(tx, syn.id, "k"); });
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->sealed.find(token_of(first)), std::string::npos);
    admin = h.make_token("syn", token_scope::admin);
    EXPECT_EQ(code_of(make()), "idempotency-key-reused");
}

TEST_F(request_keys, a_device_is_added_once_and_its_secret_returned_again) {
    const auto add = [&] { return send(verb::post, "/v1/devices", R"({"name":"phone"})", "k"); };
    const auto first = add();
    ASSERT_EQ(first.status, 201u) << first.body;
    expect_replay(first, add());
    EXPECT_EQ(send(verb::post, "/v1/devices", R"({"name":"phone"})", "l").status, 409u);
    EXPECT_EQ(body_of(h.call(get("/v1/devices", admin))).at("devices").as_array().size(), 1u);
}

TEST_F(request_keys, a_webhook_is_created_changed_and_removed_once) {
    const auto make = [&] {
        return send(verb::post, "/v1/webhooks", R"({"url":"https://example.com/hook"})", "make");
    };
    const auto first = make();
    ASSERT_EQ(first.status, 201u) << first.body;
    expect_replay(first, make());
    const std::string path = "/v1/webhooks/" + text_of(body_of(first).at("webhookId"));
    const auto off = send(verb::patch, path, R"({"enabled":false})", "off");
    expect_replay(off, send(verb::patch, path, R"({"enabled":false})", "off"));
    EXPECT_EQ(body_of(h.call(get("/v1/webhooks", admin))).at("webhooks").as_array().size(), 1u);
    const auto gone = send(verb::delete_, path, "", "gone");
    EXPECT_EQ(gone.status, 204u);
    expect_replay(gone, send(verb::delete_, path, "", "gone"));
    EXPECT_EQ(send(verb::delete_, path, "", "").status, 404u);
    EXPECT_EQ(make().status, 404u) << "it was removed";
}

TEST_F(request_keys, a_series_is_created_and_changed_once) {
    const auto make = [&] { return send(verb::post, "/v1/series", R"({"prefix":"OPS"})", "make"); };
    const auto first = make();
    ASSERT_EQ(first.status, 201u) << first.body;
    expect_replay(first, make());
    EXPECT_EQ(send(verb::post, "/v1/series", R"({"prefix":"OPS"})", "").status, 409u);
    const auto rename = [&] {
        return send(verb::patch, "/v1/series/OPS", R"({"prefix":"RUN"})", "name");
    };
    const auto renamed = rename();
    expect_replay(renamed, rename());
}

// What was valid then may not be valid now: the key decides first.
TEST_F(request_keys, a_retry_gets_its_response_though_time_has_passed) {
    const auto keep = [&](verb method, const std::string& path, const std::string& body) {
        return [this, method, path, body] { return send(method, path, body, path + body); };
    };
    const std::string until = to_rfc3339(h.clock().now() + 1h);
    const auto make_token = keep(verb::post, "/v1/tokens", R"({"expiresAt":")" + until + "\"}");
    const auto token = make_token();
    ASSERT_EQ(token.status, 201u) << token.body;
    act("annotate", R"({"description":"one"})", "");
    act("annotate", R"({"description":"two"})", "");
    const auto add =
        keep(verb::post, "/v1/webhooks", R"({"url":"https://example.com/hook","after":"0"})");
    const auto added = add();
    ASSERT_EQ(added.status, 201u) << added.body;
    const std::string hook = "/v1/webhooks/" + text_of(body_of(added).at("webhookId"));
    const auto reset = keep(verb::patch, hook, R"({"after":"0"})");
    const auto was_reset = reset();
    ASSERT_EQ(was_reset.status, 200u) << was_reset.body;
    const auto rotate = keep(verb::post, hook + ":rotateSecret", "{}");
    const auto rotated = rotate();
    ASSERT_EQ(rotated.status, 200u) << rotated.body;

    h.advance(20h);
    EXPECT_EQ(send(verb::post, "/v1/tokens", R"({"expiresAt":")" + until + "\"}", "").status, 400u);
    EXPECT_EQ(send(verb::patch, hook, R"({"after":"0"})", "").status, 410u);
    expect_replay(token, make_token());
    expect_replay(rotated, rotate());
    for (const auto& again : {add(), reset()}) {
        EXPECT_EQ(again.status / 100, 2u) << again.body;
        EXPECT_EQ(header(again, "Idempotent-Replayed"), "true");
    }
    // Of another request it is still another one's.
    EXPECT_EQ(code_of(send(verb::patch, hook, R"({"after":"now"})", hook + R"({"after":"0"})")),
              "idempotency-key-reused");
}

TEST_F(request_keys, keys_expire_with_the_retention_and_with_their_account) {
    const auto kept = [&](account_id account) {
        return h.look([&](read_tx& tx) { return requests::find(tx, account, "k").has_value(); });
    };
    ASSERT_EQ(act("annotate", R"({"description":"said"})", "k").status, 200u);
    h.advance(22h);
    EXPECT_TRUE(kept(syn.id));
    h.advance(4h);
    EXPECT_FALSE(kept(syn.id));
    ASSERT_EQ(act("annotate", R"({"description":"said"})", "k").status, 200u);
    EXPECT_EQ(task().at("annotations").as_array().size(), 2u) << "the key is new again";
}

}  // namespace
}  // namespace callsign::testing
