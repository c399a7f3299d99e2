#pragma once
// The writer's transaction: applies its changes to a copy of the rows and hands the copy over at
// commit. Copying whole tables keeps isolation simple; states in tests are small.

#include "rows.hpp"

#include <callsign/ports/store.hpp>

#include <functional>
#include <memory>

namespace callsign::memory {

// The rows are null if nothing was changed.
using committer = std::function<void(std::shared_ptr<rows>, bool durable)>;

// `forgotten` counts transactions that wrote and were dropped without a commit; it outlives them.
std::unique_ptr<write_tx> begin_write(std::shared_ptr<rows> copy, committer commit, int* forgotten);

}  // namespace callsign::memory
