// Goal: edits over HTTP and by a Taskwarrior form one history: each client receives the other's
// edits with its next sync, and neither overwrites them. Method: the real programs; skipped without
// a real Taskwarrior.

#include "taskwarrior_fixture.hpp"

namespace callsign::testing {
namespace {

class edits_test : public with_taskwarrior<system_test> {
  protected:
    // Returns the task with this key; empty: none.
    static json::object task_of(const taskwarrior& device, const std::string& key) {
        const json::value found = json::parse(device({"key.is:" + key, "export"}).out);
        return found.as_array().empty() ? json::object{} : found.as_array()[0].as_object();
    }
    static std::string text(const json::object& from, std::string_view name) {
        const json::value* found = from.if_contains(name);
        return found != nullptr ? json::serialize(*found) : "";
    }
};

TEST_F(edits_test, an_edit_over_http_is_on_a_device_with_its_next_sync) {
    const std::string key_file = temp_path("master.key").string();
    ask_callsign({"master-key", "new", key_file});
    auto s = start({}, {{"CALLSIGN_SECRETS_MASTER_KEY_FILE", key_file}});
    http_client client(s->port(), make_account(*s, "ops", "OPS"));
    const json::object made = ask_callsign({"device", "add", "ops", "--name", "laptop"});
    const taskwarrior laptop(program, s->port(), std::string(made.at("clientId").as_string()),
                             std::string(made.at("encryptionSecret").as_string()));
    const auto patch = [&](const std::string& key, std::string_view body) {
        const auto answer = client.request(
            "PATCH", "/v1/tasks/" + key, {{"Content-Type", "application/merge-patch+json"}}, body);
        EXPECT_TRUE(answer && answer->status == 200u) << (answer ? answer->body : "no response");
    };

    expect_done(laptop({"add", "Mine", "+a", "+b", "project:house", "due:2026-12-24"}));
    expect_done(laptop.sync());
    patch("OPS-1", R"({"tags":["b","c"],"project":null,"description":"Ours"})");
    expect_done(laptop.sync());
    json::object task = task_of(laptop, "OPS-1");
    EXPECT_EQ(text(task, "description"), "\"Ours\"");
    EXPECT_EQ(text(task, "tags"), R"(["b","c"])");
    EXPECT_EQ(text(task, "project"), "");
    EXPECT_EQ(text(task, "due").size(), 18u);

    // Concurrent edits of different attributes: both persist.
    expect_done(laptop({"key.is:OPS-1", "modify", "-c", "priority:H"}));
    patch("OPS-1", R"({"status":"completed"})");
    expect_done(laptop.sync());
    task = task_of(laptop, "OPS-1");
    EXPECT_EQ(text(task, "tags"), R"(["b"])");
    EXPECT_EQ(text(task, "priority"), "\"H\"");
    EXPECT_EQ(text(task, "status"), "\"completed\"");
    EXPECT_NE(text(task, "end"), "");
    const auto shown = client.get("/v1/tasks/OPS-1");
    ASSERT_TRUE(shown.has_value());
    EXPECT_NE(shown->body.find(R"("tags":["b"])"), std::string::npos) << shown->body;

    expect_done(laptop({"add", "Gone"}));
    expect_done(laptop.sync());
    const auto purged = client.request("DELETE", "/v1/tasks/OPS-2?purge=true");
    EXPECT_TRUE(purged && purged->status == 204u);
    expect_done(laptop.sync());
    EXPECT_TRUE(task_of(laptop, "OPS-2").empty());
    expect_done(laptop({"add", "Next"}));
    expect_done(laptop.sync());
    EXPECT_EQ(text(task_of(laptop, "OPS-3"), "description"), "\"Next\"");
    expect_sound();
}

}  // namespace
}  // namespace callsign::testing
