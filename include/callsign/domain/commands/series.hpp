#pragma once
// Series: creation, changes, and the import of numbers that another system assigned.

#include <callsign/domain/account.hpp>
#include <callsign/domain/author.hpp>
#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/commands/devices.hpp>
#include <callsign/domain/work.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace callsign {

// Another series of the account has or had the prefix.
struct prefix_taken {};
// Another series of the account is bound to the project.
struct project_taken {};
struct no_such_series {};

struct create_series {
    account_ref account;
    std::string prefix;
    std::string project{};
    reset_policy reset = reset_policy::never;
    std::string time_zone = "UTC";
    bool allows_gaps = false;
    std::int64_t next = 1;  // of the current period
    std::optional<request_key> once{};

    struct too_many_series {};
    using answer = std::variant<series, replayed<series>, key_conflict, prefix_taken, project_taken,
                                too_many_series, no_such_account, account_full>;
};

// Members without a value stay unchanged.
struct edit_series {
    account_ref account;
    std::string named;  // a present or former prefix
    std::optional<std::string> prefix{};
    std::optional<std::string> project{};  // empty: unbinds the series
    std::optional<reset_policy> reset{};
    std::optional<std::string> time_zone{};
    std::optional<bool> archived{};
    std::optional<bool> allows_gaps{};
    std::optional<std::int64_t> next{};  // of the current period
    std::optional<request_key> once{};

    // The series has assigned numbers, so that its reset policy cannot change.
    struct reset_is_settled {};
    // The default series cannot be archived: it takes what no other series does.
    struct default_stays {};
    struct next_too_low {
        std::int64_t least = 0;
    };
    // Numbers would be skipped, and the series allows no gaps.
    struct promises_no_gaps {};
    // Former prefixes resolve forever, so their number is limited.
    struct too_many_prefixes {};
    using answer =
        std::variant<series, replayed<series>, key_conflict, no_such_series, prefix_taken,
                     project_taken, reset_is_settled, default_stays, next_too_low, promises_no_gaps,
                     too_many_prefixes, no_such_account, account_full>;
};

// Updates the keys of tasks of a renamed series, as attributes and for readers. In steps.
struct update_keys {
    series_id series;
    std::size_t work_max = step_work_max;

    struct answer {
        bool has_more = false;
    };
};

// ---- numbers that another system assigned ----

// Imports tasks with their numbers: in each series and period after the last number, in order. All
// of them or, with errors, none. Tasks that have their number here already are left alone, so an
// interrupted import can be repeated.
struct import_numbers {
    static constexpr std::size_t rows_max = 250;

    struct row {
        std::string prefix{};
        std::int64_t number = 0;
        callsign::uuid uuid{};
        std::string title{};
        time_point created_at{};  // determines the period
        // The number before it that is imported too: lets a part of the numbers be checked alone.
        std::int64_t after = 0;
    };

    account_ref account;
    std::vector<row> rows{};
    bool check_only = false;
    std::size_t bytes = 0;  // of the received request
    callsign::author author{};

    enum class fault_kind : std::uint8_t {
        unknown_prefix,
        archived,
        number_taken,   // by another task
        uuid_taken,     // by a task with another key
        gap,            // numbers before it are missing, and the series allows no gaps
        period_passed,  // a later period has numbers already
        in_the_future,
    };
    struct fault {
        std::size_t row = 0;  // index in `rows`
        fault_kind kind = fault_kind::gap;
        std::string key{};  // what prevents the import, or is missing before it
    };
    struct done {
        std::int64_t imported = 0;
        std::int64_t there_already = 0;
    };
    struct rejected {
        std::vector<fault> faults;
    };
    using answer =
        std::variant<done, rejected, no_such_account, account_is_opaque, account_is_remote>;
};

}  // namespace callsign
