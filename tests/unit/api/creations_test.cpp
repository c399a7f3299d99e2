// Creations as clients see them: each is made once for any number of retries, and the reaper ends
// abandoned ones.

#include "callsign/v1/callsign.pb.h"
#include "service_fixture.hpp"

#include <callsign/wire/convert.hpp>

#include <algorithm>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

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

TEST_F(service_test, two_concurrent_requests_create_one_task) {
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

TEST_F(service_test, every_error_is_listed_and_no_slot_is_created) {
    const auto rejected = create(R"({"descripton":"x","status":"done","tags":"a"})", "k1");
    EXPECT_EQ(rejected.status, 400u);
    EXPECT_EQ(code_of(rejected), "validation-failed");
    const auto faults = listed_faults(rejected);
    const auto has = [&](const std::string& f) {
        return std::find(faults.begin(), faults.end(), f) != faults.end();
    };
    EXPECT_TRUE(has("descripton unknown-field"));
    EXPECT_TRUE(has("description required"));
    EXPECT_TRUE(has("tags wrong-type"));
    EXPECT_TRUE(has("status invalid"));
    EXPECT_EQ(read("/v1/slots/k1").status, 404u);
}

TEST_F(service_test, a_task_cannot_exceed_its_size_limit) {
    std::string attributes;
    for (int n = 0; n < 65; ++n) {
        attributes += (n > 0 ? R"(,"x)" : R"("x)") + std::to_string(n) + R"(":")" +
                      std::string(1 << 16, 'x') + '"';
    }
    const std::string large = R"({"description":"x","attributes":{)" + attributes + "}}";
    for (const char* round : {"the first time", "again"}) {
        const auto rejected = create(large, "k1");
        EXPECT_EQ(rejected.status, 413u) << round;
        EXPECT_EQ(code_of(rejected), "task-too-large") << round;
        EXPECT_EQ(read("/v1/slots/k1").status, 404u) << round;
    }
    const auto batch =
        h.call(post("/v1/tasks:batchCreate",
                    R"({"items":[{"idempotencyKey":"k2","task":)" + large + "}]}", syn.token));
    EXPECT_EQ(batch.status, 200u) << batch.body;
    EXPECT_NE(batch.body.find("task-too-large"), std::string::npos);
    EXPECT_EQ(read("/v1/slots/k2").status, 404u);
    EXPECT_EQ(create(R"({"description":"x"})", "k1").status, 201u) << "the key is unused";
}

TEST_F(service_test, a_body_that_is_not_json_is_one_error) {
    const auto rejected = create("{", "k1");
    EXPECT_EQ(rejected.status, 400u);
    EXPECT_EQ(listed_faults(rejected).size(), 1u);
}

TEST_F(service_test, an_unknown_prefix_is_an_error_of_the_body) {
    const auto rejected = create(R"({"description":"x","prefix":"NOPE"})", "k1");
    EXPECT_EQ(rejected.status, 400u);
    EXPECT_EQ(listed_faults(rejected), std::vector<std::string>{"prefix unknown-prefix"});
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

// Taskwarrior deletes a task when `until` has passed. A client that has created the task already
// gets its receipt at any time.
TEST_F(service_test, a_task_whose_until_has_passed_is_rejected) {
    const std::string body = R"({"description":"x","attributes":{"until":"2026-11-20T12:30:00Z"}})";
    EXPECT_EQ(create(body, "k1").status, 201u);
    h.advance(std::chrono::minutes{30});
    EXPECT_EQ(create(body, "k1").status, 201u);
    const auto rejected = create(body, "k2");
    EXPECT_EQ(rejected.status, 400u);
    EXPECT_EQ(listed_faults(rejected), std::vector<std::string>{"until invalid"});
    EXPECT_EQ(read("/v1/slots/k2").status, 404u);
    EXPECT_EQ(create(R"({"description":"x","status":"completed",
                         "attributes":{"until":"2026-11-20T12:30:00Z"}})",
                     "k3")
                  .status,
              201u);
}

// Taskwarrior would create thousands of tasks from it, on each device, with its next report.
TEST_F(service_test, a_task_does_not_recur_since_long_ago) {
    const auto made = [&](const char* due, const char* key) {
        return create(std::string(R"({"description":"x","status":"recurring","due":")") + due +
                          R"(","attributes":{"recur":"daily"}})",
                      key);
    };
    EXPECT_EQ(made("2025-11-21T00:00:00Z", "k1").status, 201u);
    const auto rejected = made("2025-11-18T00:00:00Z", "k2");
    EXPECT_EQ(rejected.status, 400u);
    EXPECT_EQ(listed_faults(rejected), std::vector<std::string>{"due invalid"});
}

TEST_F(service_test, a_closed_task_has_an_end) {
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

TEST_F(service_test, an_existing_task_returns200) {
    const std::string body = R"({"description":"x","uuid":"11111111-2222-4333-8444-555555555555"})";
    EXPECT_EQ(create(body, "k1").status, 201u);
    const auto again = create(body, "k2");
    EXPECT_EQ(again.status, 200u);
    EXPECT_FALSE(body_of(again).at("created").as_bool());
    EXPECT_EQ(text_of(body_of(again).at("key")), "SYN-1");
}

// ---- the reaper ----

// A process that crashes between the two phases leaves a pending slot.
void leave_pending_slot(test_server& h, account_id account, std::string key, digest fingerprint) {
    const auto reserved =
        h.run(h.engine().submit(reserve{account, std::move(key), fingerprint, std::nullopt, ""}));
    ASSERT_TRUE(reserved && std::holds_alternative<reserve::reserved>(*reserved));
}

digest fingerprint_of(std::string_view json) {
    wire::field_errors none;
    v1::CreateTask message;
    wire::decode(wire::format::json, json, message, none);
    return wire::to_domain(message, none)->fingerprint;
}

TEST_F(service_test, a_late_retry_gets_slot_failed) {
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

// There is no response to keep yet: without its dependency the task would not be the requested one.
TEST_F(service_test, a_pending_creation_waits_for_its_dependencies) {
    const std::string body = R"({"description":"x","depends":["SYN-1"]})";
    create(R"({"description":"first"})", "k1");
    leave_pending_slot(h, syn.id, "k2", fingerprint_of(body));
    h.call(make_request(verb::delete_, "/v1/tasks/SYN-1?purge=true", "", bearer(syn.token)));
    const auto rejected = create(body, "k2");
    EXPECT_EQ(rejected.status, 400u) << rejected.body;
    EXPECT_EQ(listed_faults(rejected), std::vector<std::string>{"depends[0] task-deleted"});
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

TEST_F(service_test, a_creation_of_a_killed_process_can_be_completed) {
    const auto disk = make_memory_store();
    virtual_clock clock;
    std::string token;
    {
        test_server before({.disk = disk.get(), .clock = &clock});
        token = before.make_account("syn", "SYN").token;
        const auto unfinished =
            before.start(post("/v1/tasks", R"({"description":"x"})", token, "k1"));
        before.io().restart();
        for (int i = 0; i < 3; ++i) before.io().poll_one();
        EXPECT_FALSE(*unfinished);
    }
    test_server after({.seed = 2, .disk = disk.get(), .clock = &clock});
    const auto made = after.call(post("/v1/tasks", R"({"description":"x"})", token, "k1"));
    EXPECT_EQ(made.status, 201u);
    EXPECT_EQ(header(made, "Location"), "/v1/tasks/SYN-1");
}

}  // namespace
}  // namespace callsign::testing
