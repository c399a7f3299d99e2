// The whole surface against a running engine on a store in memory: what clients see.
#include "callsign/v1/callsign.pb.h"
#include "support/answer_json.hpp"
#include "support/faulty_store.hpp"
#include "support/house.hpp"

#include <callsign/wire/convert.hpp>

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <map>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

// "field code" of every fault.
std::vector<std::string> listed_faults(const net::http_response& response) {
    std::vector<std::string> all;
    const auto body = body_of(response);
    for (const auto& e : body.at("errors").as_array()) {
        const auto& fault = e.as_object();
        const std::string field = fault.contains("field") ? text_of(fault.at("field")) : "";
        all.push_back(field + " " + text_of(fault.at("code")));
    }
    return all;
}

class service_test : public ::testing::Test {
  protected:
    net::http_response create(std::string body, std::string_view key) {
        return h.call(post("/v1/tasks", std::move(body), syn.token, key));
    }
    net::http_response read(std::string_view target) { return h.call(get(target, syn.token)); }
    net::http_response admin(std::string_view target) { return h.call(get(target, root)); }
    net::http_response admin_post(std::string_view target, std::string body) {
        return h.call(post(target, std::move(body), root));
    }

    house h;
    house::made_account syn = h.make_account("syn", "SYN");
    std::string root = h.operator_token();
};

// ---- creating ----

TEST_F(service_test, a_creation_has_a_receipt) {
    const auto made = create(R"({"description":"Ship it","tags":["home"]})", "k1");
    EXPECT_EQ(made.status, 201u);
    EXPECT_EQ(made.content_type, "application/json");
    EXPECT_EQ(header(made, "Location"), "/v1/tasks/SYN-1");
    EXPECT_EQ(header(made, "Idempotent-Replayed"), "");
    const auto body = body_of(made);
    EXPECT_EQ(text_of(body.at("key")), "SYN-1");
    EXPECT_EQ(text_of(body.at("prefix")), "SYN");
    EXPECT_EQ(body.at("number").as_int64(), 1);
    EXPECT_TRUE(body.at("created").as_bool());
}

TEST_F(service_test, a_retry_gets_the_same_bytes) {
    const auto first = create(R"({"description":"Ship it"})", "k1");
    h.advance(std::chrono::seconds{5});
    const auto second = create(R"({ "description" : "Ship it" })", "k1");
    EXPECT_EQ(second.status, first.status);
    EXPECT_EQ(second.body, first.body);
    EXPECT_EQ(header(second, "Location"), header(first, "Location"));
    EXPECT_EQ(header(second, "Idempotent-Replayed"), "true");
}

TEST_F(service_test, two_requests_at_once_make_one_task) {
    const auto one = h.start(post("/v1/tasks", R"({"description":"x"})", syn.token, "k1"));
    const auto two = h.start(post("/v1/tasks", R"({"description":"x"})", syn.token, "k1"));
    h.settle();
    ASSERT_TRUE(*one && *two);
    EXPECT_EQ((*one)->body, (*two)->body);
    EXPECT_NE(header(**one, "Idempotent-Replayed"), header(**two, "Idempotent-Replayed"));
}

TEST_F(service_test, json_and_protobuf_are_one_creation) {
    const auto json = create(R"({"description":"Ship it","tags":["a","b"]})", "k1");
    v1::CreateTask message;
    message.set_description("Ship it");
    message.add_tags("b");
    message.add_tags("a");
    auto headers = bearer(syn.token);
    headers.emplace_back("Content-Type", "application/x-protobuf");
    headers.emplace_back("Idempotency-Key", "k1");
    const auto proto =
        h.call(make_request(verb::post, "/v1/tasks", message.SerializeAsString(), headers));
    EXPECT_EQ(proto.status, 201u);
    EXPECT_EQ(proto.content_type, "application/x-protobuf");
    v1::Receipt receipt;
    ASSERT_TRUE(receipt.ParseFromString(proto.body));
    EXPECT_EQ(receipt.key(), "SYN-1");
    EXPECT_EQ(header(proto, "Idempotent-Replayed"), "true");
    EXPECT_EQ(receipt.uuid(), text_of(body_of(json).at("uuid")));
}

