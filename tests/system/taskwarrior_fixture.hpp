#pragma once
// Fixture of the tests with the real Taskwarrior: the program, or a conspicuous skip; and for
// managed accounts, their devices and all ways to read their tasks.

#include "fixture.hpp"
#include "support/taskwarrior.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cctype>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace callsign::testing {

template <class Base>
class with_taskwarrior : public Base {
  protected:
    void SetUp() override {
        program = taskwarrior_program(CALLSIGN_TASKWARRIOR);
        if (program.empty()) {
            GTEST_SKIP() << "NO TASKWARRIOR: scripts/get-taskwarrior fetches one, or set "
                            "CALLSIGN_TASK. Nothing was tested with the real client.";
        }
    }

    static void expect_done(const finished& f) {
        EXPECT_EQ(f.status, (exit_status{0, 0})) << f.out << f.err;
    }

    std::string program;
};

// ---- a common form of tasks for REST and Taskwarrior ----

using plain_task = std::map<std::string, std::string>;

// 20261224T000000Z and 2026-12-24T00:00:00.000Z are the same second.
inline std::string seconds_text(std::string_view time) {
    std::string digits;
    for (const char c : time) {
        if (std::isdigit(static_cast<unsigned char>(c)) && digits.size() < 14) digits += c;
    }
    std::tm parts{};
    if (digits.size() < 14 || ::strptime(digits.c_str(), "%Y%m%d%H%M%S", &parts) == nullptr) {
        return "no time: " + std::string(time);
    }
    return std::to_string(::timegm(&parts));
}

inline std::string plain_value(const std::string& name, const json::value& value) {
    if (const auto* const list = value.if_array()) {
        std::vector<std::string> all;
        for (const json::value& one : *list) {
            if (const auto* const noted = one.if_object()) {
                all.push_back(seconds_text(noted->at("entry").as_string()) + " " +
                              std::string(noted->at("description").as_string()));
            } else {
                all.emplace_back(one.as_string());
            }
        }
        std::sort(all.begin(), all.end());
        std::string text;
        for (const std::string& one : all) text += one + "\n";
        return text;
    }
    if (!value.is_string()) return json::serialize(value);
    const std::string text(value.as_string());
    const bool is_time = name == "due" || name == "wait" || name == "until" || name == "end" ||
                         name == "start" || name == "scheduled" || name == "entry" ||
                         name == "modified";
    return is_time && text.find('T') != std::string::npos ? seconds_text(text) : text;
}

// From an export of Taskwarrior.
inline plain_task plain_export(const json::object& exported) {
    plain_task plain;
    for (const auto& [name, value] : exported) plain[name] = plain_value(name, value);
    return plain;
}

inline plain_task plain_answer(const json::object& shown) {
    // Members that only REST has.
    static const std::set<std::string_view> more{"attributes", "seq",    "createdAt", "prefix",
                                                 "period",     "number", "madeBy",    "etag"};
    plain_task plain;
    for (const auto& [name, value] : shown) {
        if (!more.contains(std::string_view(name))) plain[name] = plain_value(name, value);
    }
    const json::value* const others = shown.if_contains("attributes");
    if (others == nullptr) return plain;
    for (const auto& [name, value] : others->as_object()) {
        // Taskwarrior also stores these in other fields.
        if (name != "tags" && name != "depends") plain[name] = plain_value(name, value);
    }
    return plain;
}

// Returns a string member; empty if there is none.
inline std::string text_in(const json::object& from, std::string_view name) {
    const json::value* const found = from.if_contains(name);
    return found != nullptr && found->is_string() ? std::string(found->as_string()) : "";
}

// Returns UUIDs such as clients generate, identified by a number and a hexadecimal digit.
inline std::string numbered_uuid(int n, char kind = 'a') {
    const std::string digits = std::to_string(n);
    return std::string(1, kind) + "0000000-0000-4000-8000-" + std::string(12 - digits.size(), '0') +
           digits;
}

using task_table = std::map<std::string, json::object>;

// Describes the differences between two tables of tasks; empty: none.
inline std::string differences(const task_table& a, const task_table& b) {
    std::map<std::string, std::pair<json::object, json::object>> by_uuid;
    for (const auto& [uuid, task] : a) by_uuid[uuid].first = task;
    for (const auto& [uuid, task] : b) by_uuid[uuid].second = task;
    std::string text;
    for (const auto& [uuid, both] : by_uuid) {
        if (both.first == both.second) continue;
        text += json::serialize(both.first) + "\nagainst " + json::serialize(both.second) + "\n";
    }
    return text;
}

