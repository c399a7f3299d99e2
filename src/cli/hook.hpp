#pragma once
// The keys of an opaque account's tasks: the hooks its Taskwarriors run, what is made up for later,
// and how the hooks get there. Taskwarrior refuses what a hook fails on, so a hook lets its task
// pass whatever happens, and waits for nothing longer than its time.

#include "session.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace callsign::cli {

enum class hook_event : std::uint8_t { add, modify };

// What is empty is not said.
struct hook_choice {
    std::vector<std::string> words;  // as Taskwarrior passes them: api:2 ... data:DIR ...
    std::string data_dir;            // Taskwarrior's
    std::string attribute;
    std::string task_program = "task";
    std::string token_file;
    bool no_project = false;
    bool all = false;
    bool yes = false;
};

// Of a command line, whether it is well-formed or not; nullopt: it is none of a hook.
std::optional<hook_event> hook_event_of(const std::vector<std::string>& words);

// Hook API 2: the task comes in as a line of JSON (before it, if it is modified, the one it was)
// and goes out as one, with its key if the server gives one in time; then a line for people. A key
// that is not the server's does not stay: copies of a task bring along that of another. Nothing
// thrown once the task is read.
void run_hook(session& s, hook_event event, const hook_choice& choice);

// The same when nothing is known but why it cannot be done.
void let_pass(const surroundings& around, hook_event event, const std::string& why);

// Gives those their keys that were without a server; with `all`, every task that has none or shares
// one. No hook does that: Taskwarrior is at work while it runs.
void catch_up(session& s, const hook_choice& choice);

// Writes the hooks and what they go by into Taskwarrior's data directory.
void install_hooks(session& s, const hook_choice& choice);

// Taskwarrior's, for those that it has not told: the choice, TASKDATA, what `task` says, ~/.task.
std::filesystem::path taskwarrior_data_dir(const session& s, const hook_choice& choice);

}  // namespace callsign::cli