TEST_F(service_test, a_key_is_needed_and_well_formed) {
    const auto missing = h.call(post("/v1/tasks", R"({"description":"x"})", syn.token));
    EXPECT_EQ(missing.status, 400u);
    EXPECT_EQ(code_of(missing), "idempotency-key-missing");
    const auto malformed = create(R"({"description":"x"})", "a b");
    EXPECT_EQ(malformed.status, 400u);
    EXPECT_EQ(code_of(malformed), "idempotency-key-malformed");
}

TEST_F(service_test, a_key_is_not_reused_for_another_payload) {
    create(R"({"description":"x"})", "k1");
    const auto other = create(R"({"description":"y"})", "k1");
    EXPECT_EQ(other.status, 422u);
    EXPECT_EQ(code_of(other), "idempotency-key-reused");
}

TEST_F(service_test, every_fault_is_listed_and_no_slot_is_made) {
    const auto refused = create(R"({"descripton":"x","status":"done","tags":"a"})", "k1");
    EXPECT_EQ(refused.status, 400u);
    EXPECT_EQ(code_of(refused), "validation-failed");
    const auto faults = listed_faults(refused);
    const auto has = [&](const std::string& f) {
        return std::find(faults.begin(), faults.end(), f) != faults.end();
    };
    EXPECT_TRUE(has("descripton unknown-field"));
    EXPECT_TRUE(has("description required"));
    EXPECT_TRUE(has("tags wrong-type"));
    EXPECT_TRUE(has("status invalid"));
    EXPECT_EQ(read("/v1/slots/k1").status, 404u);
}

TEST_F(service_test, a_task_is_not_made_larger_than_it_may_be) {
    std::string attributes;
    for (int n = 0; n < 65; ++n) {
        attributes += (n > 0 ? R"(,"x)" : R"("x)") + std::to_string(n) + R"(":")" +
                      std::string(1 << 16, 'x') + '"';
    }
    const std::string large = R"({"description":"x","attributes":{)" + attributes + "}}";
    for (const char* round : {"the first time", "again"}) {
        const auto refused = create(large, "k1");
        EXPECT_EQ(refused.status, 413u) << round;
        EXPECT_EQ(code_of(refused), "task-too-large") << round;
        EXPECT_EQ(read("/v1/slots/k1").status, 404u) << round;
    }
    const auto batch =
        h.call(post("/v1/tasks:batchCreate",
                    R"({"items":[{"idempotencyKey":"k2","task":)" + large + "}]}", syn.token));
    EXPECT_EQ(batch.status, 200u) << batch.body;
    EXPECT_NE(batch.body.find("task-too-large"), std::string::npos);
    EXPECT_EQ(read("/v1/slots/k2").status, 404u);
    EXPECT_EQ(create(R"({"description":"x"})", "k1").status, 201u) << "the key is as good as new";
}

TEST_F(service_test, a_body_that_is_no_json_is_one_fault) {
    const auto refused = create("{", "k1");
    EXPECT_EQ(refused.status, 400u);
    EXPECT_EQ(listed_faults(refused).size(), 1u);
}

TEST_F(service_test, an_unknown_prefix_is_a_fault_of_the_body) {
    const auto refused = create(R"({"description":"x","prefix":"NOPE"})", "k1");
    EXPECT_EQ(refused.status, 400u);
    EXPECT_EQ(listed_faults(refused), std::vector<std::string>{"prefix unknown-prefix"});
}

TEST_F(service_test, dependencies_are_resolved_by_key_and_uuid) {
    const auto first = body_of(create(R"({"description":"first"})", "k1"));
    const std::string uuid = text_of(first.at("uuid"));
    const auto second = create(R"({"description":"second","depends":["syn-1"]})", "k2");
    ASSERT_EQ(second.status, 201u);
    const auto task = body_of(read("/v1/tasks/SYN-2"));
    EXPECT_EQ(text_of(task.at("depends").as_array().at(0)), uuid);

    const auto missing =
        create(R"({"description":"third","depends":["SYN-1","SYN-9","NOPE-1","syn-9"]})", "k3");
    EXPECT_EQ(missing.status, 400u);
    EXPECT_EQ(listed_faults(missing),
              (std::vector<std::string>{"depends[1] task-not-found", "depends[2] unknown-prefix",
                                        "depends[3] task-not-found"}));
}

