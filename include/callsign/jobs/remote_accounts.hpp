#pragma once
// Accounts whose tasks live on another server: how one comes to be, is changed, and comes here.

#include <callsign/engine/outbox.hpp>
#include <callsign/jobs/context.hpp>
#include <callsign/jobs/device_keys.hpp>

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <variant>

namespace callsign::jobs {

// Asks a server. nullptr: the URL is none.
using sink_opener = std::function<std::unique_ptr<task_sink>(
    const std::string& url, const uuid& client_id, std::shared_ptr<const seal::key> key)>;

struct remote_server {
    std::string url;
    uuid client_id{};
    std::string secret;  // the caller's to wipe
};

// The server was asked, and this is why it is of no use as it is.
struct remote_fault {
    sink_failure::kind why = sink_failure::kind::unreachable;
    std::string text;
};

// Makes the account, once the server was seen to answer, and what it keeps to open with the secret.
using connect_answer = std::variant<create_account::answer, remote_fault, no_master_key>;
boost::asio::awaitable<result<connect_answer>> connect_account(context& with,
                                                               const sink_opener& open,
                                                               create_account wanted,
                                                               const remote_server& at, actor by);

// What is not given stays.
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

// A managed account moves there. Where nothing is yet its tasks follow; how far they are, the
// account's row tells. Otherwise the server must know the account's last version, by its devices.
// Asked for again, it changes nothing.
struct remote_not_empty {};
using move_there_answer =
    std::variant<move_there::answer, remote_fault, remote_not_empty, no_master_key>;
boost::asio::awaitable<result<move_there_answer>> move_account_there(
    context& with, const sink_opener& open, account_id account, const remote_server& at, actor by);

// Its history is taken over: the account lives here. Refused unless the mirror is all that the
// server has, and nothing is on its way there.
struct remote_unreachable {};
using move_here_answer = std::variant<move_here::answer, remote_unreachable>;
boost::asio::awaitable<result<move_here_answer>> move_account_here(context& with, outbox& outbox,
                                                                   account_id account, actor by);

}  // namespace callsign::jobs
