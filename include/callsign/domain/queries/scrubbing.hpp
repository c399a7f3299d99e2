#pragma once
// Which tasks were purged and still have text on the chain, and where.

#include <callsign/domain/account.hpp>
#include <callsign/domain/claim.hpp>
#include <callsign/domain/version.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace callsign {

// Some of the first account after `after` that has any: as many as one reading of its chain is for.
struct find_purged {
    account_id after;
    std::int64_t limit = 10'000;

    struct answer {
        account_id account;
        std::vector<purge> tasks;             // none: no account has any
        std::optional<std::int64_t> after{};  // no version up to this seq is about them
    };
};
claim claim_of(const find_purged& q);

// The account's versions after seq `after` that say what these tasks were, as far as `work_max`
// goes, in bytes.
struct find_purged_text {
    account_id account;
    std::vector<purge> tasks;
    std::int64_t after = 0;
    std::size_t work_max = std::size_t{1} << 20;

    struct answer {
        std::vector<std::int64_t> versions;
        std::size_t bytes = 0;             // of them, about
        std::optional<std::int64_t> next;  // where to go on; none: that was all
    };
};
claim claim_of(const find_purged_text& q);

}  // namespace callsign
