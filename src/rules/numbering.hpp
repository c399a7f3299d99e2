#pragma once
// How a task comes to its number and its key.

#include <callsign/rules/rules.hpp>

#include <optional>
#include <vector>

namespace callsign::rules {

// The period that numbers are taken in at that instant: never one before the last (product.md
// section 5), even where the clock, or the series' zone, says so.
std::string period_now(write_tx& tx, const series& series, time_point now);

// The next number of the series, as the receipt of `task`; its `seq` is the caller's to fill in.
receipt take_receipt(write_tx& tx, const series& series, const uuid& task, const moment& m);

// An instant as clients write it in attributes: seconds since the epoch.
std::string epoch_text(time_point at);

// When a task that comes from elsewhere came to be as it is, as far as it says so. A device that
// has it too, and has changed it since, is newer than that.
precise_time changed_at(const attributes& all, precise_time now);

// The attribute `project`; empty: it has none.
std::string_view project_of(const attributes& all);

// A task's key as people say it today.
std::string current_key(const task& numbered);

// The series that a new task of the account belongs to: of that prefix, else its project's, else
// the account's default.
series series_for(read_tx& tx, account_id account, std::string_view prefix,
                  std::string_view project);

// The next number of the current period becomes this one, or stays. Requires: it may.
void raise_next(write_tx& tx, const series& s, std::int64_t next, time_point now);

// As people are told of it.
series shown(write_tx& tx, series s, time_point now);

// What a creation's task has from the start, where the client did not say otherwise.
attributes with_defaults(const attributes& given, time_point now);

// Whether a task made of that would be too large, with `depends` tasks that it depends on and all
// that the server adds.
bool is_too_large(const attributes& given, std::size_t depends, const moment& m);

// Makes the key attribute among `now` hold the task's key, or takes it away if the task has no
// number, and says what changed; none: it was right, or there is to be none.
std::optional<operation> correct_key(const task& t, attributes& now, const moment& m);

// What makes the task, as a replica would have sent it, behind the operations there are.
void append_creation(std::vector<operation>& operations, const task& t, precise_time at);

// The slots that wait for a task that came another way hold it from now on.
void commit_waiting_slots(write_tx& tx, account_id account, const uuid& uuid, task_id task,
                          const moment& m);

// A pending slot becomes committed, holding `task`; `created`: by its own request.
void commit_slot(write_tx& tx, const slot& pending, task_id task, bool created, const moment& m);

}  // namespace callsign::rules
