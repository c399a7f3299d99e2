// Goal: a task that a hook accepted without a key gets a key later, and the right one.

#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "hooks.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign::cli {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A Taskwarrior that exports its tasks and sets keys.
struct catching_up : hooks {
    std::vector<json::object> tasks;

    catching_up() {
        task = [this](const std::vector<std::string>& line) { return answer(line); };
    }

    void has(int n, const std::string& entry, const json::object& more = {}) {
        json::object one{{"id", n},
                         {"uuid", uuid_text(n)},
                         {"entry", entry},
                         {"status", "pending"},
                         {"description", "d"}};
        for (const auto& [name, value] : more) one[name] = value;
        tasks.push_back(one);
    }

    finished_program answer(const std::vector<std::string>& line) {
        if (line.back() == "export") {
            json::array all(tasks.begin(), tasks.end());
            return {0, json::serialize(all) + "\n", ""};
        }
        for (json::object& one : tasks) {
            if (one.at("uuid").as_string() == line[line.size() - 3]) {
                one["key"] = line.back().substr(4);
                return {0, "", ""};
            }
        }
        return {1, "", "No matches."};
    }

    std::vector<std::string> keys() const {
        std::vector<std::string> all;
        for (const json::object& one : tasks) {
            const auto* const key = one.if_contains("key");
            all.emplace_back(key ? std::string(key->as_string()) : "-");
        }
        return all;
    }
    int catch_up(std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"hook", "catch-up", "--data", data.string(), "--json"});
        return run(std::move(more));
    }
};

TEST_F(catching_up, without_pending_tasks_no_request_is_sent) {
    environment.clear();
    EXPECT_EQ(catch_up(), 0) << err.str();
    EXPECT_EQ(out.str(), "{\"set\":0,\"gone\":0,\"waiting\":0}\n");
    EXPECT_THAT(requests, IsEmpty());
    EXPECT_THAT(task_lines, IsEmpty());
}

TEST_F(catching_up, keys_are_assigned_in_the_order_of_the_tasks_and_set_by_task) {
    for (const int n : {1, 2, 3}) remember(n);
    has(1, "20261120T120300Z");
    has(2, "20261120T120100Z", {{"project", "ops"}});
    has(3, "20261120T120200Z", {{"key", "SYN-44"}, {"status", "completed"}});
    EXPECT_EQ(catch_up(), 0) << err.str();
    EXPECT_EQ(out.str(), "{\"set\":3,\"gone\":0,\"waiting\":0}\n");
    EXPECT_THAT(keys(), ElementsAre("SYN-44", "SYN-42", "SYN-43"));
    EXPECT_THAT(remembered(), IsEmpty());
    EXPECT_THAT(requests[0], HasSubstr(R"("project":"ops")"));
    EXPECT_EQ(waits.back(), 60s);
    ASSERT_EQ(task_lines.size(), 4u);
    EXPECT_THAT(
        task_lines[1],
        ElementsAre("task", "rc.hooks=off", "rc.confirmation=off", "rc.recurrence.confirmation=off",
                    "rc.recurrence=off", "rc.gc=off", "rc.bulk=0", "rc.context=none",
                    "rc.verbose=nothing", "rc.json.array=on", "rc.uda.key.type=string",
                    "rc.data.location=" + data.string(), uuid_text(2), "modify", "key:SYN-42"));
    // A correct key stays untouched.
    remember(1);
    EXPECT_EQ(catch_up(), 0);
    EXPECT_EQ(out.str(), "{\"set\":0,\"gone\":0,\"waiting\":0}\n");
    EXPECT_EQ(task_lines.size(), 1u);
}

TEST_F(catching_up, tasks_of_one_second_keep_the_order_of_their_requests) {
    for (const int n : {2, 3, 1}) {
        remember(n);
        now += 1ms;
    }
    for (const int n : {1, 2, 3}) has(n, "20261120T120000Z");
    EXPECT_EQ(catch_up(), 0) << err.str();
    EXPECT_THAT(keys(), ElementsAre("SYN-44", "SYN-42", "SYN-43"));
}

TEST_F(catching_up, the_directory_is_that_of_taskwarriors_configuration) {
    data = dir / "elsewhere";
    std::filesystem::create_directory(data);
    remember(1);
    has(1, "20261120T120000Z");
    task = [this](const std::vector<std::string>& line) {
        if (line.back() == "rc.data.location") return finished_program{0, "~/elsewhere\n", ""};
        return answer(line);
    };
    EXPECT_EQ(run({"hook", "catch-up", "--task", "/opt/task"}), 0) << err.str();
    EXPECT_EQ(out.str(), "keys set       1\ntasks gone     0\nstill waiting  0\n");
    for (const auto& line : task_lines) {
        EXPECT_EQ(line[0], "/opt/task");
        EXPECT_THAT(line, Not(testing::Contains(HasSubstr("rc.data.location="))));
    }
}

