#pragma once
// Merges the snapshot of a device that was ahead of the backup which the store was restored from,
// one command after another.

#include <callsign/domain/task.hpp>
#include <callsign/jobs/context.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstddef>

namespace callsign::jobs {

// Each holds its account's tasks in memory.
inline constexpr std::size_t resyncs_at_once_max = 2;

// Merges the tasks, recreates on the device those that its snapshot lacks, then ends the device's
// resync. `its`: without tasks. errc::overloaded: too many are in progress.
boost::asio::awaitable<result<merge_snapshot::answer>> merge_in_steps(context& with,
                                                                      merge_snapshot its,
                                                                      task_map tasks);

}  // namespace callsign::jobs
