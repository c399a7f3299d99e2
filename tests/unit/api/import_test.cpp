// The operator's import of tasks: accepted, rejected and repeated ones.

#include "callsign/v1/callsign.pb.h"
#include "support/answer_json.hpp"
#include "support/test_server.hpp"

#include <callsign/domain/account.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::json::object;

struct task_imports : ::testing::Test {
    net::http_response import(std::string body, std::string_view account = "syn") {
        return h.call(
            post("/v1/admin/accounts/" + std::string(account) + "/import", std::move(body), root));
    }

    test_server h;
    test_server::made_account syn = h.make_account("syn", "SYN");
    std::string root = h.operator_token();
    const std::string two = R"({"tasks":[
        {"uuid":"11111111-2222-4333-8444-555555555555",
         "attributes":{"description":"One","status":"completed","tag_a":"","foo.Bar":"x"}},
        {"uuid":"11111111-2222-4333-8444-666666666666","attributes":{"description":"Two"}}]})";
};

TEST_F(task_imports, tasks_are_imported_once) {
    const auto first = import(two);
    ASSERT_EQ(first.status, 200u) << first.body;
    EXPECT_EQ(first.body,
              R"({"imported":2,"thereAlready":0,"keysLeftOut":0,"keysKept":0,"completed":0})");
    EXPECT_EQ(import(two).body,
              R"({"imported":0,"thereAlready":2,"keysLeftOut":0,"keysKept":0,"completed":0})");
    EXPECT_EQ(import("{}").body,
              R"({"imported":0,"thereAlready":0,"keysLeftOut":0,"keysKept":0,"completed":0})");
    const object task = body_of(h.call(get("/v1/tasks/SYN-1", syn.token)));
    EXPECT_EQ(task.at("uuid").as_string(), "11111111-2222-4333-8444-555555555555");
    EXPECT_EQ(task.at("status").as_string(), "completed");
    EXPECT_EQ(task.at("tags").as_array().size(), 1u);
    EXPECT_EQ(task.at("attributes").as_object().at("foo.Bar").as_string(), "x");
    EXPECT_EQ(h.call(get("/v1/tasks/SYN-2", syn.token)).status, 200u);
}

TEST_F(task_imports, every_error_is_listed_and_nothing_is_imported) {
    const auto rejected = import(R"({"tasks":[{"uuid":"x"},{"attributes":{"":"v"},"name":"n",
        "uuid":"11111111-2222-4333-8444-555555555555"}]})");
    EXPECT_EQ(rejected.status, 400u);
    std::vector<std::string> fields;
    const object body = body_of(rejected);
    for (const auto& e : body.at("errors").as_array()) {
        fields.emplace_back(e.as_object().at("field").as_string());
    }
    EXPECT_EQ(fields,
              (std::vector<std::string>{"tasks[1].name", "tasks[0].uuid", "tasks[1].attributes"}));
    EXPECT_EQ(h.call(get("/v1/tasks/SYN-1", syn.token)).status, 404u);
}

// With one such task, no device of the account can export any task.
TEST_F(task_imports, attributes_that_taskwarrior_rejects_are_rejected_by_name) {
    const auto fields_of = [](const net::http_response& rejected) {
        std::string fields;
        const object body = body_of(rejected);
        for (const auto& e : body.at("errors").as_array()) {
            fields += std::string(e.as_object().at("field").as_string()) + " ";
        }
        return fields;
    };
    const std::string good = R"({"uuid":"11111111-2222-4333-8444-666666666666",
                                 "attributes":{"description":"Two"}})";
    const auto rejected = import(R"({"tasks":[)" + good + R"(,
        {"uuid":"11111111-2222-4333-8444-555555555555","attributes":{"due":"1","status":"foo",
         "a\"b":"x","note":"\u0000","imask":"x","annotation_1":"x"}},
        {"uuid":"11111111-2222-4333-8444-777777777777",
         "attributes":{"status":"recurring","due":"1795178880"}}]})");
    EXPECT_EQ(rejected.status, 400u);
    const std::string fields = fields_of(rejected);
    EXPECT_EQ(fields,
              "tasks[1].attributes.a\"b tasks[1].attributes.annotation_1 tasks[1].attributes.due "
              "tasks[1].attributes.imask tasks[1].attributes.note tasks[1].attributes.status "
              "tasks[2].attributes.recur ");
    EXPECT_EQ(h.call(get("/v1/tasks/SYN-1", syn.token)).status, 404u);

    std::string many = R"({"tasks":[{"uuid":"11111111-2222-4333-8444-555555555555","attributes":{)";
    for (int n = 0; n < 2'000; ++n) many += "\"a\\\"" + std::to_string(n) + "\":\"\",";
    const auto cut = import(many + R"("x":""}}]})");
    EXPECT_EQ(body_of(cut).at("errors").as_array().size(), 100u);
}