// Taskwarrior deletes it when `until` has come. Whoever has made it already is told so, however
// late he asks.
TEST_F(service_test, a_task_is_not_made_to_be_deleted) {
    const std::string body = R"({"description":"x","attributes":{"until":"2026-11-20T12:30:00Z"}})";
    EXPECT_EQ(create(body, "k1").status, 201u);
    h.advance(std::chrono::minutes{30});
    EXPECT_EQ(create(body, "k1").status, 201u);
    const auto refused = create(body, "k2");
    EXPECT_EQ(refused.status, 400u);
    EXPECT_EQ(listed_faults(refused), std::vector<std::string>{"until invalid"});
    EXPECT_EQ(read("/v1/slots/k2").status, 404u);
    EXPECT_EQ(create(R"({"description":"x","status":"completed",
                         "attributes":{"until":"2026-11-20T12:30:00Z"}})",
                     "k3")
                  .status,
              201u);
}

// Taskwarrior would make thousands of tasks of it, on each device, with its next report.
TEST_F(service_test, a_task_does_not_recur_since_long_ago) {
    const auto made = [&](const char* due, const char* key) {
        return create(std::string(R"({"description":"x","status":"recurring","due":")") + due +
                          R"(","attributes":{"recur":"daily"}})",
                      key);
    };
    EXPECT_EQ(made("2025-11-21T00:00:00Z", "k1").status, 201u);
    const auto refused = made("2025-11-18T00:00:00Z", "k2");
    EXPECT_EQ(refused.status, 400u);
    EXPECT_EQ(listed_faults(refused), std::vector<std::string>{"due invalid"});
}

TEST_F(service_test, what_is_over_has_an_end) {
    create(R"({"description":"x","status":"completed"})", "k1");
    create(R"({"description":"x","status":"completed",
               "attributes":{"end":"2026-11-19T12:00:00Z"}})",
           "k2");
    const auto end_of = [&](const char* key) {
        const auto task = body_of(read(std::string("/v1/tasks/") + key));
        return text_of(task.at("end"));
    };
    EXPECT_EQ(end_of("SYN-1"), "2026-11-20T12:00:00.000Z");
    EXPECT_EQ(end_of("SYN-2"), "2026-11-19T12:00:00.000Z");
}

TEST_F(service_test, a_task_that_is_there_answers200) {
    const std::string body = R"({"description":"x","uuid":"11111111-2222-4333-8444-555555555555"})";
    EXPECT_EQ(create(body, "k1").status, 201u);
    const auto again = create(body, "k2");
    EXPECT_EQ(again.status, 200u);
    EXPECT_FALSE(body_of(again).at("created").as_bool());
    EXPECT_EQ(text_of(body_of(again).at("key")), "SYN-1");
}

// ---- the reaper ----

// A process that dies between the two phases leaves a pending slot.
void leave_pending_slot(house& h, account_id account, std::string key, digest fingerprint) {
    const auto reserved =
        h.run(h.engine().submit(reserve{account, std::move(key), fingerprint, std::nullopt, ""}));
    ASSERT_TRUE(reserved && std::holds_alternative<reserve::reserved>(*reserved));
}

digest fingerprint_of(std::string_view json) {
    wire::faults none;
    v1::CreateTask message;
    wire::decode(wire::format::json, json, message, none);
    return wire::to_domain(message, none)->fingerprint;
}

TEST_F(service_test, a_late_retry_hears_that_it_is_too_late) {
    const std::string body = R"({"description":"x"})";
    leave_pending_slot(h, syn.id, "k1", fingerprint_of(body));
    EXPECT_EQ(text_of(body_of(read("/v1/slots/k1")).at("state")), "pending");

    h.advance(std::chrono::minutes{8});
    const auto waiting = body_of(admin("/v1/admin/reaper"));
    EXPECT_EQ(waiting.at("pending").as_int64(), 1);
    EXPECT_EQ(text_of(waiting.at("oldestPending")), "2026-11-20T12:00:00.000Z");
    EXPECT_NE(text_of(waiting.at("advice")).find("shorter"), std::string::npos);

    h.advance(std::chrono::minutes{12});
    const auto swept = body_of(admin_post("/v1/admin/reaper/sweep", ""));
    EXPECT_EQ(swept.at("failed").as_int64(), 1);
    const auto late = create(body, "k1");
    EXPECT_EQ(late.status, 409u);
    EXPECT_EQ(code_of(late), "slot-failed");
    EXPECT_EQ(text_of(body_of(read("/v1/slots/k1")).at("state")), "failed");

    const auto status = body_of(admin("/v1/admin/reaper"));
    EXPECT_EQ(status.at("lateRetries").as_int64(), 1);
    EXPECT_EQ(status.at("sweeps").as_int64(), 1);
    EXPECT_NE(text_of(status.at("advice")).find("lengthen"), std::string::npos);
    EXPECT_EQ(create(body, "k2").status, 201u);
    EXPECT_EQ(text_of(body_of(read("/v1/tasks/SYN-1")).at("description")), "x");
}

