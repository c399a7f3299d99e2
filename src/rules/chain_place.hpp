#pragma once
// Where a device is that names a version as its last: on the chain, or on a fork version.
//
// On a fork version it has the chain up to where it left it, and its own versions after that. It is
// rebased by the usual reads: each of the others' versions that it lacks, one at a time, without
// the operations that lost against its own. The state after each has an id too, made of the fork
// version's id and of how far the chain was read. When none is lacking up to its last own version,
// it is on the chain again.

#include <callsign/domain/missed.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/rules/transform.hpp>

#include <optional>

namespace callsign::rules {

struct chain_place {
    std::int64_t left_at = 0;  // it has the chain up to here
    // On a fork version: its own versions, and the positions it need not apply. The first of its
    // own is not the next one.
    std::vector<std::int64_t> own{};
    std::vector<chain_position> dropped{};

    // What is next to it calls itself so, and so does what comes when that was read.
    uuid after_next{};

    bool beside() const noexcept { return !own.empty(); }
};

// nullopt: the account has no such version, or has forgotten it. The parent of the first, which is
// nil unless the chain was begun elsewhere, is the place before it.
std::optional<chain_place> place_of(read_tx& tx, account_id account, const uuid& version);

// Another name of the place `version`, for a device that is to push before it pulls more. A place
// has two such names, and of one this gives the other. They have bits set that are zero in UUIDs of
// RFC 9562, so that no version of this server has such a name.
uuid push_first_name(uuid version) noexcept;
bool is_push_first_name(const uuid& name) noexcept;
uuid version_of_name(uuid name) noexcept;

// An id for a fork version, and what a device there calls it: the names of the places on the way
// back differ from the id in their last bytes.
uuid fork_name(uuid drawn) noexcept;
uuid name_of_fork(const fork_version& side) noexcept;

// Its own versions that are next, a device has. Returns where it is on the chain, if it is then.
std::optional<std::int64_t> pass_own(chain_place& place);

// `all` without those of `place.dropped`; they are the version's after `place.left_at`.
void leave_out_dropped(const chain_place& place, std::vector<operation>& all);

// The version of this seq. Throws store_failure: the chain goes so far, and it is not there.
version version_at(read_tx& tx, account_id account, std::int64_t seq);

// Whether somebody there lacks this operation of the chain.
bool lacks(const chain_place& place, const chain_position& position) noexcept;

// Reads what somebody at `place` has missed behind `after`, up to `to` or about as much as
// `work_max`, one version at least. Operations that are dropped there are among it.
missed_changes read_missed(read_tx& tx, account_id account, device_id device,
                           const chain_place& place, const can_meet& sent, std::int64_t after,
                           std::int64_t to, std::size_t work_max);

}  // namespace callsign::rules