TEST_F(task_imports, a_request_has_at_most_500_tasks) {
    v1::ImportTasks message;
    for (int i = 0; i < 501; ++i) {
        message.add_tasks()->set_uuid(
            to_string(make_uuid_v7({}, 1, static_cast<std::uint64_t>(i))));
    }
    header_list headers = bearer(root);
    headers.emplace_back("Content-Type", "application/x-protobuf");
    headers.emplace_back("Accept", "application/json");
    const auto send = [&] {
        return h.call(make_request(boost::beast::http::verb::post, "/v1/admin/accounts/syn/import",
                                   message.SerializeAsString(), headers));
    };
    EXPECT_EQ(send().status, 400u);
    message.mutable_tasks()->RemoveLast();
    EXPECT_EQ(send().body,
              R"({"imported":500,"thereAlready":0,"keysLeftOut":0,"keysKept":0,"completed":0})");
}

// A device's own change of an imported task wins if it is later than the import; but a time in the
// future counts as now.
TEST_F(task_imports, a_change_with_a_future_time_counts_as_made_now) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(h.clock().now());
    const auto in = [&](int hours) {
        const auto at = (seconds + std::chrono::hours{hours}).time_since_epoch();
        return std::to_string(at.count());
    };
    import(R"({"tasks":[{"uuid":"11111111-2222-4333-8444-555555555555",
                         "attributes":{"description":"One","modified":")" +
           in(24) + R"("}},
                        {"uuid":"11111111-2222-4333-8444-666666666666",
                         "attributes":{"description":"Two","modified":")" +
           in(-24) + R"("}}]})");
    auto question = [id = syn.id](read_tx& tx) { return versions::some(tx, id, 0, 1); };
    const auto found = h.look(question);
    ASSERT_EQ(found.size(), 1u);
    for (const operation& o : found[0].operations) {
        if (o.property != "description") continue;
        EXPECT_EQ(o.at, precise_time{o.value == "One" ? h.clock().now()
                                                      : seconds - std::chrono::hours{24}})
            << *o.value;
    }
}

TEST_F(task_imports, a_key_is_dropped_and_counted) {
    const auto done = import(R"({"tasks":[{"uuid":"11111111-2222-4333-8444-555555555555",
                                           "attributes":{"description":"One","key":"OLD-7"}}]})");
    EXPECT_EQ(done.body,
              R"({"imported":1,"thereAlready":0,"keysLeftOut":1,"keysKept":0,"completed":0})");
    const object task = body_of(h.call(get("/v1/tasks/SYN-1", syn.token)));
    EXPECT_EQ(task.at("key").as_string(), "SYN-1");
    EXPECT_FALSE(task.contains("attributes"));
}

// More tasks than one command imports: reported as one.
TEST_F(task_imports, a_large_request_is_imported_in_steps) {
    v1::ImportTasks message;
    for (int i = 0; i < 500; ++i) {
        auto& task = *message.add_tasks();
        task.set_uuid(to_string(make_uuid_v7({}, 1, static_cast<std::uint64_t>(i))));
        (*task.mutable_attributes())["description"] = std::string(4000, 'x');
        (*task.mutable_attributes())["key"] = "OLD-1";
    }
    header_list headers = bearer(root);
    headers.emplace_back("Content-Type", "application/x-protobuf");
    const auto send = [&] {
        const auto response =
            h.call(make_request(boost::beast::http::verb::post, "/v1/admin/accounts/syn/import",
                                message.SerializeAsString(), headers));
        v1::ImportTasksResult result;
        EXPECT_TRUE(result.ParseFromString(response.body)) << response.status;
        return result;
    };
    const auto first = send();
    EXPECT_EQ(first.imported(), 500);
    EXPECT_EQ(first.keys_left_out(), 500);
    auto question = [](read_tx& tx) { return accounts::find(tx, "syn")->head.seq; };
    EXPECT_GT(h.look(question), 2);
    EXPECT_EQ(h.call(get("/v1/tasks/SYN-500", syn.token)).status, 200u);
    EXPECT_EQ(send().there_already(), 500);
}

