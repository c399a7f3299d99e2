#pragma once
// Converts an opaque account to a managed one, with the account's secret. The history is read and
// decrypted in bounded steps, and stored beside the sealed chain in others; then one command makes
// it the account's chain. Until then it is not visible, and the account's clients sync as before.
// What an interrupted conversion left is removed at the next start.

#include <callsign/domain/queries/sealed_chain.hpp>
#include <callsign/jobs/context.hpp>
#include <callsign/jobs/device_keys.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace callsign::jobs {

// All existing replicas become one device of this name.
inline constexpr std::string_view converted_device_name = "shared";

struct converted {
    std::string account;
    manage_account::managed counts;
};
// The history cannot be decrypted or converted.
struct history_fault {
    bool wrong_secret = false;
    std::string why;
};
// Another account is being converted: a history is held in memory, so only one is at a time.
struct another_under_way {};
// Clients add versions faster than these are converted.
struct outpaced {};
struct cancelled {};

using conversion_answer =
    std::variant<converted, no_such_account, account_is_managed, manage_account::no_history,
                 series_held, no_master_key, history_fault, another_under_way, outpaced, cancelled>;

// `secret`: as configured in the account's clients. It must outlive the call, and the caller wipes
// it.
boost::asio::awaitable<result<conversion_answer>> convert_account(context& with, std::string name,
                                                                  const std::string& secret,
                                                                  actor by);

// Cleans up after conversions that earlier runs did not finish: deletes the converted versions of
// opaque accounts, and the sealed ones of managed accounts. Returns how many accounts. Requires: no
// conversion has begun.
boost::asio::awaitable<result<std::int64_t>> finish_conversions(context& with);

}  // namespace callsign::jobs
