#pragma once
// Keys of an opaque account's tasks: Taskwarrior's hooks, catching up later, and the installation
// of the hooks. Taskwarrior rejects a task if a hook fails, so a hook always passes the task on,
// and never waits longer than its timeout.

#include "session.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace callsign::cli {

enum class hook_event : std::uint8_t { add, modify };

// Empty members are not set.
struct hook_choice {
    std::vector<std::string> words;  // as Taskwarrior passes them: api:2 ... data:DIR ...
    std::string data_dir;            // Taskwarrior's data directory
    std::string attribute;
    std::string task_program = "task";
    std::string token_file;
    bool no_project = false;
    bool all = false;
    bool yes = false;
};

// Returns the hook in a command line, even a malformed one; nullopt: there is none.
std::optional<hook_event> hook_event_of(const std::vector<std::string>& words);

// Hook API 2: reads the task as a line of JSON (preceded by its former state if it was modified)
// and prints it, with its key if the server returns one in time, then a line for the user. A key
// that is not from the server is removed, since copies of a task have the original's. Throws
// nothing once the task is read.
void run_hook(session& s, hook_event event, const hook_choice& choice);

// As run_hook(), when it cannot be run: passes the task on with the reason.
void let_pass(const cli_context& around, hook_event event, const std::string& why);

// Sets the keys of tasks that were created without a server; with `all`, of all tasks without a key
// of their own. Not for hooks: Taskwarrior is working while they run.
void catch_up(session& s, const hook_choice& choice);

// Writes the hooks and their settings into Taskwarrior's data directory.
void install_hooks(session& s, const hook_choice& choice);

// Returns Taskwarrior's data directory outside hooks: choice, TASKDATA, that of `task`, ~/.task.
std::filesystem::path taskwarrior_data_dir(const session& s, const hook_choice& choice);

}  // namespace callsign::cli
