// Goal: `callsign` does with a running server what its help describes, from the first account to
// the check of the directory. Method: the real programs, with --json; HTTP requests verify the
// effects.

#include "fixture.hpp"

#include <fstream>

namespace callsign::testing {
namespace {

class cli_test : public system_test {
  protected:
    static unsigned status_of_create(const server& s, const std::string& token,
                                     const std::string& key) {
        http_client client(s.port(), token);
        const auto answer = client.post_json("/v1/tasks", R"({"description":"Anything"})", key);
        return answer ? answer->status : 0;
    }
    static std::string text(const json::object& from, std::string_view name) {
        const json::value* found = from.if_contains(name);
        return found != nullptr && found->is_string() ? std::string(found->as_string()) : "";
    }
    // Returns the element of the list whose `name` is `value`.
    static json::object find(const json::object& from, std::string_view list, std::string_view name,
                             std::string_view value) {
        const json::value* all = from.if_contains(list);
        if (all == nullptr || !all->is_array()) return {};
        for (const json::value& one : all->as_array())
            if (text(one.as_object(), name) == value) return one.as_object();
        return {};
    }
};

TEST_F(cli_test, an_account_is_made_listed_and_used) {
    auto s = start();
    const json::object made = ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    EXPECT_EQ(text(made, "name"), "ops");
    EXPECT_EQ(text(made, "prefix"), "OPS");
    EXPECT_EQ(status_of_create(*s, text(made, "token"), "first"), 201u);

    const json::object listed = ask_callsign({"account", "list"});
    const json::object ops = find(listed, "accounts", "name", "ops");
    EXPECT_EQ(text(ops, "accountId"), text(made, "accountId"));
    EXPECT_EQ(text(ops, "token"), "") << "a secret is shown once";

    const finished again = callsign({"account", "create", "ops", "--prefix", "OPS"});
    EXPECT_EQ(again.status, (exit_status{1, 0})) << again.out;
    EXPECT_NE(again.err, "");
}

TEST_F(cli_test, a_revoked_token_is_rejected_on_its_next_request) {
    auto s = start();
    ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    const json::object made =
        ask_callsign({"token", "create", "ops", "--name", "laptop", "--scope", "write"});
    const std::string secret = text(made, "token");
    ASSERT_NE(secret, "");
    // On one connection, so that only the token's validity changes.
    http_client client(s->port(), secret);
    const auto before = client.get("/v1/account");
    ASSERT_TRUE(before.has_value());
    EXPECT_EQ(before->status, 200u);

    ask_callsign({"token", "revoke", text(made, "tokenId"), "--yes"});
    const auto after = client.get("/v1/account");
    ASSERT_TRUE(after.has_value());
    EXPECT_EQ(after->status, 401u);

    const json::object listed = ask_callsign({"token", "list", "ops"});
    EXPECT_NE(text(find(listed, "tokens", "name", "laptop"), "revokedAt"), "");
    // Also after a restart.
    s->child().kill();
    s->start();
    EXPECT_EQ(status_of_create(*s, secret, "late"), 401u);
}

TEST_F(cli_test, a_read_token_cannot_write) {
    auto s = start();
    ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    const json::object made =
        ask_callsign({"token", "create", "ops", "--name", "screen", "--scope", "read"});
    EXPECT_EQ(status_of_create(*s, text(made, "token"), "no"), 403u);
}

TEST_F(cli_test, series_are_made_and_listed) {
    auto s = start();
    ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    ask_callsign({"series", "create", "ops", "--prefix", "INC", "--project", "incidents"});
    const json::object listed = ask_callsign({"series", "list", "ops"});
    EXPECT_EQ(text(find(listed, "series", "prefix", "INC"), "project"), "incidents");
    EXPECT_FALSE(find(listed, "series", "prefix", "OPS").empty());

    const finished taken = callsign({"series", "create", "ops", "--prefix", "INC"});
    EXPECT_EQ(taken.status, (exit_status{1, 0})) << taken.out;
}

// A table of tasks with numbers from another program: imported as a whole or rejected as a whole.
TEST_F(cli_test, numbers_are_imported) {
    auto s = start();
    const json::object made = ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    ask_callsign({"series", "create", "ops", "--prefix", "INC", "--reset", "daily", "--time-zone",
                  "Europe/Berlin"});
    const auto table = [&](int rows, int without) {
        const std::string file = temp_path("numbers.csv").string();
        std::ofstream out(file);
        out << "prefix,number,uuid,title,created_at\n";
        for (int n = 1; n <= rows; ++n) {
            if (n == without) continue;
            char id[40];
            std::snprintf(id, sizeof id, "11111111-2222-4333-8444-%012d", n);
            out << "OPS," << n << ',' << id << ",Task " << n << ",2020-01-01T00:00:00Z\n";
        }
        out << "INC,1,11111111-2222-4333-8444-999999999999,\"Said, at night\","
               "2020-01-01T23:30:00Z\n";
        return file;
    };
    const finished rejected = callsign({"import", "numbers", table(600, 300), "--account", "ops"});
    EXPECT_EQ(rejected.status, (exit_status{1, 0})) << rejected.out;
    EXPECT_NE(rejected.err.find("line 301: OPS-300 is missing before it"), std::string::npos)
        << rejected.err;
    const auto too_long = temp_path("too-long.csv");
    std::ofstream(too_long)
        << "prefix,number,uuid,title,created_at\n\nOPS,1,11111111-2222-4333-8444-"
           "000000000001,"
        << std::string(100'000, 'x') << ",2020-01-01T00:00:00Z\n";
    const finished no_title =
        callsign({"import", "numbers", too_long.string(), "--account", "ops"});
    EXPECT_NE(no_title.err.find("line 3: "), std::string::npos) << no_title.err;
    EXPECT_EQ(status_of_create(*s, text(made, "token"), "first"), 201u);  // assigns OPS-1

    const finished taken = callsign({"import", "numbers", table(600, 0), "--account", "ops"});
    EXPECT_NE(taken.err.find("line 2: The number is used"), std::string::npos) << taken.err;

    const json::object fresh = ask_callsign({"account", "create", "new", "--prefix", "OPS"});
    ask_callsign({"series", "create", "new", "--prefix", "INC", "--reset", "daily", "--time-zone",
                  "Europe/Berlin"});
    const json::object done =
        ask_callsign({"import", "numbers", table(600, 0), "--account", "new"});
    EXPECT_EQ(done.at("imported").as_int64(), 601);
    const json::object again =
        ask_callsign({"import", "numbers", table(600, 0), "--account", "new"});
    EXPECT_EQ(again.at("thereAlready").as_int64(), 601);
    http_client rest(s->port(), text(fresh, "token"));
    EXPECT_EQ(rest.get("/v1/tasks/INC-20200102-1")->status, 200u);
    const auto next = rest.post_json("/v1/tasks", R"({"description":"next"})", "k");
    EXPECT_NE(next->body.find(R"("key":"OPS-601")"), std::string::npos) << next->body;
    expect_sound();
}

TEST_F(cli_test, slots_and_the_reaper_are_shown_and_a_sweep_runs) {
    auto s = start();
    const json::object made = ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(status_of_create(*s, text(made, "token"), "k" + std::to_string(i)), 201u);
    const json::object slots =
        ask_callsign({"slots", "list", "--account", "ops", "--state", "committed"});
    const json::object one = find(slots, "slots", "idempotencyKey", "k1");
    EXPECT_EQ(text(one, "state"), "committed");

    const json::object swept = ask_callsign({"reaper", "sweep"});
    for (const char* count : {"scanned", "committed", "failed", "forgotten", "scrubbed"})
        EXPECT_TRUE(swept.contains(count)) << count;
    EXPECT_EQ(swept.at("failed").to_number<int>(), 0);
    const json::object status = ask_callsign({"reaper", "status"});
    EXPECT_GE(status.at("sweeps").to_number<int>(), 1);
    EXPECT_NE(text(status, "advice"), "");
}

TEST_F(cli_test, check_works_with_and_without_a_running_server) {
    auto s = start();
    const json::object made = ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    EXPECT_EQ(status_of_create(*s, text(made, "token"), "one"), 201u);
    expect_sound();
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

TEST_F(cli_test, errors_have_the_right_status) {
    EXPECT_EQ(callsign({"account", "list"}).status, (exit_status{1, 0})) << "no server";
    EXPECT_EQ(callsign({"no", "such", "command"}).status, (exit_status{2, 0}));
    EXPECT_EQ(callsign({"check"}).status, (exit_status{1, 0})) << "no directory";
}

}  // namespace
}  // namespace callsign::testing