TEST_F(catching_up, requests_of_missing_tasks_are_deleted) {
    remember(1);  // deleted
    remember(2);  // does not exist
    now += 5min;
    remember(3);  // not yet written: its Taskwarrior is still running the hook
    has(1, "20261120T120000Z", {{"status", "deleted"}});
    now += 5min;
    EXPECT_EQ(catch_up(), 0) << err.str();
    EXPECT_EQ(out.str(), "{\"set\":0,\"gone\":2,\"waiting\":1}\n");
    EXPECT_THAT(requests, IsEmpty());
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(3)));
}

TEST_F(catching_up, a_failed_request_is_retried_the_next_time) {
    for (const int n : {1, 2, 3}) {
        remember(n);
        has(n, "20261120T12000" + std::to_string(n) + "Z");
    }
    nobody_there();
    EXPECT_EQ(catch_up(), 1);
    EXPECT_THAT(err.str(), HasSubstr("Connection refused"));
    EXPECT_EQ(requests.size(), 1u);
    EXPECT_EQ(remembered().size(), 3u);
    // The server fails after the first request.
    numbers_from(1);
    server = [one_by_one = server, left = 1](const http_call& call) mutable {
        if (left-- > 0) return one_by_one(call);
        throw failure("cannot reach it");
    };
    EXPECT_EQ(catch_up(), 1);
    EXPECT_EQ(out.str(), "{\"set\":1,\"gone\":0,\"waiting\":2}\n");
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(2), uuid_text(3)));
    // Taskwarrior has locked its data.
    numbers_from(2);
    task = [this](const std::vector<std::string>& line) {
        return line.back() == "export" ? answer(line) : finished_program{2, "", "locked\n"};
    };
    EXPECT_EQ(catch_up(), 1);
    EXPECT_THAT(err.str(), HasSubstr("task ended with status 2: locked\n"));
    EXPECT_EQ(remembered().size(), 2u);
    // One request is rejected; the other succeeds.
    task = [this](const std::vector<std::string>& line) { return answer(line); };
    server = [all = server](const http_call& call) {
        return call.body.find(uuid_text(2)) != std::string::npos
                   ? problem_with(404, "unknown-prefix")
                   : all(call);
    };
    EXPECT_EQ(catch_up(), 1);
    EXPECT_THAT(err.str(), HasSubstr(uuid_text(2) + ": No: Not so. (unknown-prefix)\n"));
    EXPECT_EQ(out.str(), "{\"set\":1,\"gone\":0,\"waiting\":1}\n");
    EXPECT_THAT(keys(), ElementsAre("SYN-1", "-", "SYN-3"));
}

TEST_F(catching_up, an_account_that_has_become_managed_has_nothing_to_wait_for) {
    remember(1);
    has(1, "20261120T120000Z");
    server = [](const http_call&) { return problem_with(409, "account-managed"); };
    EXPECT_EQ(catch_up(), 1);
    EXPECT_THAT(err.str(), HasSubstr("the account is managed"));
    EXPECT_THAT(remembered(), IsEmpty());
}

TEST_F(catching_up, all_means_every_task_that_has_no_key_of_its_own) {
    has(1, "20261120T120500Z");
    has(2, "20261120T120400Z", {{"key", "SYN-7"}});
    has(3, "20261120T120300Z", {{"key", "SYN-8"}});
    has(4, "20261120T120200Z", {{"key", "SYN-8"}, {"status", "completed"}});
    has(5, "20261120T120100Z", {{"status", "deleted"}});
    has(6, "20261120T120000Z", {{"status", "recurring"}});
    EXPECT_EQ(catch_up(), 0);
    EXPECT_THAT(task_lines, IsEmpty());
    EXPECT_EQ(catch_up({"--all"}), 0) << err.str();
    EXPECT_EQ(out.str(), "{\"set\":4,\"gone\":0,\"waiting\":0}\n");
    EXPECT_THAT(keys(), ElementsAre("SYN-45", "SYN-7", "SYN-44", "SYN-43", "-", "SYN-42"));
}

TEST_F(catching_up, an_invalid_export_changes_nothing) {
    remember(1);
    task = [](const auto&) { return finished_program{0, "Cannot proceed", ""}; };
    now += 1h;
    EXPECT_EQ(catch_up(), 1);
    EXPECT_THAT(err.str(), HasSubstr("`task export`"));
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(1)));
}

}  // namespace
}  // namespace callsign::cli
