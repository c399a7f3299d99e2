// Creations or edits in one request: each item has its own outcome.

#include "callsign/v1/callsign.pb.h"
#include "support/test_server.hpp"

#include <callsign/wire/message.hpp>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

struct batch : ::testing::Test {
    template <class Answer>
    Answer read(const net::http_response& response) {
        EXPECT_EQ(response.status, 200u) << response.body;
        Answer answer;
        wire::field_errors found;
        EXPECT_TRUE(wire::decode(wire::format::json, response.body, answer, found));
        return answer;
    }
    net::http_response send(const std::string& what, std::string body) {
        return h.call(post("/v1/tasks:batch" + what, std::move(body), syn.token));
    }
    v1::CreatedTasks create(std::string body) {
        return read<v1::CreatedTasks>(send("Create", std::move(body)));
    }
    v1::EditedTasks edit(std::string body) {
        return read<v1::EditedTasks>(send("Update", std::move(body)));
    }
    static std::string faults_of(const v1::Problem& problem) {
        std::string all = problem.code();
        for (const auto& fault : problem.errors()) all += " " + fault.field() + ":" + fault.code();
        return all;
    }
    static std::string items(int count, const std::string& first = {}) {
        std::string all = first;
        for (int n = 0; n < count; ++n) {
            all += (all.empty() ? "" : ",") + std::string(R"({"idempotencyKey":"k)") +
                   std::to_string(n) + R"(","task":{"description":"t"}})";
        }
        return R"({"items":[)" + all + "]}";
    }

    struct commits final : engine_probe {
        void batch_committed(std::size_t, std::chrono::nanoseconds,
                             std::chrono::nanoseconds) override {
            ++count;
        }
        int count = 0;
    };

    commits counted;
    test_server h{{.probe = &counted}};
    test_server::made_account syn = h.make_account("board", "SYN");
};

TEST_F(batch, each_creation_has_an_outcome_of_its_own) {
    const std::string body = R"({"items":[
        {"idempotencyKey":"a","task":{"description":"one"}},
        {"idempotencyKey":"b","task":{"description":"","colour":"red","tags":["x y"]}},
        {"task":{"description":"no key"}},
        {"idempotencyKey":"c","task":{"description":"three","depends":["SYN-9"]}},
        {"idempotencyKey":"a","task":{"description":"another payload"}},
        {"idempotencyKey":"a","task":{"description":"one"}},
        {"idempotencyKey":"d","task":{"description":"four","prefix":"NONE"}},
        {"idempotencyKey":"e","task":{"description":"five"}}]})";
    const auto done = create(body);
    ASSERT_EQ(done.results_size(), 8);
    EXPECT_EQ(done.results(0).receipt().key(), "SYN-1");
    EXPECT_FALSE(done.results(0).replayed());
    EXPECT_EQ(faults_of(done.results(1).problem()),
              "validation-failed colour:unknown-field description:required tags[0]:invalid");
    EXPECT_EQ(faults_of(done.results(2).problem()), "validation-failed idempotencyKey:required");
    EXPECT_EQ(faults_of(done.results(3).problem()), "validation-failed depends[0]:task-not-found");
    EXPECT_EQ(done.results(4).problem().code(), "idempotency-key-reused");
    EXPECT_EQ(done.results(5).receipt().key(), "SYN-1");
    EXPECT_TRUE(done.results(5).replayed());
    EXPECT_EQ(faults_of(done.results(6).problem()), "validation-failed prefix:unknown-prefix");
    EXPECT_EQ(done.results(7).receipt().key(), "SYN-2");

    // A retry of the batch is a retry of each item.
    const auto again = create(body);
    for (const int i : {0, 5, 7}) {
        EXPECT_TRUE(again.results(i).replayed());
        EXPECT_EQ(again.results(i).receipt().SerializeAsString(),
                  done.results(i).receipt().SerializeAsString());
    }
    EXPECT_EQ(again.results(1).problem().code(), "validation-failed");
    // A single request is a retry of its item, too.
    const auto alone = h.call(post("/v1/tasks", R"({"description":"five"})", syn.token, "e"));
    EXPECT_EQ(alone.status, 201u);
    EXPECT_NE(alone.body.find("SYN-2"), std::string::npos);
}

TEST_F(batch, creations_take_few_commits) {
    const auto before = counted.count;
    const auto done = create(items(500));
    ASSERT_EQ(done.results_size(), 500);
    for (int n = 0; n < 500; ++n) {
        EXPECT_EQ(done.results(n).receipt().number(), n + 1) << "in order";
    }
    EXPECT_LE(counted.count - before, 6);
}

