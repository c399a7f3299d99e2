#pragma once
// The writer's transaction: what the rules change, on the disk and in what the writer remembers.
// Ended without a commit, it leaves both as they were.

#include "write_state.hpp"

#include <callsign/ports/store.hpp>

#include <memory>

namespace callsign::sqlite {

// One at a time; `state` outlives it. Throws store_failure.
std::unique_ptr<write_tx> begin_write(write_state& state);
// As store::prove_writable().
void prove_writable(write_state& state);

}  // namespace callsign::sqlite
