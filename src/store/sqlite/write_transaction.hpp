#pragma once
// The writer's transaction: changes the file and the writer's state. Without a commit, both stay
// unchanged.

#include "write_state.hpp"

#include <callsign/ports/store.hpp>

#include <memory>

namespace callsign::sqlite {

// Requires: no other write transaction is open. `state` outlives it. Throws store_failure.
std::unique_ptr<write_tx> begin_write(write_state& state);
// As embedded_store::prove_writable().
void prove_writable(write_state& state);

}  // namespace callsign::sqlite
