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

// The names of authors, each read once: a page has many tasks of few authors.
class author_names {
  public:
    explicit author_names(read_tx& tx) : tx_(tx) {}

    const std::string& of(const author& by);
    // Returns the task as clients see it: with its author's name.
    task shown(task t) {
        t.author_name = of(t.author);
        return t;
    }

  private:
    read_tx& tx_;
    std::map<author, std::string> known_;
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