// Nothing has been answered yet, so nothing holds: it would come out without what it depends on.
TEST_F(service_test, a_pending_creation_waits_for_what_it_depends_on) {
    const std::string body = R"({"description":"x","depends":["SYN-1"]})";
    create(R"({"description":"first"})", "k1");
    leave_pending_slot(h, syn.id, "k2", fingerprint_of(body));
    h.call(make_request(verb::delete_, "/v1/tasks/SYN-1?purge=true", "", bearer(syn.token)));
    const auto refused = create(body, "k2");
    EXPECT_EQ(refused.status, 400u) << refused.body;
    EXPECT_EQ(listed_faults(refused), std::vector<std::string>{"depends[0] task-deleted"});
    EXPECT_EQ(text_of(body_of(read("/v1/slots/k2")).at("state")), "pending");
    EXPECT_EQ(read("/v1/tasks/SYN-2").status, 404u);
}

TEST_F(service_test, each_attempt_is_counted_until_one_succeeds) {
    const std::string body = R"({"description":"x"})";
    const auto attempts = [&] { return body_of(read("/v1/slots/k1")).at("attempts").as_int64(); };
    leave_pending_slot(h, syn.id, "k1", fingerprint_of(body));
    EXPECT_EQ(attempts(), 1);
    leave_pending_slot(h, syn.id, "k1", fingerprint_of(body));
    EXPECT_EQ(attempts(), 2);
    EXPECT_EQ(create(body, "k1").status, 201u);
    EXPECT_EQ(attempts(), 3);
    create(body, "k1");
    EXPECT_EQ(attempts(), 3);
}

TEST_F(service_test, a_killed_process_leaves_what_its_successor_finishes) {
    const auto disk = make_memory_store();
    virtual_clock clock;
    std::string token;
    {
        house before({.disk = disk.get(), .clock = &clock});
        token = before.make_account("syn", "SYN").token;
        const auto unfinished =
            before.start(post("/v1/tasks", R"({"description":"x"})", token, "k1"));
        before.io().restart();
        for (int i = 0; i < 3; ++i) before.io().poll_one();
        EXPECT_FALSE(*unfinished);
    }
    house after({.seed = 2, .disk = disk.get(), .clock = &clock});
    const auto made = after.call(post("/v1/tasks", R"({"description":"x"})", token, "k1"));
    EXPECT_EQ(made.status, 201u);
    EXPECT_EQ(header(made, "Location"), "/v1/tasks/SYN-1");
}

// ---- showing ----

TEST_F(service_test, a_task_is_found_by_key_and_uuid) {
    const auto made = body_of(create(R"({"description":"x","project":"p"})", "k1"));
    const auto by_key = read("/v1/tasks/syn-1");
    const auto by_uuid = read("/v1/tasks/" + text_of(made.at("uuid")));
    EXPECT_EQ(by_key.status, 200u);
    EXPECT_EQ(by_key.body, by_uuid.body);
    EXPECT_EQ(text_of(body_of(by_key).at("project")), "p");
    EXPECT_EQ(header(by_key, "ETag"), "\"" + std::to_string(made.at("seq").as_int64()) + "\"");
}

TEST_F(service_test, a_known_task_is_not_sent_again) {
    create(R"({"description":"x"})", "k1");
    const auto etag = std::string(header(read("/v1/tasks/SYN-1"), "ETag"));
    auto headers = bearer(syn.token);
    headers.emplace_back("If-None-Match", "\"0\"");
    headers.emplace_back("If-None-Match", "\"1\", W/" + etag);
    const auto same = h.call(make_request(verb::get, "/v1/tasks/SYN-1", "", headers));
    EXPECT_EQ(same.status, 304u);
    EXPECT_EQ(same.body, "");
    EXPECT_EQ(header(same, "ETag"), etag);
}

