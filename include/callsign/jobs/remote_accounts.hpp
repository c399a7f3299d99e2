#pragma once
// Remote accounts: how they are created and changed, and move to and from a remote server.

#include <callsign/engine/outbox.hpp>
#include <callsign/jobs/context.hpp>
#include <callsign/jobs/device_keys.hpp>

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <variant>

namespace callsign::jobs {

// Opens a chain on a remote server. Returns nullptr if the URL is invalid.
using sink_opener = std::function<std::unique_ptr<task_sink>(
    const std::string& url, const uuid& client_id, std::shared_ptr<const seal::key> key)>;

struct remote_server {
    std::string url;
    uuid client_id{};
    std::string secret;  // to be wiped by the caller
};

// Why the remote server, which was queried, cannot be used.
struct remote_fault {
    sink_failure::kind why = sink_failure::kind::unreachable;
    std::string text;
};

// Creates the account, once the server has responded and its data could be decrypted with the
// secret.
using connect_answer = std::variant<create_account::answer, remote_fault, no_master_key>;
boost::asio::awaitable<result<connect_answer>> connect_account(context& with,
                                                               const sink_opener& open,
                                                               create_account wanted,
                                                               const remote_server& at, actor by);

// What is empty stays as it is.
struct remote_changes {
    std::string url;
    std::string secret;
    bool accept_loss = false;
};
using change_remote_answer = std::variant<edit_remote::answer, remote_fault, no_master_key>;
boost::asio::awaitable<result<change_remote_answer>> change_remote(context& with,
                                                                   const sink_opener& open,
                                                                   account_id account,
                                                                   const remote_changes& changes,
                                                                   actor by);

// Moves a managed account to a remote server. If that has no versions yet, the account's tasks are
// sent there; the account's row has the progress. Otherwise it must know the account's last
// version, from the devices. Repeated, it changes nothing.
struct remote_not_empty {};
using move_to_remote_answer =
    std::variant<move_to_remote::answer, remote_fault, remote_not_empty, no_master_key>;
boost::asio::awaitable<result<move_to_remote_answer>> move_account_to_remote(
    context& with, const sink_opener& open, account_id account, const remote_server& at, actor by);

// Moves the account to this server, with its history. Rejected unless the mirror is up to date and
// nothing is in flight.
struct remote_unreachable {};
using move_to_local_answer = std::variant<move_to_local::answer, remote_unreachable>;
boost::asio::awaitable<result<move_to_local_answer>> move_account_to_local(context& with,
                                                                           outbox& outbox,
                                                                           account_id account,
                                                                           actor by);

}  // namespace callsign::jobs
