#pragma once
// The keys of tasks after their series was renamed: each task changes, as readers see it, so that
// validators, the feed and devices have the new key.

#include <callsign/rules/rules.hpp>

#include <cstddef>

namespace callsign::rules {

// Returns about how many bytes the changes take that rename the series (account::stored_bytes).
std::size_t size_of_renaming(read_tx& tx, const series& s, const moment& m);

// Begins to update the keys of a series that was just renamed: as many tasks as `work_left` allows;
// the sweep (update_keys) does the rest. Opaque accounts have no tasks to update.
void begin_renaming(write_tx& tx, series& s, std::size_t& work_left, const moment& m);

}  // namespace callsign::rules