TEST_F(service_test, what_is_not_there_is_said_precisely) {
    create(R"({"description":"x"})", "k1");
    const std::map<std::string, std::pair<unsigned, std::string>> expected{
        {"/v1/tasks/nonsense", {400, "malformed-task-ref"}},
        {"/v1/tasks/%FF", {400, "malformed-task-ref"}},
        {"/v1/tasks/NOPE-1", {404, "unknown-prefix"}},
        {"/v1/tasks/SYN-2", {404, "task-not-found"}},
        {"/v1/tasks/11111111-2222-4333-8444-555555555555", {404, "task-not-found"}},
        {"/v1/slots/nope", {404, "slot-not-found"}},
        {"/v1/slots/a%20b", {400, "idempotency-key-malformed"}},
        {"/v1/nothing", {404, "no-such-path"}},
    };
    for (const auto& [path, answer] : expected) {
        const auto response = read(path);
        EXPECT_EQ(response.status, answer.first) << path;
        EXPECT_EQ(code_of(response), answer.second) << path;
    }
}

TEST_F(service_test, a_slot_tells_what_became_of_a_creation) {
    const auto made = create(R"({"description":"x"})", "a/b?c");
    const auto slot = body_of(read("/v1/slots/a%2Fb%3Fc"));
    EXPECT_EQ(text_of(slot.at("state")), "committed");
    EXPECT_EQ(slot.at("receipt").as_object(), body_of(made));
    EXPECT_EQ(slot.at("attempts").as_int64(), 1);
    EXPECT_FALSE(slot.contains("account"));
}

TEST_F(service_test, accounts_do_not_see_each_other) {
    const auto other = h.make_account("other", "OTH");
    const auto made = body_of(create(R"({"description":"x"})", "k1"));
    EXPECT_EQ(h.call(get("/v1/tasks/SYN-1", other.token)).status, 404u);
    EXPECT_EQ(h.call(get("/v1/tasks/" + text_of(made.at("uuid")), other.token)).status, 404u);
    EXPECT_EQ(h.call(get("/v1/slots/k1", other.token)).status, 404u);
    const auto same_key = h.call(post("/v1/tasks", R"({"description":"y"})", other.token, "k1"));
    EXPECT_EQ(header(same_key, "Location"), "/v1/tasks/OTH-1");
}

// ---- forms and methods ----

TEST_F(service_test, forms_are_negotiated) {
    auto headers = bearer(syn.token);
    headers.emplace_back("Accept", "application/protobuf");
    const auto proto = h.call(make_request(verb::get, "/v1/account", "", headers));
    EXPECT_EQ(proto.content_type, "application/x-protobuf");
    v1::Account account;
    ASSERT_TRUE(account.ParseFromString(proto.body));
    EXPECT_EQ(account.name(), "syn");

    // Two fields are one list.
    headers.back().second = "text/html";
    headers.emplace_back("Accept", "application/protobuf");
    const auto listed = h.call(make_request(verb::get, "/v1/account", "", headers));
    EXPECT_EQ(listed.content_type, "application/x-protobuf");

    headers.pop_back();
    const auto refused = h.call(make_request(verb::get, "/v1/account", "", headers));
    EXPECT_EQ(refused.status, 406u);
    EXPECT_EQ(refused.content_type, "application/problem+json");

    headers = bearer(syn.token);
    headers.emplace_back("Content-Type", "text/plain");
    EXPECT_EQ(h.call(make_request(verb::post, "/v1/tasks", "x", headers)).status, 415u);

    headers = bearer(syn.token);
    headers.emplace_back("Content-Encoding", "identity");
    EXPECT_NE(h.call(make_request(verb::post, "/v1/tasks", "{}", headers)).status, 415u);
    headers.emplace_back("Content-Encoding", "gzip");
    const auto coded = h.call(make_request(verb::post, "/v1/tasks", "{}", headers));
    EXPECT_EQ(coded.status, 415u);
    EXPECT_EQ(header(coded, "Accept-Encoding"), "identity");
}

TEST_F(service_test, a_wrong_method_is_told_the_right_ones) {
    const auto response = h.call(make_request(verb::put, "/v1/series", "", bearer(syn.token)));
    EXPECT_EQ(response.status, 405u);
    EXPECT_EQ(code_of(response), "method-not-allowed");
    EXPECT_EQ(header(response, "Allow"), "GET, HEAD, POST");
}

// ---- tokens ----

TEST_F(service_test, nobody_is_challenged) {
    const auto none = h.call(get("/v1/account"));
    EXPECT_EQ(none.status, 401u);
    EXPECT_EQ(header(none, "WWW-Authenticate"), "Bearer");
    const auto unknown = h.call(get("/v1/account", "cs_nobody"));
    EXPECT_EQ(unknown.status, 401u);
    EXPECT_EQ(code_of(unknown), "invalid-token");
    EXPECT_EQ(unknown.body.find("cs_nobody"), std::string::npos);
}

