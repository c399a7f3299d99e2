#pragma once
// The audit log: who changed what about accounts, tokens, devices, series and the server. What
// tasks say and who changed them is not here: their history has it.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace callsign {

// Who asks for a change. The default: the server itself.
struct actor {
    std::optional<token_id> token{};
    std::string name{};                   // the token's, as it was then
    std::optional<account_id> account{};  // whose token it is; none: an operator's
    std::string address{};                // whence it asked, as the request log has it

    friend bool operator==(const actor&, const actor&) = default;
};

// It holds no secret and nothing that tasks say. Names are as they were then.
struct admin_action {
    action_id id;
    time_point at;
    actor by;
    std::string what;  // "token-created"
    // What it was about: an account, or (none) the server.
    std::optional<account_id> account{};
    std::string account_name{};
    std::string subject{};  // "laptop"

    friend bool operator==(const admin_action&, const admin_action&) = default;
};

// What is kept of the actions that an account's own tokens did: beyond it the oldest go. An
// account cannot fill the disk so, nor push out what others did.
inline constexpr std::int64_t account_actions_kept = 10'000;

}  // namespace callsign
