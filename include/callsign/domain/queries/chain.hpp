#pragma once
// Chains, and what comes after a version on a managed account's.

#include <callsign/domain/claim.hpp>
#include <callsign/domain/commands/tasks.hpp>
#include <callsign/domain/device.hpp>
#include <callsign/domain/missed.hpp>
#include <callsign/domain/sealed.hpp>
#include <callsign/domain/sync_session.hpp>
#include <callsign/domain/version.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace callsign {

struct find_head {
    account_id account;

    using answer = chain_head;
};
claim claim_of(const find_head& q);

// Nothing comes after it yet.
struct up_to_date {
    std::int64_t from = 0;  // the last version's
};
// It is no version of this account's, or one that is not kept.
struct unknown_version {};

// What comes after `parent`, to a device that has that.
struct find_child {
    account_id account;
    uuid parent{};
    std::optional<callsign::resync> resync{};  // the device's
    device_id device{};                        // zero: no version is its own
    sync_position at{};

    struct next_version {
        uuid id{};
        std::vector<operation> operations;
        bool is_by_others = false;  // neither the device's own nor the server's
        std::int64_t from = 0;      // the device has the chain up to here

        // What others changed.
        std::span<const operation> others() const {
            return std::span(operations).first(is_by_others ? operations.size() : 0);
        }
    };
    // The device is to push what it has before it pulls more: it is given no operations, and
    // another name for what it has. `head` is the last version now.
    struct push_first {
        uuid name{};
        std::int64_t head = 0;
        std::int64_t from = 0;
    };
    // The device is further than the backup that the store was put back from. It is given a task
    // that says so: to change that, or another, makes it send what it has.
    struct ahead : next_version {};
    // It has that task.
    struct awaits_change {};
    // It has sent something, and not what the store lacks.
    struct awaits_snapshot {};
    using answer = std::variant<next_version, up_to_date, unknown_version, push_first, ahead,
                                awaits_change, awaits_snapshot>;
};
claim claim_of(const find_child& q);

// What a device at `parent` lacks of the chain behind `after`, for what it sends there, up to the
// last version or about as much as `work_max`; one version at least is read.
struct find_missed {
    account_id account;
    uuid client_id{};
    uuid parent{};
    std::int64_t after = 0;             // what comes before is known
    std::span<const operation> sent{};  // outlives the query
    std::size_t work_max = std::size_t{8} << 20;

    struct found {
        missed_changes next;
        bool is_all = false;  // there was no version behind it
    };
    using answer = std::variant<found, unknown_version>;
};
claim claim_of(const find_missed& q);

// The versions after `after`, in order, a bounded number at a time; none: that was all.
struct read_versions {
    account_id account;
    std::int64_t after = 0;
    std::size_t work_max = step_work_max;  // one at least is read

    using answer = std::vector<version>;
};
claim claim_of(const read_versions& q);

}  // namespace callsign
