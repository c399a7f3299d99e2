#pragma once
// A store that was put back from a backup is not the one that was lost: numbers that were given
// since are not in it, and a phone or a sheet of paper may have them.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/claim.hpp>
#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/commands/chain.hpp>
#include <callsign/domain/commands/devices.hpp>
#include <callsign/domain/commands/series.hpp>
#include <callsign/domain/commands/tasks.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace callsign {

// It is another instance from now on, and every series that gives numbers of its own is held.
// (Accounts that live on another server have their tasks, and their keys, from there.)
struct begin_restored {
    uuid instance{};
    time_point backup_made_at{};

    struct answer {
        std::int64_t held = 0;
    };
};
claim claim_of(const begin_restored& c);

// The series goes on at this number, or the next; what is left out on the way is nobody's. Tasks
// that came meanwhile get the first numbers.
struct resume_series {
    account_ref account;
    std::string named;  // its prefix, or one it had
    std::optional<std::int64_t> at{};

    struct not_held {};
    using answer =
        std::variant<series, not_held, edit_series::next_too_low, no_such_series, no_such_account>;
};
claim claim_of(const resume_series& c);

// Series that are resumed and numbering, whoever's: the next one after `after`.
struct find_numbering {
    series_id after;

    struct answer {
        std::optional<series_id> series{};  // none: that was all
    };
};
claim claim_of(const find_numbering& q);

// Gives numbers to tasks that came while the series was held. In steps.
struct number_tasks {
    series_id series;
    std::size_t work_max = step_work_max;

    struct answer {
        bool has_more = false;
    };
};
claim claim_of(const number_tasks& c);

// All that a device has which was further than the backup, some of it at a time: new tasks come to
// be, with the keys that they bring; of others what it has changed and the store has not, since the
// backup, is taken over, and where both have, what is of the later `modified`: an annotation keeps
// the other. It may be sent again.
struct merge_snapshot {
    uuid client_id{};
    uuid version{};  // that it is of
    std::vector<import_tasks::imported_task> tasks{};
    account_id account{};   // whose share of the queue it takes
    std::size_t bytes = 0;  // of the snapshot they came in
    std::size_t work_max = step_work_max;

    struct done {
        std::size_t taken = 0;  // of `tasks`, from the first
    };
    // It was not asked for.
    struct not_awaited {};
    using answer = std::variant<done, not_awaited, no_such_client, device_revoked>;
};
claim claim_of(const merge_snapshot& c);

// Tasks that are not in the snapshot: those that the backup has were purged on the device, and are
// made there again, for that is not known of any other. Some of them at a time.
struct tell_again {
    uuid client_id{};
    uuid version{};  // of the snapshot
    std::vector<uuid> tasks{};
    account_id account{};
    std::size_t work_max = step_work_max;

    struct done {
        std::size_t taken = 0;  // of `tasks`, from the first
    };
    using answer = std::variant<done, merge_snapshot::not_awaited, no_such_client, device_revoked>;
};
claim claim_of(const tell_again& c);

// What a device alone had is here, or it had nothing: `ahead` says which. When none is missing any
// more, and one was ahead, held series of its account go on behind the numbers that were brought.
struct end_resync {
    uuid client_id{};
    account_id account{};
    bool ahead = false;

    struct done {
        std::int64_t resumed = 0;  // series
    };
    struct not_expected {};
    using answer = std::variant<done, not_expected, no_such_client, device_revoked>;
};
claim claim_of(const end_resync& c);

}  // namespace callsign
