#pragma once
// What an edit by way of REST comes to on the tasks as they are.

#include "touched_tasks.hpp"

#include <variant>
#include <vector>

namespace callsign::rules {

struct planned_edit {
    uuid task{};
    std::vector<operation> operations;  // one at least
    touched_tasks tasks;                // they are carried out on these
};

// Writes nothing. An answer: it is refused, or changes nothing.
std::variant<edit_task::answer, planned_edit> plan(write_tx& tx, const edit_task& c,
                                                   const moment& m);

// The task as it is now, for who asked for the edit.
edit_task::edited edited(write_tx& tx, const edit_task& c, task now);

}  // namespace callsign::rules
