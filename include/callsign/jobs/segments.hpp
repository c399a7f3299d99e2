#pragma once
// Segments and snapshots of managed accounts' devices, encrypted and decrypted with the device's
// key. Small segments on the network thread; the rest is offloaded, since it would block that
// thread.

#include <callsign/domain/queries/content.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>
#include <callsign/jobs/context.hpp>
#include <callsign/seal/secret.hpp>
#include <callsign/wire/envelope.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace callsign::jobs {

// `key` and `body` must outlive the call. `bytes_max`: after decryption.
boost::asio::awaitable<result<wire::opened_segment>> open_segment(context& with, account_id account,
                                                                  const seal::key& key, uuid parent,
                                                                  std::string_view body,
                                                                  std::size_t bytes_max);

// `key` and `body` must outlive the call. `bytes_max`: after decompression.
boost::asio::awaitable<result<wire::opened_snapshot>> open_snapshot(
    context& with, account_id account, const seal::key& key, uuid version, std::string_view body,
    std::size_t bytes_max);

boost::asio::awaitable<result<std::string>> seal_segment(context& with, account_id account,
                                                         const seal::key& key, uuid parent,
                                                         std::span<const operation> operations);

boost::asio::awaitable<result<std::string>> seal_snapshot(context& with, account_id account,
                                                          const seal::key& key, uuid version,
                                                          std::string_view packed);

// Appends all operations, one command after another, each behind the version that the one before
// returned, until all are added or one is rejected. Versions added by then stay: a device that gets
// an error pulls them as its own at its next sync, and pushes the rest. `next`: without operations.
// What a device far behind has missed is read between the commands. errc::overloaded: no memory
// left.
boost::asio::awaitable<result<add_version::answer>> add_in_steps(context& with, add_version next,
                                                                 std::vector<operation> all,
                                                                 reserve_bytes reserve);

}  // namespace callsign::jobs
