#pragma once
// A real Taskwarrior with a directory of its own, syncing with a server on this machine.

#include "support/process.hpp"
#include "support/temp_dir.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace callsign::testing {

// The program: CALLSIGN_TASK, or what scripts/get-taskwarrior made. Empty: there is none.
inline std::string taskwarrior_program(const char* made) {
    const char* const given = std::getenv("CALLSIGN_TASK");
    const std::string program = given != nullptr ? given : made;
    return std::filesystem::exists(program) ? program : std::string();
}

class taskwarrior {
  public:
    taskwarrior(std::string program, std::uint16_t port, const std::string& client_id,
                const std::string& secret)
        : program_(std::move(program)) {
        std::ofstream(taskrc()) << "data.location=" << (home_.path() / "data").string()
                                << "\nconfirmation=no\nnews.version=9.9.9\nhooks=off\n"
                                << "uda.key.type=string\nuda.key.label=Key\n"
                                << "sync.server.url=http://127.0.0.1:" << port
                                << "\nsync.server.client_id=" << client_id
                                << "\nsync.encryption_secret=" << secret << "\n";
    }

    finished operator()(std::vector<std::string> words) const {
        words.insert(words.begin(), program_);
        return run(words, std::chrono::seconds{60},
                   {{"TASKRC", taskrc()},
                    {"TASKDATA", ""},
                    {"HTTP_PROXY", ""},
                    {"http_proxy", ""},
                    {"HOME", home_.path().string()}});
    }
    finished sync() const { return (*this)({"sync"}); }

    // All tasks as JSON.
    std::string exported() const { return (*this)({"export"}).out; }

    // The same tasks on a server elsewhere.
    void move_to(std::uint16_t port) const {
        std::ofstream(taskrc(), std::ios::app)
            << "sync.server.url=http://127.0.0.1:" << port << "\n";
    }

  private:
    std::string taskrc() const { return (home_.path() / "taskrc").string(); }

    std::string program_;
    temp_dir home_;
};

}  // namespace callsign::testing