// The last task is beyond the first step: it is validated before any task is imported.
TEST_F(task_imports, with_a_conflicting_key_no_task_of_a_large_request_is_imported) {
    v1::ImportTasks message;
    message.set_with_keys(true);
    for (int i = 0; i < 500; ++i) {
        auto& task = *message.add_tasks();
        task.set_uuid(to_string(make_uuid_v7({}, 1, static_cast<std::uint64_t>(i))));
        (*task.mutable_attributes())["description"] = std::string(4000, 'x');
        (*task.mutable_attributes())["key"] = "SYN-" + std::to_string(i + (i == 499 ? 2 : 1));
    }
    header_list headers = bearer(root);
    headers.emplace_back("Content-Type", "application/x-protobuf");
    const auto send = [&] {
        return h.call(make_request(boost::beast::http::verb::post, "/v1/admin/accounts/syn/import",
                                   message.SerializeAsString(), headers));
    };
    v1::Problem problem;
    const auto rejected = send();
    ASSERT_EQ(rejected.status, 422u);
    ASSERT_TRUE(problem.ParseFromString(rejected.body));
    ASSERT_EQ(problem.errors_size(), 1);
    EXPECT_EQ(problem.errors(0).field(), "tasks[499].attributes");
    EXPECT_EQ(problem.errors(0).detail(),
              "SYN-501: SYN-500 is missing before it, and the series does not allow gaps.");
    EXPECT_EQ(h.call(get("/v1/tasks/SYN-1", syn.token)).status, 404u);
    (*message.mutable_tasks(499)->mutable_attributes())["key"] = "SYN-500";
    EXPECT_EQ(send().status, 200u);
    EXPECT_EQ(h.call(get("/v1/tasks/SYN-500", syn.token)).status, 200u);
}

// The number is used in sums, and the largest one has no successor.
TEST_F(task_imports, the_number_before_is_a_number) {
    const std::string_view uuid = R"("uuid":"11111111-2222-4333-8444-555555555555")";
    const auto ask = [&](std::int64_t after, bool is_table) {
        const std::string said = std::string(uuid) + R"(,"after":)" + std::to_string(after);
        if (!is_table) {
            return import(R"({"withKeys":true,"checkOnly":true,"tasks":[{)" + said +
                          R"(,"attributes":{"description":"One","key":"SYN-7"}},
                          {"uuid":"11111111-2222-4333-8444-666666666666",
                           "attributes":{"description":"Two"}}]})");
        }
        return h.call(post("/v1/admin/accounts/syn/numbers",
                           R"({"checkOnly":true,"rows":[{)" + said +
                               R"(,"prefix":"SYN","number":7,"title":"One",
                                "createdAt":"2023-11-14T00:00:00Z"}]})",
                           root));
    };
    for (const bool is_table : {false, true}) {
        for (const std::int64_t none : {INT64_MIN, std::int64_t{-1}, number_max + 1, INT64_MAX}) {
            const auto rejected = ask(none, is_table);
            EXPECT_EQ(rejected.status, 400u) << none << rejected.body;
            const object body = body_of(rejected);
            ASSERT_EQ(body.at("errors").as_array().size(), 1u);
            EXPECT_EQ(body.at("errors").at(0).at("field").as_string(),
                      is_table ? "rows[0].after" : "tasks[0].after");
        }
        EXPECT_EQ(ask(6, is_table).status, 200u);
        EXPECT_EQ(ask(number_max, is_table).status, 422u);
        EXPECT_EQ(ask(0, is_table).status, 422u);
    }
}

TEST_F(task_imports, the_token_and_the_account_are_validated) {
    const std::string path = "/v1/admin/accounts/syn/import";
    EXPECT_EQ(h.call(post(path, two, syn.token)).status, 403u);
    EXPECT_EQ(import(two, "nobody").status, 404u);
    create_account command{"desk", "DESK", "default", sha256("t"), make_uuid_v7({}, 1, 1)};
    h.run(h.engine().submit(std::move(command)));
    const auto rejected = import(two, "desk");
    EXPECT_EQ(rejected.status, 409u);
    EXPECT_EQ(body_of(rejected).at("code").as_string(), "account-opaque");
}

}  // namespace
}  // namespace callsign::testing