class managed_test : public with_taskwarrior<system_test> {
  protected:
    // Starts the server, and creates the account `ops` with tasks SYN-1, SYN-2...
    void begin(std::vector<std::string> flags = {}) {
        s = start(std::move(flags), {{"CALLSIGN_MASTER_KEY", std::string(64, '7')}});
        const json::object made = ask_callsign({"account", "create", "ops", "--prefix", "SYN"});
        token = text_in(made, "token");
        rest = std::make_unique<http_client>(s->port(), token);
    }

    json::object add_device(const std::string& name) const {
        return ask_callsign({"device", "add", "ops", "--name", name});
    }
    // Creates a Taskwarrior with the .taskrc lines of `callsign device add`.
    std::unique_ptr<taskwarrior> make_device(const std::string& name) const {
        return std::make_unique<taskwarrior>(program, text_in(add_device(name), "taskrc"));
    }

    // Returns the receipt.
    json::object create(const std::string& idempotency_key, const json::object& task) const {
        const auto made = rest->post_json("/v1/tasks", json::serialize(task), idempotency_key);
        EXPECT_TRUE(made && made->status / 100 == 2) << (made ? made->body : "no response");
        return made ? json::parse(made->body).as_object() : json::object{};
    }

    // Sends a merge patch, and returns the response's status.
    unsigned edit(const std::string& ref, const json::object& patch) const {
        const auto answer = rest->request("PATCH", "/v1/tasks/" + ref,
                                          {{"Content-Type", "application/merge-patch+json"}},
                                          json::serialize(patch));
        return answer ? answer->status : 0;
    }
    unsigned erase(const std::string& ref, bool purge = false) const {
        const auto answer =
            rest->request("DELETE", "/v1/tasks/" + ref + (purge ? "?purge=true" : ""));
        return answer ? answer->status : 0;
    }

    // By UUID or key; empty unless the status is 200, and fails the test unless it is `status`.
    json::object show(const std::string& ref, unsigned status = 200) const {
        const auto shown = rest->get("/v1/tasks/" + ref);
        EXPECT_TRUE(shown && shown->status == status) << ref << (shown ? shown->body : "");
        return shown && shown->status == 200 ? json::parse(shown->body).as_object()
                                             : json::object{};
    }

    // Returns the numbers of rows that `callsign check` has verified.
    json::object checked() const {
        const json::object report = ask_callsign({"check"});
        EXPECT_TRUE(report.contains("ok") && report.at("ok") == true) << json::serialize(report);
        return report.contains("checked") ? report.at("checked").as_object() : json::object{};
    }
    std::int64_t versions() const { return checked().at("versions").as_int64(); }

    // Number of requests to a route (as named in the metrics) with this class of status.
    int answered(const std::string& route, const std::string& status) const {
        http_client anyone(s->port());
        const auto metrics = anyone.get("/metrics");
        if (!metrics) return -1;
        const std::string line =
            "callsign_http_requests_total{route=\"" + route + "\",status=\"" + status + "\"} ";
        const auto at = metrics->body.find(line);
        return at == std::string::npos ? 0 : std::stoi(metrics->body.substr(at + line.size()));
    }

    // Verifies that devices, REST and the server's snapshot agree on every task, and that the store
    // is sound; returns the tasks.
    task_table expect_agreement(const std::vector<const taskwarrior*>& devices) {
        const auto newcomer = make_device("newcomer-" + std::to_string(++newcomers));
        expect_done(newcomer->sync());
        const task_table agreed = tasks_of(*newcomer);
        for (const taskwarrior* const device : devices) {
            EXPECT_EQ(differences(tasks_of(*device), agreed), "");
        }
        for (const auto& [uuid, task] : agreed) {
            EXPECT_EQ(plain_answer(show(uuid)), plain_export(task));
        }
        expect_sound();
        return agreed;
    }

    // Each of the keys SYN-1 to SYN-n occurs once.
    static void expect_keys_to(const task_table& tasks, int last) {
        std::map<std::string, int> times;
        for (const auto& [uuid, task] : tasks) ++times[text_in(task, "key")];
        std::map<std::string, int> once;
        for (int n = 1; n <= last; ++n) once["SYN-" + std::to_string(n)] = 1;
        EXPECT_EQ(times, once);
    }

    std::unique_ptr<server> s;
    std::string token;
    std::unique_ptr<http_client> rest;
    int newcomers = 0;
};

}  // namespace callsign::testing
