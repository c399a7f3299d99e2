#pragma once
// Plans REST edits on the current tasks.

#include "touched_tasks.hpp"

#include <variant>
#include <vector>

namespace callsign::rules {

struct planned_edit {
    uuid task{};
    std::vector<operation> operations;  // at least one
    touched_tasks tasks;                // with `operations` carried out
};

// Writes nothing. Returns an answer if the edit is rejected or changes nothing.
std::variant<edit_task::answer, planned_edit> plan(write_tx& tx, const edit_task& c,
                                                   const moment& m);

// Keeps the outcome of an edit that changes nothing, if it has a request key. Returns its answer.
edit_task::answer kept_answer(write_tx& tx, const edit_task& c, edit_task::answer settled,
                              const moment& m);

// Returns the response to an edit: the task, without its attributes beyond `shown_bytes_max`.
edit_task::edited edited(write_tx& tx, const edit_task& c, task now);

}  // namespace callsign::rules
