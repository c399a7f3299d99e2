#pragma once
// Chains, and what follows a version on the chain of a managed account.

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

// No version follows yet.
struct up_to_date {
    std::int64_t from = 0;  // the seq of the last version
};
// The version is none of this account, or is not retained.
struct unknown_version {};

// What follows `parent`, for a device that has it.
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

        // The operations, if others sent them; otherwise none.
        std::span<const operation> others() const {
            return std::span(operations).first(is_by_others ? operations.size() : 0);
        }
    };
    // The device must push what it has before it pulls more: it gets a version without operations,
    // whose ID is another name of its position. `head`: the last version now.
    struct push_first {
        uuid name{};
        std::int64_t head = 0;
        std::int64_t from = 0;
    };
    // The device has more than the backup that the store was restored from. It gets a task with
    // instructions: changing that task, or any other, makes it send what it has.
    struct ahead : next_version {};
    // The device has that task.
    struct awaits_change {};
    // The device has sent a change, but not yet its snapshot.
    struct awaits_snapshot {};
    using answer = std::variant<next_version, up_to_date, unknown_version, push_first, ahead,
                                awaits_change, awaits_snapshot>;
};

// Reads what a device at `parent` lacks of the chain after `after`, as far as it concerns `sent`:
// up to the last version or about `work_max`, at least one version.
struct find_missed {
    account_id account;
    uuid client_id{};
    uuid parent{};
    std::int64_t after = 0;             // versions up to here were read before
    std::span<const operation> sent{};  // must outlive the query
    std::size_t work_max = std::size_t{8} << 20;

    struct found {
        missed_changes next;
        bool is_all = false;  // no version follows
    };
    using answer = std::variant<found, unknown_version>;
};

// The versions after `after`, in order, as many as `work_max` allows; empty: there are none.
struct read_versions {
    account_id account;
    std::int64_t after = 0;
    std::size_t work_max = step_work_max;  // at least one is read

    using answer = std::vector<version>;
};

}  // namespace callsign
