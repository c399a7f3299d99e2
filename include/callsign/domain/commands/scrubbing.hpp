#pragma once
// Removes the text of purged tasks from the chain and from history, in bounded steps. Devices that
// are behind can still sync: operations keep their positions, and end with the same Delete.

#include <callsign/domain/account.hpp>
#include <callsign/domain/version.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace callsign {

// Scrubs the text of the tasks in these versions (found by find_purged_text). Without versions: in
// history, and removes the purges whose history is finished.
struct scrub_purged {
    account_id account;
    std::vector<purge> tasks;  // all of the account
    std::vector<std::int64_t> versions{};
    std::size_t bytes = 0;  // of those versions, approximately
    std::size_t work_max = std::size_t{1} << 20;

    struct answer {
        std::size_t over = 0;  // purges that were finished, the first of `tasks`
    };
};

// Requests that everything removed so far leaves the WAL as well.
struct clear_log {
    struct answer {};
};

}  // namespace callsign
