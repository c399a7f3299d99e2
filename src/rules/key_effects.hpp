#pragma once
// The key attributes of tasks that live elsewhere: put right there by versions of ours, by way of
// the outbox. Another writer who corrects them too is met so often and no more
// (domain/remote_chain.hpp).

#include <callsign/rules/rules.hpp>

#include <optional>

namespace callsign::rules {

// A change of the task is on the mirror: what it means for its key. `before`: none, it is new.
void keep_key_effect(write_tx& tx, const task& numbered, const attributes* before,
                     const attributes& now, const moment& m);

// The task is gone.
void drop_key_effect(write_tx& tx, const task& gone);

// What puts it right; none: it is right, or there is no such task any more.
std::optional<operation> key_operation(write_tx& tx, const effect& waiting, const moment& m);

}  // namespace callsign::rules
