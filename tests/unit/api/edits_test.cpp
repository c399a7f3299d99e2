// PATCH and DELETE of tasks, as clients see them, and the versions that they add to the chain.

#include "callsign/v1/callsign.pb.h"
#include "support/answer_json.hpp"
#include "support/test_server.hpp"

#include <callsign/rules/rows/versions.hpp>
#include <callsign/wire/message.hpp>

#include <algorithm>
#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;
using boost::json::object;

// The JSON of the field; empty if it is absent.
std::string json_of(const object& from, std::string_view name) {
    const auto* found = from.if_contains(name);
    return found ? boost::json::serialize(*found) : "";
}

// "field code" of every error, sorted.
std::vector<std::string> faults_of(const net::http_response& response) {
    std::vector<std::string> all;
    const object body = body_of(response);
    const auto* errors = body.if_contains("errors");
    if (!errors) return all;
    for (const auto& e : errors->as_array()) {
        const object& fault = e.as_object();
        const std::string field =
            fault.contains("field") ? std::string(fault.at("field").as_string()) : "";
        all.push_back(field + " " + std::string(fault.at("code").as_string()));
    }
    std::sort(all.begin(), all.end());
    return all;
}

struct edits : ::testing::Test {
    edits() {
        create(R"({"description":"Ship it","project":"home","tags":["a","b"],"priority":"H",
                   "due":"2026-11-20T12:48:00Z","attributes":{"estimate":"3h","colour":"red"},
                   "annotations":[{"entry":"2026-11-20T12:48:00Z","description":"one"}]})");
        create(R"({"description":"Another"})");
    }

    net::http_response create(std::string body) {
        return h.call(
            post("/v1/tasks", std::move(body), syn.token, "k" + std::to_string(++created_)));
    }
    net::http_response patch(std::string_view ref, std::string body, header_list more = {}) {
        header_list headers = bearer(syn.token);
        headers.emplace_back("Content-Type", "application/merge-patch+json");
        headers.insert(headers.end(), more.begin(), more.end());
        return h.call(
            make_request(verb::patch, "/v1/tasks/" + std::string(ref), std::move(body), headers));
    }
    net::http_response remove(std::string_view ref, header_list more = {}) {
        header_list headers = bearer(syn.token);
        headers.insert(headers.end(), more.begin(), more.end());
        return h.call(make_request(verb::delete_, "/v1/tasks/" + std::string(ref), "", headers));
    }
    net::http_response show(std::string_view ref) {
        return h.call(get("/v1/tasks/" + std::string(ref), syn.token));
    }
    std::vector<version> chain() {
        auto question = [id = syn.id](read_tx& tx) { return versions::some(tx, id, 0, 1000); };
        return h.look(question);
    }

    int created_ = 0;
    test_server h;
    test_server::made_account syn = h.make_account("syn", "SYN");
};

TEST_F(edits, a_patch_changes_its_fields_and_returns_the_task) {
    const auto answer = patch("syn-1", R"({"description":"Ship it now","project":null,
        "tags":["b","c"],"attributes":{"estimate":"5h","colour":null,"size":"L"}})");
    ASSERT_EQ(answer.status, 200u) << answer.body;
    EXPECT_EQ(answer.content_type, "application/json");
    EXPECT_EQ(header(answer, "ETag"), h.etag(3));
    const auto shown = show("SYN-1");
    EXPECT_EQ(answer.body, shown.body);
    EXPECT_EQ(header(shown, "ETag"), h.etag(3));
    const object task = body_of(answer);
    EXPECT_EQ(json_of(task, "description"), "\"Ship it now\"");
    EXPECT_EQ(json_of(task, "project"), "");
    EXPECT_EQ(json_of(task, "tags"), R"(["b","c"])");
    EXPECT_EQ(json_of(task, "attributes"), R"({"estimate":"5h","size":"L"})");
    EXPECT_EQ(json_of(task, "priority"), "\"H\"");
    EXPECT_EQ(json_of(task, "due"), "\"2026-11-20T12:48:00.000Z\"");
    EXPECT_EQ(task.at("annotations").as_array().size(), 1u);
    EXPECT_EQ(json_of(task, "key"), "\"SYN-1\"");
}