TEST_F(service_test, a_scope_is_a_limit) {
    const auto reader = h.make_token("syn", token_scope::read);
    EXPECT_EQ(h.call(get("/v1/account", reader)).status, 200u);
    const auto refused = h.call(post("/v1/tasks", R"({"description":"x"})", reader, "k1"));
    EXPECT_EQ(refused.status, 403u);
    EXPECT_EQ(code_of(refused), "insufficient-scope");
    EXPECT_EQ(read("/v1/tokens").status, 403u);
    EXPECT_EQ(read("/v1/admin/accounts").status, 403u);
    // An account's administrator is not the operator, nor the other way round.
    const auto head = h.make_token("syn", token_scope::admin);
    EXPECT_EQ(h.call(get("/v1/admin/accounts", head)).status, 403u);
    EXPECT_EQ(admin("/v1/account").status, 403u);
    EXPECT_EQ(h.call(post("/v1/tasks", R"({"description":"x"})", root, "k1")).status, 403u);
}

TEST_F(service_test, a_revoked_token_opens_nothing) {
    const auto made = body_of(admin_post("/v1/admin/accounts/syn/tokens", R"({"name":"phone"})"));
    const auto phone = text_of(made.at("token"));
    EXPECT_EQ(text_of(made.at("scope")), "write");
    EXPECT_EQ(h.call(get("/v1/account", phone)).status, 200u);
    const auto gone = h.call(make_request(
        verb::delete_, "/v1/admin/tokens/" + text_of(made.at("tokenId")), "", bearer(root)));
    EXPECT_EQ(gone.status, 200u);
    EXPECT_TRUE(body_of(gone).contains("revokedAt"));
    EXPECT_FALSE(body_of(gone).contains("token"));
    EXPECT_EQ(h.call(get("/v1/account", phone)).status, 401u);
    EXPECT_EQ(read("/v1/account").status, 200u);
}

TEST_F(service_test, an_account_manages_its_own_tokens) {
    const auto head = h.make_token("syn", token_scope::admin);
    const auto made = h.call(post("/v1/tokens", R"({"name":"tv","scope":"read"})", head));
    EXPECT_EQ(made.status, 201u);
    EXPECT_EQ(header(made, "Cache-Control"), "no-store");
    const auto tv = body_of(made);
    EXPECT_EQ(h.call(get("/v1/account", text_of(tv.at("token")))).status, 200u);
    EXPECT_EQ(body_of(h.call(get("/v1/tokens", head))).at("tokens").as_array().size(), 3u);

    // Another account's token is not there.
    h.make_account("other", "OTH");
    const auto others = h.make_token("other", token_scope::admin);
    const auto path = "/v1/tokens/" + text_of(tv.at("tokenId"));
    EXPECT_EQ(h.call(make_request(verb::delete_, path, "", bearer(others))).status, 404u);
    EXPECT_EQ(h.call(make_request(verb::delete_, path, "", bearer(head))).status, 200u);
    EXPECT_EQ(h.call(make_request(verb::delete_, "/v1/tokens/x", "", bearer(head))).status, 404u);
}

// ---- operators ----

TEST_F(service_test, an_operator_makes_accounts) {
    const auto made = admin_post("/v1/admin/accounts", R"({"name":"new","prefix":"NEW"})");
    EXPECT_EQ(made.status, 201u);
    const auto token = text_of(body_of(made).at("token"));
    EXPECT_EQ(token.size(), 46u);
    const auto task = h.call(post("/v1/tasks", R"({"description":"x"})", token, "k1"));
    EXPECT_EQ(header(task, "Location"), "/v1/tasks/NEW-1");
    EXPECT_EQ(code_of(admin_post("/v1/admin/accounts", R"({"name":"new","prefix":"X"})")),
              "name-taken");
    EXPECT_EQ(listed_faults(admin_post("/v1/admin/accounts", R"({"name":"a b"})")),
              (std::vector<std::string>{"name malformed", "prefix required"}));
    const auto all = body_of(admin("/v1/admin/accounts")).at("accounts").as_array();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_FALSE(all[1].as_object().contains("token"));
    EXPECT_EQ(admin_post("/v1/admin/accounts/new/series", R"({"prefix":"B"})").status, 201u);
    EXPECT_EQ(body_of(admin("/v1/admin/accounts/new/series")).at("series").as_array().size(), 2u);
    EXPECT_EQ(code_of(admin("/v1/admin/accounts/nope/series")), "account-not-found");
    EXPECT_EQ(code_of(admin_post("/v1/admin/accounts/nope/tokens", "{}")), "account-not-found");
}

