#pragma once
// Keeps the key attributes of tasks in remote accounts correct, through the outbox. If another
// writer corrects them too, the number of attempts is limited (domain/remote_chain.hpp).

#include <callsign/rules/rules.hpp>

#include <optional>

namespace callsign::rules {

// Updates the outbox after a change of the task on the mirror. `before`: null if the task is new.
void keep_key_effect(write_tx& tx, const task& numbered, const attributes* before,
                     const attributes& now, const moment& m);

// Removes the outbox entry of a deleted task.
void drop_key_effect(write_tx& tx, const task& gone);

// Returns the operation that corrects the key; none: it is correct, or the task does not exist.
std::optional<operation> key_operation(write_tx& tx, const effect& waiting, const moment& m);

}  // namespace callsign::rules