TEST_F(edits, an_edit_is_a_version_with_its_changes) {
    patch("SYN-1", R"({"tags":["b"],"priority":"L"})");
    const auto all = chain();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[2].parent, all[1].id);
    std::vector<std::string> said;
    for (const operation& o : all[2].operations) {
        EXPECT_EQ(o.kind, operation_kind::update);
        said.push_back(o.property + "=" + o.value.value_or("(none)"));
    }
    ASSERT_EQ(said.size(), 3u);
    EXPECT_EQ(said[0], "priority=L");
    EXPECT_EQ(said[1], "tag_a=(none)");
    EXPECT_TRUE(said[2].starts_with("modified="));
}

TEST_F(edits, a_patch_that_changes_nothing_is_no_version) {
    for (const char* body : {"{}", R"({"priority":"H","tags":["b","a"],"wait":null})"}) {
        const auto answer = patch("SYN-1", body);
        EXPECT_EQ(answer.status, 200u);
        EXPECT_EQ(header(answer, "ETag"), h.etag(1)) << body;
    }
    EXPECT_EQ(chain().size(), 2u);
}

TEST_F(edits, lists_are_replaced_as_a_whole) {
    const auto annotated = body_of(patch("SYN-1", R"({"annotations":[
        {"entry":"2026-11-20T13:00:00Z","description":"two"},
        {"entry":"2026-11-20T13:00:00Z","description":"three"}]})"));
    ASSERT_EQ(annotated.at("annotations").as_array().size(), 2u);
    EXPECT_EQ(json_of(annotated.at("annotations").at(1).as_object(), "entry"),
              "\"2026-11-20T13:00:01.000Z\"");
    EXPECT_EQ(json_of(body_of(patch("SYN-1", R"({"annotations":[]})")), "annotations"), "");
    EXPECT_EQ(json_of(body_of(patch("SYN-1", R"({"tags":null})")), "tags"), "");
}

TEST_F(edits, dependencies_are_keys_or_uuids_of_existing_tasks) {
    const std::string second(body_of(show("SYN-2")).at("uuid").as_string());
    EXPECT_EQ(json_of(body_of(patch("SYN-1", R"({"depends":["syn-2"]})")), "depends"),
              "[\"" + second + "\"]");
    EXPECT_EQ(
        json_of(body_of(patch("SYN-1", R"({"depends":["SYN-2",")" + second + "\"]}")), "depends"),
        "[\"" + second + "\"]");
    const auto rejected =
        patch("SYN-1", R"({"depends":["SYN-2","SYN-9","NO-1","SYN-1"],"priority":"L"})");
    EXPECT_EQ(rejected.status, 400u);
    EXPECT_EQ(faults_of(rejected),
              (std::vector<std::string>{"depends[1] task-not-found", "depends[2] unknown-prefix",
                                        "depends[3] invalid"}));
    EXPECT_EQ(json_of(body_of(show("SYN-1")), "priority"), "\"H\"");
    EXPECT_EQ(json_of(body_of(patch("SYN-1", R"({"depends":null})")), "depends"), "");
}

TEST_F(edits, the_protobuf_form_means_the_same) {
    v1::EditTask m;
    m.set_description("Both");
    m.mutable_tags()->add_values("c");
    m.add_clear("project");
    m.add_clear("attributes.colour");
    header_list headers = bearer(syn.token);
    headers.emplace_back("Content-Type", "application/x-protobuf");
    const auto answer =
        h.call(make_request(verb::patch, "/v1/tasks/SYN-1", m.SerializeAsString(), headers));
    ASSERT_EQ(answer.status, 200u);
    EXPECT_EQ(answer.content_type, "application/x-protobuf");
    v1::Task task;
    ASSERT_TRUE(task.ParseFromString(answer.body));
    EXPECT_EQ(task.description(), "Both");
    EXPECT_EQ(task.project(), "");
    ASSERT_EQ(task.tags_size(), 1);
    EXPECT_FALSE(task.attributes().contains("colour"));

    // The JSON form then has nothing left to change.
    const auto again = patch("SYN-1", R"({"description":"Both","tags":["c"],"project":null,
                                          "attributes":{"colour":null}})");
    EXPECT_EQ(header(again, "ETag"), header(answer, "ETag"));
}