TEST_F(service_test, nobody_has_the_nil_uuid_as_client_id) {
    const auto with = [&](const std::string& client_id) {
        return admin_post("/v1/admin/accounts",
                          R"({"name":"far","prefix":"FAR","remote":{"url":"https://example.com/",)"
                          R"("encryptionSecret":"x","clientId":")" +
                              client_id + R"("}})");
    };
    const auto refused = with("00000000-0000-0000-0000-000000000000");
    EXPECT_EQ(refused.status, 400u);
    EXPECT_EQ(listed_faults(refused), std::vector<std::string>{"remote.clientId invalid"});
    EXPECT_EQ(listed_faults(with("x")), std::vector<std::string>{"remote.clientId malformed"});
}

TEST_F(service_test, an_operators_token_is_always_an_administrators) {
    EXPECT_EQ(admin_post("/v1/admin/tokens", R"({"name":"x","scope":"write"})").status, 400u);
    const auto made = admin_post("/v1/admin/tokens", R"({"name":"x"})");
    EXPECT_EQ(made.status, 201u);
    EXPECT_EQ(h.call(get("/v1/admin/accounts", text_of(body_of(made).at("token")))).status, 200u);
    EXPECT_EQ(body_of(admin("/v1/admin/tokens")).at("tokens").as_array().size(), 2u);
}

TEST_F(service_test, slots_are_listed_in_pages) {
    for (int i = 0; i < 5; ++i) {
        create(R"({"description":"x"})", "k" + std::to_string(i));
    }
    std::vector<std::string> keys;
    std::string target = "/v1/admin/slots?state=committed&account=syn&pageSize=2";
    for (std::string token; keys.size() < 10;) {
        const auto page = body_of(admin(target + (token.empty() ? "" : "&pageToken=" + token)));
        for (const auto& slot : page.at("slots").as_array()) {
            EXPECT_EQ(text_of(slot.at("account")), "syn");
            EXPECT_TRUE(slot.as_object().contains("settledAt"));
            EXPECT_EQ(slot.at("receipt").at("number").as_int64(), keys.size() + 1);
            keys.push_back(text_of(slot.at("idempotencyKey")));
        }
        if (!page.contains("nextPageToken")) break;
        token = text_of(page.at("nextPageToken"));
    }
    EXPECT_EQ(keys, (std::vector<std::string>{"k0", "k1", "k2", "k3", "k4"}));

    EXPECT_EQ(admin("/v1/admin/slots?pageSize=-1").status, 400u);
    EXPECT_EQ(admin("/v1/admin/slots?pageToken=x").status, 400u);
    EXPECT_EQ(admin("/v1/admin/slots?state=lost").status, 400u);
    EXPECT_EQ(admin("/v1/admin/slots?sate=failed").status, 400u);
    EXPECT_EQ(code_of(admin("/v1/admin/slots?account=nope")), "account-not-found");
}

// ---- ops ----

TEST_F(service_test, health_needs_no_token) {
    EXPECT_EQ(h.call(get("/livez")).status, 200u);
    EXPECT_EQ(h.call(get("/readyz")).status, 200u);
    EXPECT_NE(h.call(get("/")).body.find("Callsign"), std::string::npos);
    h.close();
    EXPECT_EQ(h.call(get("/livez")).status, 200u);
    const auto refused = h.call(get("/readyz"));
    EXPECT_EQ(refused.status, 503u);
    EXPECT_EQ(code_of(refused), "shutting-down");
    EXPECT_EQ(code_of(create(R"({"description":"x"})", "k1")), "shutting-down");
}

