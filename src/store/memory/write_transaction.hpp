#pragma once
// The writer's transaction: it changes a copy of the rows and gives it over at its commit. Copying
// it all is what makes isolation plain, and tests' states are small.

#include "rows.hpp"

#include <callsign/ports/store.hpp>

#include <functional>
#include <memory>

namespace callsign::memory {

using committer = std::function<void(std::shared_ptr<rows>, bool durable)>;

// `forgotten` counts those that wrote and are dropped without a commit; it outlives them.
std::unique_ptr<write_tx> begin_write(std::shared_ptr<rows> copy, committer commit, int* forgotten);

}  // namespace callsign::memory
