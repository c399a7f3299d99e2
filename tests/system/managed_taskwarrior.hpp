#pragma once
// Helpers for several Taskwarriors on one managed account.

#include "taskwarrior_fixture.hpp"

#include <string>
#include <string_view>

namespace callsign::testing {

class managed_taskwarrior_test : public managed_test {
  protected:
    static bool says(const finished& f, const std::string& text) {
        return (f.out + f.err).find(text) != std::string::npos;
    }
    static bool has(const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    }
    // The output of `task key:KEY info`.
    static std::string info(const taskwarrior& device, const std::string& key) {
        return device({"key.is:" + key, "info"}).out;
    }
    static std::string key_of(const taskwarrior& device, const std::string& description) {
        for (const auto& [uuid, task] : tasks_of(device)) {
            if (text_in(task, "description") == description) return text_in(task, "key");
        }
        return "no task";
    }
    static std::string value_of(const task_table& tasks, const std::string& uuid,
                                std::string_view name) {
        const auto found = tasks.find(uuid);
        return found == tasks.end() ? "no task" : text_in(found->second, name);
    }
    // Imports tasks with numbered UUIDs into `device`, and syncs it.
    static void import_and_sync(const taskwarrior& device, int from, int to,
                                const json::object& others = {{"status", "pending"}}) {
        json::array tasks;
        for (int n = from; n <= to; ++n) {
            json::object task = others;
            task["uuid"] = numbered_uuid(n);
            task["description"] = "Imported " + std::to_string(n);
            task["entry"] = "20261101T080000Z";
            tasks.push_back(task);
        }
        expect_done(device.import(json::serialize(tasks)));
        expect_done(device.sync());
    }
};

}  // namespace callsign::testing
