#pragma once
// What purged tasks leave on the chain and in history is removed, a bounded step at a time. Devices
// from before still sync: operations keep their places, and end with the Delete they ended with.

#include <callsign/domain/account.hpp>
#include <callsign/domain/claim.hpp>
#include <callsign/domain/version.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace callsign {

// In the versions of these seqs (find_purged_text) nothing of what the account's tasks were stays.
// Without any: nor in history, and where that has come to its end, the purges are over.
struct scrub_purged {
    account_id account;
    std::vector<purge> tasks;  // the account's
    std::vector<std::int64_t> versions{};
    std::size_t bytes = 0;  // of those versions, about
    std::size_t work_max = std::size_t{1} << 20;

    struct answer {
        std::size_t over = 0;  // purges, the first of `tasks`
    };
};
claim claim_of(const scrub_purged& c);

// What was removed until now leaves the log as well.
struct clear_log {
    struct answer {};
};
claim claim_of(const clear_log& c);

}  // namespace callsign
