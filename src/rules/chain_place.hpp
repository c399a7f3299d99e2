#pragma once
// The place of a device that names a version as its last: on the chain or on a fork version.
//
// A device on a fork version has the chain up to where it left it, and its own versions after that.
// Ordinary reads rebase it: it receives each of the others' versions that it lacks, one at a time,
// without the operations that lost against its own. The state after each read has an ID, made of
// the fork version's ID and the seq up to which the chain was read. A device that lacks nothing up
// to its last own version is on the chain again.

#include <callsign/domain/missed.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/rules/transform.hpp>

#include <optional>

namespace callsign::rules {

struct chain_place {
    std::int64_t left_at = 0;  // the device has the chain up to here
    // On a fork version: the device's own versions, and the positions of operations that it need
    // not apply. The first own version is not the next one.
    std::vector<std::int64_t> own{};
    std::vector<chain_position> dropped{};

    // On a fork version: the ID of the next version as sent, and of the state after it.
    uuid after_next{};

    bool beside() const noexcept { return !own.empty(); }
};

// Returns nullopt if the account has no such version, or it has expired. The parent of the first
// version, nil unless the chain began on another server, is the place before it.
std::optional<chain_place> place_of(read_tx& tx, account_id account, const uuid& version);

// Returns another ID of the place `version`, for a device that must push before it pulls more. A
// place has two such IDs; given one, this returns the other. They set bits that are zero in UUIDs
// of RFC 9562, so no version of this server has such an ID.
uuid push_first_name(uuid version) noexcept;
bool is_push_first_name(const uuid& name) noexcept;
uuid version_of_name(uuid name) noexcept;

// Returns the ID of a fork version, from a generated UUID or the ID of a place on its way back:
// they differ in the last bytes. name_of_fork() returns the ID that a device there has.
uuid fork_name(uuid drawn) noexcept;
uuid name_of_fork(const fork_version& side) noexcept;

// Moves past the device's own versions that come next. Returns its seq if it is on the chain.
std::optional<std::int64_t> pass_own(chain_place& place);

// Removes the operations at `place.dropped` from `all`, those of the version after `place.left_at`.
void leave_out_dropped(const chain_place& place, std::vector<operation>& all);

// Returns the version with this seq, which the chain reaches. Throws store_failure if missing.
version version_at(read_tx& tx, account_id account, std::int64_t seq);

// Returns whether a device at `place` lacks this operation of the chain.
bool lacks(const chain_place& place, const chain_position& position) noexcept;

// Reads what a device at `place` has missed after `after`, up to `to` or to about `work_max`, at
// least one version. Keeps operations that can meet those sent, dropped ones included.
missed_changes read_missed(read_tx& tx, account_id account, device_id device,
                           const chain_place& place, const can_meet& sent, std::int64_t after,
                           std::int64_t to, std::size_t work_max);

}  // namespace callsign::rules
