#pragma once
// What devices of managed accounts send and read: segments, opened and sealed with the device's
// key. Small ones where they arrive, larger ones beside the network thread: they would hold up
// everyone.

#include <callsign/domain/queries/content.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>
#include <callsign/jobs/context.hpp>
#include <callsign/seal/secret.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace callsign::jobs {

struct segment_fault {
    bool other_key = false;  // it does not open with the device's; else it is malformed
    std::string why;
};
using opened_segment = std::variant<std::vector<operation>, segment_fault>;

using opened_snapshot = std::variant<task_map, segment_fault>;

// `key` and `body` are the awaiting frame's, here and below. `bytes_max`: after opening.
boost::asio::awaitable<result<opened_segment>> open_segment(context& with, account_id account,
                                                            const seal::key& key, uuid parent,
                                                            std::string_view body,
                                                            std::size_t bytes_max);

// `bytes_max`: when it is inflated.
boost::asio::awaitable<result<opened_snapshot>> open_snapshot(context& with, account_id account,
                                                              const seal::key& key, uuid version,
                                                              std::string_view body,
                                                              std::size_t bytes_max);

boost::asio::awaitable<result<std::string>> seal_segment(context& with, account_id account,
                                                         const seal::key& key, uuid parent,
                                                         std::span<const operation> operations);

boost::asio::awaitable<result<std::string>> seal_snapshot(context& with, account_id account,
                                                          const seal::key& key, uuid version,
                                                          std::string_view packed);

// Appends all of it: one command after the other, each behind the version that the one before gave,
// until all is added or one is refused. What was added by then stays: the device, told of a
// failure, reads it as its own at its next sync, and sends the rest. `next`: without operations.
// What a device far behind has missed is read between the commands. errc::overloaded: there is no
// room for it.
boost::asio::awaitable<result<add_version::answer>> add_in_steps(context& with, add_version next,
                                                                 std::vector<operation> all,
                                                                 reserve_bytes reserve);

}  // namespace callsign::jobs
