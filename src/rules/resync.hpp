#pragma once
// A device that is further than the backup which the store was put back from: the store does not
// know the version that it asks about, and it has changes that no version here says.
//
// A stock client sends a snapshot of all it has, if it is asked to, right after a segment was
// taken, before it reads on; and a segment it sends only if something was changed on it. So it goes
// this way:
//
//   get-child(its version) -> ahead:    a task for its user to complete; it stands at `ahead`
//   get-child(ahead)       -> none
//   add-version(ahead)     -> sent:     nothing is carried out, a snapshot is asked for
//   add-snapshot(sent)     merged:      what the store lacks becomes versions at its end
//   get-child(sent)        -> cleared:  the task goes
//   get-child(cleared)     -> the version behind the backup's last, and on along the chain
//
// The client keeps none of it if its sync breaks off, and then begins again.

#include <callsign/rules/rules.hpp>

#include <vector>

namespace callsign::rules {

// Made of the instance: another restore has others.
struct resync_versions {
    uuid ahead{};
    uuid sent{};
    uuid cleared{};
    uuid note{};  // the task
};
resync_versions resync_versions_of(const uuid& instance) noexcept;

// Whether it was drawn after the last version that the backup has, by a server whose ids tell the
// time: what is unknown and older is of a history that is not kept.
bool is_ahead(read_tx& tx, account_id account, const uuid& version, const resync& since);

// What makes the task that the device's user reads.
std::vector<operation> note_operations(const uuid& instance);

// Held series of the account go on if none that is expected is missing, and one has brought what
// the backup did not have. How many did.
std::int64_t resume_when_all_are_back(write_tx& tx, account_id account, const moment& m);

// Where the device stands is another from now on.
void set_resync(write_tx& tx, const device& d, resync::state state, const moment& m);

}  // namespace callsign::rules
