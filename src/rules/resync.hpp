#pragma once
// Handles a device that is ahead of the backup from which the store was restored: the store does
// not have the version that the device names, nor its latest changes.
//
// A stock client sends a snapshot of all it has, if requested, right after a segment was accepted
// and before it reads on. It sends a segment only after a change on the device. Therefore:
//
//   get-child(its version) -> ahead:    a task for its user to complete; the device is at `ahead`
//   get-child(ahead)       -> none
//   add-version(ahead)     -> sent:     nothing is applied, a snapshot is requested
//   add-snapshot(sent)     merged:      what the store lacks becomes versions at the chain's end
//   get-child(sent)        -> cleared:  the task is deleted
//   get-child(cleared)     -> the version after the backup's last, and on along the chain
//
// If its sync breaks off, the client keeps none of it and begins again.

#include <callsign/rules/rules.hpp>

#include <vector>

namespace callsign::rules {

// Derived from the instance, so that each restore has its own.
struct resync_versions {
    uuid ahead{};
    uuid sent{};
    uuid cleared{};
    uuid note{};  // ID of the task
};
resync_versions resync_versions_of(const uuid& instance) noexcept;

// Returns whether `version` was generated after the last version of the backup, by its time
// (UUIDv7). An unknown version that is older belongs to expired history.
bool is_ahead(read_tx& tx, account_id account, const uuid& version, const resync& since);

// Returns the operations that create the task for the device's user.
std::vector<operation> note_operations(const uuid& instance);

// Resumes held series of the account if no expected device is missing and at least one was ahead.
// Returns the number of series.
std::int64_t resume_when_all_are_back(write_tx& tx, account_id account, const moment& m);

void set_resync(write_tx& tx, const device& d, resync::state state, const moment& m);

}  // namespace callsign::rules
