#pragma once
// Resolves names that clients use.

#include <callsign/domain/account.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/ports/store.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace callsign::rules {

// Returns none if there is no such account.
std::optional<account> resolve(read_tx& tx, const account_ref& ref);

// Accepts a UUID, or a key with a current or former prefix of a series.
std::variant<task, ref_fault> resolve(read_tx& tx, account_id account, const task_ref& ref);

// Returns the series as clients see it: in the period of that instant.
series at_instant(series s, time_point now);

// Returns the tag of the task's state.
task_tag tag_of(read_tx& tx, const task& t);

// What a task shows of other rows, each read once: a page has many tasks of few authors and series.
class task_display {
  public:
    explicit task_display(read_tx& tx) : tx_(tx) {}

    const std::string& name_of(const author& by);
    // Returns the task as clients see it: with its author's name and its tag.
    task shown(task t);

  private:
    read_tx& tx_;
    std::map<author, std::string> names_;
    std::map<std::string, std::uint32_t> stamps_;  // by prefix
};

// Dependencies of a task.
struct resolved_depends {
    std::vector<uuid> tasks;
    std::vector<std::pair<task_ref, ref_fault>> faults;
};

// `itself`: the task with the dependencies.
resolved_depends resolve_depends(read_tx& tx, account_id account, const std::vector<task_ref>& refs,
                                 const uuid& itself = {});

}  // namespace callsign::rules