TEST_F(edits, every_error_is_listed_and_nothing_changes) {
    const auto rejected = patch("SYN-1", R"({"description":null,"prioritty":"L","uuid":"x",
        "status":"done","tags":"a","attributes":{"key":"SYN-7"},"project":"new"})");
    EXPECT_EQ(rejected.status, 400u);
    EXPECT_EQ(code_of(rejected), "validation-failed");
    EXPECT_EQ(faults_of(rejected),
              (std::vector<std::string>{"attributes.key invalid", "description required",
                                        "prioritty unknown-field", "status invalid",
                                        "tags wrong-type", "uuid unknown-field"}));
    EXPECT_EQ(patch("SYN-1", "").status, 400u);
    EXPECT_EQ(patch("SYN-1", "[]").status, 400u);
    EXPECT_EQ(chain().size(), 2u);
}

TEST_F(edits, end_follows_the_status_as_in_taskwarrior) {
    const auto end_after = [&](std::string body) {
        const object task = body_of(patch("SYN-2", std::move(body)));
        return task.contains("end") ? json_of(task, "end") : "";
    };
    EXPECT_NE(end_after(R"({"status":"completed"})"), "");
    EXPECT_EQ(end_after(R"({"status":"pending"})"), "");
    EXPECT_EQ(end_after(R"({"status":"completed","attributes":{"end":"1700000000"}})"),
              "\"2023-11-14T22:13:20.000Z\"");
}

// Taskwarrior would delete the task, or fail to export any. The edit is validated together with the
// attributes that it keeps.
TEST_F(edits, a_task_cannot_become_one_that_taskwarrior_rejects) {
    const auto faults_after = [&](std::string body) {
        const auto answer = patch("SYN-2", std::move(body));
        return answer.status == 400 ? faults_of(answer) : std::vector<std::string>{};
    };
    using faults = std::vector<std::string>;
    EXPECT_EQ(faults_after(R"({"status":"recurring"})"),
              (faults{"due required", "recur required"}));
    EXPECT_EQ(faults_after(R"({"status":"recurring","due":"2026-12-24T00:00:00Z"})"),
              faults{"recur required"});
    EXPECT_EQ(chain().size(), 2u);
    EXPECT_EQ(faults_after(R"({"status":"recurring","due":"2026-12-24T00:00:00Z",
                               "attributes":{"recur":"weekly"}})"),
              faults{});
    EXPECT_EQ(faults_after(R"({"due":null})"), faults{"due required"});
    EXPECT_EQ(faults_after(R"({"attributes":{"recur":null}})"), faults{"recur required"});
    EXPECT_EQ(faults_after(R"({"attributes":{"recur":"often"}})"), faults{"recur invalid"});
    EXPECT_EQ(faults_after(R"({"description":"Said"})"), faults{});

    EXPECT_EQ(faults_after(R"({"attributes":{"until":"2026-11-20T11:59:59Z"}})"),
              faults{"until invalid"});
    EXPECT_EQ(
        faults_after(R"({"status":"completed","attributes":{"until":"2026-11-20T11:59:59Z"}})"),
        faults{});
    EXPECT_EQ(faults_after(R"({"attributes":{"end":null}})"), faults{"end required"});
    EXPECT_EQ(faults_after(R"({"status":"pending"})"), faults{"until invalid"});
    EXPECT_EQ(faults_after(R"({"status":"pending","attributes":{"until":null}})"), faults{});
}