TEST_F(service_test, a_server_that_cannot_write_is_not_ready_until_it_can) {
    const auto disk = make_memory_store();
    faulty_store faulty(*disk);
    house home({.disk = &faulty});
    const auto account = home.make_account("other", "OTH");
    const auto make = [&](const std::string& key) {
        return home.call(post("/v1/tasks", R"({"description":"x"})", account.token, key)).status;
    };
    const auto ready = [&] { return home.call(get("/readyz")); };
    home.spawn(home.engine().watch_writes());
    EXPECT_EQ(ready().status, 200u);
    const auto refuse = [&](store_failure::kind how, const char* why) {
        faulty.refuse_writes(how);
        EXPECT_GE(make("refused"), 500u);
        const auto answer = ready();
        EXPECT_EQ(answer.status, 503u);
        EXPECT_EQ(code_of(answer), "not-ready");
        EXPECT_NE(answer.body.find(why), std::string::npos) << answer.body;
    };
    refuse(store_failure::kind::full, "The disk is full.");
    refuse(store_failure::kind::io_error, "cannot be written");
    refuse(store_failure::kind::read_only, "read-only");
    EXPECT_EQ(home.call(get("/livez")).status, 200u);
    faulty.refuse_writes(std::nullopt);
    EXPECT_EQ(ready().status, 503u) << "nothing was written yet";
    home.advance(std::chrono::seconds{1});
    EXPECT_EQ(ready().status, 200u) << "the server has found out by itself";
    home.close();
}

TEST(metrics_route, is_there_if_there_are_metrics_to_show) {
    house_options options;
    options.hooks.metrics = [] { return std::string("callsign_up 1\n"); };
    house shows(std::move(options));
    const auto metrics = shows.call(get("/metrics"));
    EXPECT_EQ(metrics.body, "callsign_up 1\n");
    EXPECT_EQ(metrics.content_type, "text/plain; version=0.0.4");
    house has_none;
    EXPECT_EQ(has_none.call(get("/metrics")).status, 404u);
}

// ---- what logs and metrics are told ----

TEST_F(service_test, an_answer_says_what_is_known_of_its_request) {
    const auto shown = read("/v1/tasks/SYN-1").facts;
    EXPECT_EQ(shown.route, "/v1/tasks/{ref}");
    EXPECT_EQ(shown.account, "syn");
    EXPECT_EQ(shown.caller, "default");
    EXPECT_EQ(shown.reason, "task-not-found");
    EXPECT_EQ(shown.refused, "");
    const auto nowhere = read("/nothing/secret").facts;
    EXPECT_EQ(nowhere.route, "none");
    EXPECT_EQ(nowhere.account, "");
    const auto made = create(R"({"description":"x"})", "k1").facts;
    EXPECT_EQ(made.reason, "");
    EXPECT_EQ(made.account, "syn");
    const auto by_operator = admin("/v1/admin/accounts").facts;
    EXPECT_EQ(by_operator.account, "");
    EXPECT_EQ(by_operator.caller, "test");
    // Refused at its header, before its body came.
    const auto early = h.admit(post("/v1/tasks", "", "cs_nobody"));
    ASSERT_TRUE(early.refused);
    EXPECT_EQ(early.refused->facts.route, "/v1/tasks");
    EXPECT_EQ(early.refused->facts.reason, "unknown-token");
}

TEST_F(service_test, a_refused_caller_has_a_reason_that_does_not_change) {
    const auto reason_of = [&](net::http_request request) {
        const net::request_facts facts = h.call(std::move(request)).facts;
        EXPECT_EQ(facts.refused, "auth-failed");
        return std::string(facts.reason);
    };
    EXPECT_EQ(reason_of(get("/v1/tasks/A-1")), "no-token");
    EXPECT_EQ(reason_of(get("/v1/tasks/A-1", "cs_nobody")), "unknown-token");
    EXPECT_EQ(reason_of(get("/v1/admin/accounts", syn.token)), "wrong-scope");
    const auto made = body_of(admin_post("/v1/admin/accounts/syn/tokens", R"({"name":"lost"})"));
    const auto lost = text_of(made.at("token"));
    h.call(make_request(verb::delete_, "/v1/admin/tokens/" + text_of(made.at("tokenId")), "",
                        bearer(root)));
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(reason_of(get("/v1/account", lost)), "revoked-token");
    }
    const auto facts = h.call(get("/v1/account", lost)).facts;
    EXPECT_EQ(facts.account, "syn");
    EXPECT_EQ(facts.caller, "lost");
}

TEST(make_token, has256_bits_in_base64url) {
    seeded_entropy entropy(1);
    const auto token = api::make_token(entropy);
    EXPECT_EQ(token.size(), 46u);
    EXPECT_TRUE(token.starts_with("cs_"));
    EXPECT_NE(token, api::make_token(entropy));
}

}  // namespace
}  // namespace callsign::testing
