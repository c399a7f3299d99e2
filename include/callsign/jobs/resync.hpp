#pragma once
// A device that is further than the backup which the store was put back from has sent a snapshot of
// all it has: it is merged one command after the other.

#include <callsign/domain/task.hpp>
#include <callsign/jobs/context.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstddef>

namespace callsign::jobs {

// Each holds its account's tasks in memory.
inline constexpr std::size_t resyncs_at_once_max = 2;

// First what brings a key, and what was there; then, when all devices are back and the series go
// on, what needs one. `its`: without tasks. A series that is held still, as others are missing, is
// told of in the answer: the same snapshot may come again then. errc::overloaded: as many are under
// way as may be.
boost::asio::awaitable<result<merge_snapshot::answer>> merge_in_steps(context& with,
                                                                      merge_snapshot its,
                                                                      task_map tasks);

}  // namespace callsign::jobs