TEST_F(edits, if_match_protects_concurrent_changes) {
    const auto stale = [&](std::string value) {
        return patch("SYN-1", R"({"priority":"M"})", {{"If-Match", std::move(value)}});
    };
    const std::string one = h.etag(1), other = h.etag(1, "OPS");
    for (const std::string& value : {h.etag(2), h.etag(0) + ", " + h.etag(2), other, "W/" + other,
                                     std::string("\"1\""), std::string("\"\"")}) {
        const auto answer = stale(value);
        EXPECT_EQ(answer.status, 412u) << value;
        EXPECT_EQ(code_of(answer), "precondition-failed");
    }
    for (const char* value : {"1", "junk", "", ",", "\"1", "w/\"1\"", "\"1\" \"2\"", "*, \"1\""}) {
        EXPECT_EQ(faults_of(stale(value)), std::vector<std::string>{"If-Match malformed"}) << value;
    }
    EXPECT_EQ(chain().size(), 2u);
    EXPECT_EQ(stale(one).status, 200u);
    EXPECT_EQ(stale(one).status, 412u);
    EXPECT_EQ(stale(" " + h.etag(7) + " ,\t" + h.etag(3) + ",W/" + h.etag(8)).status, 200u);
    EXPECT_EQ(stale("W/" + h.etag(3)).status, 200u) << "a proxy made it weak";
    EXPECT_EQ(stale("*").status, 200u);
    EXPECT_EQ(patch("SYN-1", "{}", {{"If-Match", h.etag(7)}, {"If-Match", h.etag(3)}}).status,
              200u);
    EXPECT_EQ(remove("SYN-1", {{"If-Match", one}}).status, 412u);
    EXPECT_EQ(remove("SYN-1?purge=true", {{"If-Match", one}}).status, 412u);
    EXPECT_EQ(patch("SYN-9", "{}", {{"If-Match", "*"}}).status, 404u);
}

// A dependency of a creation may be purged before the retry.
TEST_F(edits, a_retry_gets_its_response_though_a_dependency_was_purged) {
    create(R"({"description":"first"})");
    const auto dependent = [&] {
        return h.call(post("/v1/tasks", R"({"description":"then","depends":["SYN-1"]})", syn.token,
                           "dependent"));
    };
    const auto made = dependent();
    ASSERT_EQ(made.status, 201u) << made.body;
    ASSERT_EQ(remove("SYN-1?purge=true").status, 204u);
    const auto again = dependent();
    EXPECT_EQ(again.status, 201u);
    EXPECT_EQ(again.body, made.body);
    EXPECT_EQ(h.call(post("/v1/tasks", R"({"description":"then","depends":["SYN-1"]})", syn.token,
                          "another"))
                  .status,
              400u);
}

// Its own key still gets the receipt.
TEST_F(edits, a_new_key_with_the_uuid_of_a_purged_task_creates_nothing) {
    const char* body = R"({"description":"x","uuid":"5e1f7a38-93b2-4c1d-9a44-0c7d1a9be001"})";
    const auto made = h.call(post("/v1/tasks", body, syn.token, "first"));
    ASSERT_EQ(made.status, 201u) << made.body;
    ASSERT_EQ(remove("5e1f7a38-93b2-4c1d-9a44-0c7d1a9be001?purge=true").status, 204u);
    const auto gone = h.call(post("/v1/tasks", body, syn.token, "second"));
    EXPECT_EQ(gone.status, 410u);
    EXPECT_EQ(code_of(gone), "task-deleted");
    EXPECT_EQ(h.call(get("/v1/slots/second", syn.token)).status, 404u) << "the key is unused";
    EXPECT_EQ(h.call(post("/v1/tasks", body, syn.token, "first")).body, made.body);
}

TEST_F(edits, a_deleted_task_exists_and_a_purged_one_does_not) {
    const auto deleted = remove("SYN-1");
    ASSERT_EQ(deleted.status, 200u) << deleted.body;
    EXPECT_EQ(header(deleted, "ETag"), h.etag(3));
    const object task = body_of(deleted);
    EXPECT_EQ(json_of(task, "status"), "\"deleted\"");
    EXPECT_NE(json_of(task, "end"), "");
    EXPECT_EQ(remove("SYN-1").body, deleted.body);
    EXPECT_EQ(show("SYN-1").body, deleted.body);

    const auto purged = remove("SYN-1?purge=true");
    EXPECT_EQ(purged.status, 204u);
    EXPECT_EQ(purged.body, "");
    for (const auto& answer :
         {show("SYN-1"), patch("SYN-1", "{}"), remove("SYN-1"), remove("SYN-1?purge=true")}) {
        EXPECT_EQ(answer.status, 410u);
        EXPECT_EQ(code_of(answer), "task-deleted");
    }
    EXPECT_EQ(chain().back().operations.size(), 1u);
    EXPECT_EQ(chain().back().operations[0].kind, operation_kind::remove);
    EXPECT_EQ(json_of(body_of(create(R"({"description":"Next"})")), "key"), "\"SYN-3\"");
}

