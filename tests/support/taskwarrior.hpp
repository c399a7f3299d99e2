#pragma once
// A real Taskwarrior with its own directory, which syncs with a server on this host.

#include "support/process.hpp"
#include "support/temp_dir.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace callsign::testing {

// The program: CALLSIGN_TASK, or the one built by scripts/get-taskwarrior. Empty: none.
inline std::string taskwarrior_program(const char* made) {
    const char* const given = std::getenv("CALLSIGN_TASK");
    const std::string program = given != nullptr ? given : made;
    return std::filesystem::exists(program) ? program : std::string();
}

class taskwarrior {
  public:
    // `lines`: the lines of its .taskrc about the server and the key.
    taskwarrior(std::string program, const std::string& lines) : program_(std::move(program)) {
        std::ofstream(taskrc()) << "data.location=" << (home_.path() / "data").string()
                                << "\nconfirmation=no\nnews.version=9.9.9\nhooks=off\n"
                                << lines;
    }
    taskwarrior(std::string program, std::uint16_t port, const std::string& client_id,
                const std::string& secret)
        : taskwarrior(std::move(program),
                      "uda.key.type=string\nuda.key.label=Key\nsync.server.url=http://127.0.0.1:" +
                          std::to_string(port) + "\nsync.server.client_id=" + client_id +
                          "\nsync.encryption_secret=" + secret + "\n") {}

    finished operator()(std::vector<std::string> words) const {
        words.insert(words.begin(), program_);
        return run(words, std::chrono::seconds{60},
                   {{"TASKRC", taskrc()},
                    {"TASKDATA", ""},
                    {"TZ", "UTC"},
                    {"HTTP_PROXY", ""},
                    {"http_proxy", ""},
                    {"HOME", home_.path().string()}});
    }
    finished sync() const { return (*this)({"sync"}); }

    // Imports tasks in the JSON format of `task export`.
    finished import(const std::string& tasks) const {
        const std::string file = (home_.path() / "import.json").string();
        std::ofstream(file) << tasks;
        return (*this)({"import", file});
    }
    // Exports all tasks, or those that match a filter, as JSON.
    std::string exported(const std::string& filter = {}) const {
        return filter.empty() ? (*this)({"export"}).out : (*this)({filter, "export"}).out;
    }

    // A later line of .taskrc overrides earlier ones.
    void configure(const std::string& line) const {
        std::ofstream(taskrc(), std::ios::app) << line << "\n";
    }
    // Resets the replica, as its user does if no server knows it: removes its data.
    void begin_anew() const { std::filesystem::remove_all(home_.path() / "data"); }
    // Switches to another server that has the same tasks.
    void move_to(std::uint16_t port) const {
        configure("sync.server.url=http://127.0.0.1:" + std::to_string(port));
    }

  private:
    // Durability is not needed here, and Taskwarrior syncs the disk after each task.
    static std::filesystem::path fast_disk() {
        const std::filesystem::path memory = "/dev/shm";
        return std::filesystem::is_directory(memory) ? memory
                                                     : std::filesystem::temp_directory_path();
    }
    std::string taskrc() const { return (home_.path() / "taskrc").string(); }

    std::string program_;
    temp_dir home_{fast_disk()};
};

// The tasks by UUID, without attributes that differ between replicas.
inline std::map<std::string, boost::json::object> tasks_of(const taskwarrior& device) {
    std::map<std::string, boost::json::object> tasks;
    boost::json::value exported = boost::json::parse(device.exported());
    for (boost::json::value& one : exported.as_array()) {
        boost::json::object& task = one.as_object();
        task.erase("id");
        task.erase("urgency");
        tasks.emplace(task.at("uuid").as_string(), task);
    }
    return tasks;
}

}  // namespace callsign::testing
