#pragma once
// Generated creations and edits of tasks_test.cpp, with their expected results.

#include "support/test_server.hpp"
#include "tasks_model.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <iterator>
#include <optional>
#include <string>

namespace callsign::testing {

struct drawn_creation {
    std::string key;
    std::string payload;
};

struct drawn_edit {
    std::string ref;
    std::optional<uuid> task{};            // none: no such task
    unsigned rejected = 0;                 // expected error status for any state of the task
    std::optional<std::int64_t> if_seq{};  // If-Match has the ETag of this state
    bool is_stale = false;
    boost::beast::http::verb method = boost::beast::http::verb::patch;
    std::string path{};  // behind the ref
    std::string body{};
    std::function<std::optional<attributes>(const attributes&)> becomes{};
};

class task_drawer {
  public:
    int keys() const { return keys_; }

    // The description identifies the task permanently.
    drawn_creation creation(account_model& a, int which, int how) {
        const std::string key = "key-" + std::to_string(++keys_);
        wanted_creation c;
        c.attributes = {{"description", "made by " + key}, {"status", "pending"}};
        boost::json::object body{{"description", "made by " + key}};
        if (which % 4 == 0) {
            body["project"] = "ops";
            c.attributes["project"] = "ops";
        }
        // Names the series by a current or former prefix.
        if (which % 4 == 1) {
            const auto& names = a.series[1 + how % 2].names;
            const auto name = std::next(names.begin(), how / 2 % std::ssize(names));
            body["prefix"] = c.prefix = *name;
        }
        if (which % 3 == 0) {
            body["tags"] = boost::json::array{"x"};
            c.attributes["tag_x"] = "";
        }
        if (const auto other = draw_task(a, how); which == 7 && other) {
            body["depends"] = boost::json::array{a.key_of(a.tasks.at(*other))};
            c.attributes["dep_" + to_string(*other)] = "";
        }
        const std::string payload = boost::json::serialize(body);
        a.want("made by " + key, std::move(c));
        return {key, payload};
    }

    // Whether a new creation with this payload is invalid in the current state.
    static bool is_rejectable(const account_model& a, const std::string& payload) {
        const auto body = boost::json::parse(payload).as_object();
        if (const auto* const prefix = body.if_contains("prefix")) {
            if (a.find_series(std::string(prefix->as_string()))->archived) return true;
        }
        const auto* const depends = body.if_contains("depends");
        if (!depends) return false;
        const auto named = parse_task_ref(std::string_view(depends->as_array()[0].as_string()));
        const auto& key = std::get<task_key>(*named);
        const model_series* const from = a.find_series(key.prefix);
        return std::ranges::none_of(a.tasks, [&](const auto& t) {
            return !t.second.purged && &a.series[t.second.series] == from &&
                   t.second.number == key.number && t.second.period == key.period;
        });
    }

    static std::optional<uuid> draw_task(const account_model& a, int how) {
        if (a.tasks.empty()) return std::nullopt;
        // Prefers recent tasks.
        const auto back = how % std::min<std::ptrdiff_t>(6, std::ssize(a.tasks));
        return std::prev(a.tasks.end(), 1 + back)->first;
    }

    // By UUID, by key, or by a former key.
    static std::string draw_ref(const account_model& a, const uuid& id, int how) {
        const model_task& t = a.tasks.at(id);
        if (how % 3 == 0) return to_string(id);
        const auto& names = a.series[t.series].names;
        std::string key = a.key_of(t, *std::next(names.begin(), how % std::ssize(names)));
        if (how % 5 == 0)
            std::ranges::transform(key, key.begin(), [](char c) {
                return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            });
        return key;
    }

    drawn_edit edit(account_model& a, int which, int how) {
        drawn_edit e;
        e.task = draw_task(a, which);
        if (!e.task || how % 29 == 0) {
            e.task.reset();
            static constexpr const char* nobodys[] = {"SYN-1000", "NIX-1", "DAY-19700101-1",
                                                      "01890000-0000-7000-8000-000000000000"};
            e.ref = nobodys[which % 4];
            e.rejected = 404;
        } else {
            e.ref = draw_ref(a, *e.task, how);
            if (how % 4 == 1) {
                e.is_stale = how % 8 == 5;
                const auto seq = a.tasks.at(*e.task).seq;
                e.if_seq = e.is_stale ? seq - 1 : seq;
            }
        }
        draw_change(a, e, how);
        return e;
    }

    void draw_change(account_model& a, drawn_edit& e, int how) {
        const auto set = [](std::string name, std::string value) {
            return [=](attributes all) -> std::optional<attributes> {
                all.insert_or_assign(name, value);
                return all;
            };
        };
        switch (how % 11) {
        case 0:
            e.method = boost::beast::http::verb::delete_;
            e.path = "?purge=true";
            e.becomes = [](const attributes&) { return std::nullopt; };
            break;
        case 1:
            e.method = boost::beast::http::verb::delete_;
            e.becomes = set("status", "deleted");
            break;
        case 2:
        case 3:
            e.method = boost::beast::http::verb::post;
            e.path = ":complete";
            e.becomes = set("status", "completed");
            break;
        case 4:
            e.method = boost::beast::http::verb::post;
            e.path = ":reopen";
            e.becomes = set("status", "pending");
            break;
        case 5:
            e.body = R"({"project":"ops","priority":"H"})";
            e.becomes = [](attributes all) -> std::optional<attributes> {
                all["project"] = "ops";
                all["priority"] = "H";
                return all;
            };
            break;
        case 6:
            e.body = R"({"project":null,"tags":["y"]})";
            e.becomes = [](attributes all) -> std::optional<attributes> {
                for (const char* name : {"project", "tag_x"}) all.erase(name);
                all["tag_y"] = "";
                return all;
            };
            break;
        case 7: draw_depends(a, e, how); break;
        default: {
            const std::string text = "edit " + std::to_string(++edits_);
            e.body = R"({"description":")" + text + R"("})";
            e.becomes = set("description", text);
        }
        }
    }

    void draw_depends(account_model& a, drawn_edit& e, int how) {
        const auto on = draw_task(a, how / 11);
        if (!on) {
            e.body = R"({"priority":"L"})";
            e.becomes = [](attributes all) -> std::optional<attributes> {
                all["priority"] = "L";
                return all;
            };
            return;
        }
        e.body = R"({"depends":[")" + draw_ref(a, *on, how / 11) + R"("]})";
        // Depends on a purged task, or on itself.
        if (e.rejected == 0 && (on == e.task || a.tasks.at(*on).purged)) e.rejected = 400;
        e.becomes = [on = *on](attributes all) -> std::optional<attributes> {
            for (auto at = all.lower_bound("dep_"); at != all.end() && at->first < "dep`";) {
                at = all.erase(at);
            }
            all["dep_" + to_string(on)] = "";
            return all;
        };
    }

    // The expected status for the task's current state.
    static unsigned status_for(const account_model& a, const drawn_edit& e) {
        if (!e.task) return 404;
        const model_task& t = a.tasks.at(*e.task);
        if (t.purged) return 410;
        if (e.rejected != 0) return e.rejected;
        if (e.is_stale) return 412;
        return e.becomes(t.attributes) ? 200 : 204;
    }

  private:
    int keys_ = 0;
    int edits_ = 0;
};

}  // namespace callsign::testing