TEST_F(batch, is_limited_and_read_as_a_whole_or_not_at_all) {
    const auto rejected = [&](const std::string& body) {
        const auto response = send("Create", body);
        EXPECT_EQ(response.status, 400u) << body.substr(0, 80);
        v1::Problem problem;
        wire::field_errors found;
        wire::decode(wire::format::json, response.body, problem, found);
        return faults_of(problem);
    };
    EXPECT_EQ(rejected(items(501)), "validation-failed items:too-long");
    EXPECT_EQ(rejected(R"({"items":[]})"), "validation-failed items:required");
    EXPECT_EQ(rejected("{}"), "validation-failed items:required");
    EXPECT_EQ(rejected(R"({"items":[{"idempotencyKey":"k"}],"more":1})"),
              "validation-failed more:unknown-field");
    EXPECT_EQ(rejected(R"({"items":[{"idempotencyKey":"k","task":{"description":"t"}])"),
              "validation-failed :malformed");
}

// This holds for any number of invalid items.
TEST_F(batch, hundreds_of_invalid_items_do_not_affect_the_others) {
    std::string bad;
    for (int n = 0; n < 300; ++n) {
        bad += std::string(n == 0 ? "" : ",") + R"({"idempotencyKey":"b)" + std::to_string(n) +
               R"(","task":{"description":"t","due":"soon"}})";
    }
    const auto results = create(items(2, bad));
    ASSERT_EQ(results.results_size(), 302);
    for (int n = 0; n < 300; ++n) {
        EXPECT_EQ(faults_of(results.results(n).problem()), "validation-failed due:malformed");
    }
    EXPECT_EQ(results.results(300).receipt().key(), "SYN-1");
    EXPECT_EQ(results.results(301).receipt().key(), "SYN-2");
}

// After too many errors parsing ended, so the remaining items are unknown.
TEST_F(batch, only_the_first_errors_are_reported) {
    std::string bad;
    for (int n = 0; n < 490; ++n) {
        bad += std::string(n == 0 ? "" : ",") + R"({"a":1,"b":1,"c":1,"d":1,"e":1})";
    }
    const auto response = send("Create", items(10, bad));
    EXPECT_EQ(response.status, 400u);
    EXPECT_EQ(h.call(get("/v1/tasks/SYN-1", syn.token)).status, 404u) << "nothing was created";
    v1::Problem problem;
    wire::field_errors found;
    ASSERT_TRUE(wire::decode(wire::format::json, response.body, problem, found));
    EXPECT_EQ(problem.errors_size(), 100);
    EXPECT_EQ(problem.detail(), "The first 100 errors are listed.");
}

TEST_F(batch, accepts_protobuf) {
    v1::CreateTasks message;
    for (const char* key : {"a", "b"}) {
        auto& item = *message.add_items();
        item.set_idempotency_key(key);
        item.mutable_task()->set_description("t");
    }
    header_list headers = bearer(syn.token);
    headers.emplace_back("Content-Type", "application/x-protobuf");
    headers.emplace_back("Accept", "application/x-protobuf");
    const auto response = h.call(
        make_request(verb::post, "/v1/tasks:batchCreate", message.SerializeAsString(), headers));
    v1::CreatedTasks answer;
    ASSERT_TRUE(answer.ParseFromString(response.body));
    ASSERT_EQ(answer.results_size(), 2);
    EXPECT_EQ(answer.results(1).receipt().key(), "SYN-2");
}

TEST_F(batch, each_edit_has_an_outcome_of_its_own) {
    create(items(3));
    const auto done = edit(R"({"items":[
        {"ref":"SYN-1","task":{"project":"home"}},
        {"ref":"syn-2","ifMatch":"\"999\"","task":{"project":"home"}},
        {"ref":"SYN-9","task":{"project":"home"}},
        {"ref":"no ref","task":{"description":null}},
        {"ref":"SYN-1","task":{"project":null,"priority":"H"}},
        {"ref":"SYN-3","ifMatch":"*","task":{"depends":["SYN-1","SYN-8"]}}]})");
    ASSERT_EQ(done.results_size(), 6);
    EXPECT_EQ(done.results(0).task().project(), "home");
    EXPECT_EQ(done.results(1).problem().code(), "precondition-failed");
    EXPECT_EQ(done.results(2).problem().code(), "task-not-found");
    EXPECT_EQ(faults_of(done.results(3).problem()),
              "validation-failed ref:malformed description:required");
    EXPECT_EQ(done.results(4).task().project(), "") << "in order";
    EXPECT_EQ(done.results(4).task().priority(), "H");
    EXPECT_EQ(done.results(4).task().seq(), done.results(0).task().seq() + 1);
    EXPECT_EQ(faults_of(done.results(5).problem()), "validation-failed depends[1]:task-not-found");
    boost::json::object item{{"ref", "SYN-1"},
                             {"ifMatch", done.results(4).task().etag()},
                             {"task", {{"project", "work"}}}};
    const auto matched = edit(serialize(boost::json::object{{"items", {item}}}));
    EXPECT_EQ(matched.results(0).task().project(), "work");
}

TEST_F(batch, is_not_for_readers) {
    EXPECT_EQ(
        h.call(post("/v1/tasks:batchCreate", items(1), h.make_token("board", token_scope::read)))
            .status,
        403u);
}

}  // namespace
}  // namespace callsign::testing
