#pragma once
// Purged tasks whose text is still on the chain, and where it is.

#include <callsign/domain/account.hpp>
#include <callsign/domain/version.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace callsign {

// Purges of the first account after `after` that has any, as many as one pass over its chain takes.
struct find_purged {
    account_id after;
    std::int64_t limit = 10'000;

    struct answer {
        account_id account;
        std::vector<purge> tasks;             // empty: no account has any
        std::optional<std::int64_t> after{};  // no version up to this seq concerns them
    };
};

// The versions after seq `after` with text of these tasks, as far as `work_max` bytes allow.
struct find_purged_text {
    account_id account;
    std::vector<purge> tasks;
    std::int64_t after = 0;
    std::size_t work_max = std::size_t{1} << 20;

    struct answer {
        std::vector<std::int64_t> versions;
        std::size_t bytes = 0;             // of those versions, approximately
        std::optional<std::int64_t> next;  // resume after it; none: done
    };
};

}  // namespace callsign
