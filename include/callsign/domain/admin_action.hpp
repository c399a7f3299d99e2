#pragma once
// The audit log: changes of accounts, tokens, devices, series and the server, with their actors. It
// contains no task content and no changes of tasks: these are in the tasks' history.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace callsign {

// The actor of a change; by default the server itself.
struct actor {
    std::optional<token_id> token{};
    std::string name{};                   // the token's, as it was then
    std::optional<account_id> account{};  // of the token; none: an operator token
    std::string address{};                // client address, as in the request log

    friend bool operator==(const actor&, const actor&) = default;
};

// Contains no secrets and no task content. Names are as they were at that time.
struct admin_action {
    action_id id;
    time_point at;
    actor by;
    std::string what;  // such as "token-created"
    // The account concerned; none: the server.
    std::optional<account_id> account{};
    std::string account_name{};
    std::string subject{};  // such as "laptop"

    friend bool operator==(const admin_action&, const admin_action&) = default;
};

// Actions retained of those made with an account's own tokens; the oldest are removed first. So an
// account can neither fill the disk nor displace other accounts' actions.
inline constexpr std::int64_t account_actions_kept = 10'000;

}  // namespace callsign
