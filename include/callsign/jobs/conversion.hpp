#pragma once
// An opaque account becomes managed: somebody who has its secret gives it away. The history is read
// and opened in bounded steps, and put beside the sealed one in others; then one command puts it in
// its place. Until then nobody sees anything of it, and the account's clients go on as if nothing
// were. What a server that dies leaves of it is removed at the next start.

#include <callsign/domain/queries/sealed_chain.hpp>
#include <callsign/jobs/context.hpp>
#include <callsign/jobs/device_keys.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace callsign::jobs {

// What all existing replicas share is one device, under this name.
inline constexpr std::string_view converted_device_name = "shared";

struct converted {
    std::string account;
    manage_account::managed counts;
};
// The history does not open, or cannot be taken over.
struct history_fault {
    bool wrong_secret = false;
    std::string why;
};
// Another account is just being converted: a history is held in memory, so it is one at a time.
struct another_under_way {};
// Its clients add versions faster than they can be taken over.
struct outpaced {};
struct cancelled {};

using conversion_answer =
    std::variant<converted, no_such_account, account_is_managed, manage_account::no_history,
                 series_held, no_master_key, history_fault, another_under_way, outpaced, cancelled>;

// `secret`: as the account's clients have it; the caller's to wipe, and its frame's.
boost::asio::awaitable<result<conversion_answer>> convert_account(context& with, std::string name,
                                                                  const std::string& secret,
                                                                  actor by);

// What earlier runs of the server have left half done: opaque accounts have nothing taken over any
// more, and managed ones nothing sealed. How many there were. Before there can be conversions.
boost::asio::awaitable<result<std::int64_t>> finish_conversions(context& with);

}  // namespace callsign::jobs