TEST_F(edits, the_query_of_a_delete_is_read_strictly) {
    EXPECT_EQ(faults_of(remove("SYN-1?purge=yes")), std::vector<std::string>{"purge invalid"});
    EXPECT_EQ(remove("SYN-1?prge=true").status, 400u);
    EXPECT_EQ(remove("SYN-1?purge=false").status, 200u);
}

TEST_F(edits, refs_are_resolved_as_everywhere) {
    const auto expect = [](const net::http_response& answer, unsigned status,
                           std::string_view code) {
        EXPECT_EQ(answer.status, status);
        EXPECT_EQ(code_of(answer), code);
    };
    expect(patch("nonsense", "{}"), 400, "malformed-task-ref");
    expect(patch("NO-1", "{}"), 404, "unknown-prefix");
    expect(patch("SYN-9", "{}"), 404, "task-not-found");
    expect(remove("nonsense"), 400, "malformed-task-ref");
    expect(remove("SYN-9?purge=true"), 404, "task-not-found");
    EXPECT_EQ(patch(std::string(body_of(show("SYN-1")).at("uuid").as_string()), "{}").status, 200u);
}

TEST_F(edits, a_token_without_the_scope_write_is_rejected) {
    const std::string reader = h.make_token("syn", token_scope::read);
    for (const verb method : {verb::patch, verb::delete_}) {
        EXPECT_EQ(h.call(make_request(method, "/v1/tasks/SYN-1", "{}", bearer(reader))).status,
                  403u);
        EXPECT_EQ(h.call(make_request(method, "/v1/tasks/SYN-1", "{}", {})).status, 401u);
    }
    // A task of another account does not exist for this one.
    const auto other = h.make_account("other", "OTH");
    EXPECT_EQ(
        h.call(make_request(verb::delete_, "/v1/tasks/SYN-1", "", bearer(other.token))).status,
        404u);
}

TEST_F(edits, an_opaque_account_has_no_tasks_to_edit) {
    const std::string token = api::make_token(h.entropy());
    create_account command{"desk", "DESK", "default", sha256(token), make_uuid_v7({}, 1, 1)};
    h.run(h.engine().submit(std::move(command)));
    for (const verb method : {verb::patch, verb::delete_}) {
        const auto rejected = h.call(make_request(method, "/v1/tasks/DESK-1", "{}", bearer(token)));
        EXPECT_EQ(rejected.status, 409u);
        EXPECT_EQ(code_of(rejected), "account-opaque");
    }
}

TEST_F(edits, other_content_types_are_rejected_with_the_known_ones) {
    header_list headers = bearer(syn.token);
    headers.emplace_back("Content-Type", "application/json-patch+json");
    const auto rejected = h.call(make_request(verb::patch, "/v1/tasks/SYN-1", "[]", headers));
    EXPECT_EQ(rejected.status, 415u);
    EXPECT_NE(header(rejected, "Accept-Patch").find("application/merge-patch+json"),
              std::string_view::npos);
    headers.back().second = "application/merge-patch+json; charset=utf-8";
    EXPECT_EQ(h.call(make_request(verb::patch, "/v1/tasks/SYN-1", "{}", headers)).status, 200u);
    // A merge patch cannot create a task.
    EXPECT_EQ(h.call(make_request(verb::post, "/v1/tasks", "{}", headers)).status, 415u);
}

TEST_F(edits, a_task_cannot_outgrow_its_limit) {
    net::http_response answer;
    const std::string value(65'536, 'x');
    int rounds = 0;
    do {
        v1::EditTask m;
        for (int i = 0; i < 20; ++i) {
            (*m.mutable_attributes())["a" + std::to_string(rounds) + "_" + std::to_string(i)] =
                value;
        }
        header_list headers = bearer(syn.token);
        headers.emplace_back("Content-Type", "application/x-protobuf");
        headers.emplace_back("Accept", "application/json");
        answer =
            h.call(make_request(verb::patch, "/v1/tasks/SYN-2", m.SerializeAsString(), headers));
    } while (answer.status == 200 && ++rounds < 10);
    EXPECT_EQ(answer.status, 413u);
    EXPECT_EQ(code_of(answer), "task-too-large");
    EXPECT_EQ(rounds, 3);
    EXPECT_EQ(chain().size(), 5u);
}

}  // namespace
}  // namespace callsign::testing
