#pragma once
// Assigns numbers and keys to tasks.

#include <callsign/rules/rules.hpp>

#include <optional>
#include <vector>

namespace callsign::rules {

// Returns the period in which numbers are assigned at that instant. Never earlier than the last
// one, whatever the clock or the series' time zone (docs/api.md, "Series").
std::string period_now(write_tx& tx, const series& series, time_point now);

// Takes the next number of the series, as the receipt of `task`; the caller fills in `seq`.
receipt take_receipt(write_tx& tx, const series& series, const uuid& task, const moment& m);

// Returns an instant as clients write it in attributes: seconds since the epoch.
std::string epoch_text(time_point at);

// Returns when a task from elsewhere was last changed, as far as its attributes tell. A later
// change by a device that has the task is newer.
precise_time changed_at(const attributes& all, precise_time now);

// Returns the attribute `project`, or an empty string.
std::string_view project_of(const attributes& all);

// Returns the task's key with its current prefix.
std::string current_key(const task& numbered);

// Returns the series of a new task: that of the prefix, else its project's, else the default.
series series_for(read_tx& tx, account_id account, std::string_view prefix,
                  std::string_view project);

// Raises the next number of the current period to at least `next`. Requires: that is allowed.
void raise_next(write_tx& tx, const series& s, std::int64_t next, time_point now);

// Returns the series as clients see it.
series shown(write_tx& tx, series s, time_point now);

// Returns the attributes of a new task: the given ones, and defaults for those that are missing.
attributes with_defaults(const attributes& given, time_point now);

// Returns whether a task with these attributes and `depends` dependencies would be too large,
// including what the server adds.
bool is_too_large(const attributes& given, std::size_t depends, const moment& m);

// Sets the key attribute in `now` to the task's key, or removes it if the task has no number.
// Returns the change; none if there is nothing to change.
std::optional<operation> correct_key(const task& t, attributes& now, const moment& m);

// Appends the operations that create the task, as a replica would send them.
void append_creation(std::vector<operation>& operations, const task& t, precise_time at);

// Commits the slots that wait for a task which was created another way.
void commit_waiting_slots(write_tx& tx, account_id account, const uuid& uuid, task_id task,
                          const moment& m);

// Commits a pending slot with `task`. `created`: the slot's own request created the task.
void commit_slot(write_tx& tx, const slot& pending, task_id task, bool created, const moment& m);

}  // namespace callsign::rules
