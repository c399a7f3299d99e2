#pragma once
// Remote accounts.

#include <callsign/domain/remote_chain.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace callsign {

struct list_remotes {
    account_id after{};
    std::int64_t limit = 500;

    using answer = std::vector<remote_chain>;
};

struct find_remote {
    account_id account;

    struct found {
        remote_chain remote;
        outbox_tally waiting;
        std::int64_t seq = 0;  // of the mirror
    };
    using answer = std::optional<found>;  // none: the account is local
};

// Accounts with creations in flight, by name; at most listed_max.
struct list_in_flight {
    static constexpr std::size_t listed_max = 100;

    struct of_account {
        std::string account;
        outbox_tally waiting;
    };
    using answer = std::vector<of_account>;
};

// Whether the mirror has ever had one of these versions of the remote.
struct knows_version {
    account_id account;
    std::vector<uuid> versions{};

    using answer = bool;
};

}  // namespace callsign
