#pragma once
// A store that was put back from a backup is not the one that was lost: numbers that were given
// since are not in it, and a phone or a sheet of paper may have them.

#include <callsign/base/uuid.hpp>
#include <callsign/domain/claim.hpp>
#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/commands/devices.hpp>
#include <callsign/domain/commands/series.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace callsign {

// It is another instance from now on, and every series that gives numbers of its own is held.
// (Accounts that live on another server have their tasks, and their keys, from there.)
struct begin_restored {
    uuid instance{};

    struct answer {
        std::int64_t held = 0;
    };
};
claim claim_of(const begin_restored& c);

// The series goes on at this number, or the next; what is left out on the way is nobody's.
struct resume_series {
    account_ref account;
    std::string named;  // its prefix, or one it had
    std::optional<std::int64_t> at{};

    struct not_held {};
    using answer = std::variant<series, not_held, edit_series::next_too_low, no_such_series,
                                no_such_account>;
};
claim claim_of(const resume_series& c);

}  // namespace callsign
