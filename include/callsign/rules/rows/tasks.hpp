#pragma once
// Tasks by UUID and number. A head lacks attributes and author, and costs no more for a large task.

#include <callsign/domain/slot.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace callsign {

// A walk over the numbers of (series, period): those after `from`, or descending from before it.
// For tasks without numbers, their IDs are used instead, and there are no periods.
struct number_walk {
    series_id series;
    std::string_view period;
    std::int64_t from = 0;
    bool descending = false;
    bool open_only = false;  // skip tasks that are completed, deleted or purged
    std::int64_t expected = rows_expected;
};

namespace tasks {

// Returns false to stop.
using visitor = std::function<bool(task&&)>;

std::optional<task> find(read_tx& tx, task_id id);
std::optional<task> find(read_tx& tx, account_id account, const uuid& id);
std::optional<task> find(read_tx& tx, series_id series, std::string_view period,
                         std::int64_t number);
std::optional<task> find_head(read_tx& tx, account_id account, const uuid& id);
std::optional<task> find_head(read_tx& tx, series_id series, std::string_view period,
                              std::int64_t number);
std::optional<receipt> receipt_of(read_tx& tx, const slot& committed);

// At most `limit` tasks without a number, of any account, after `after`, in the order of IDs.
std::vector<task> unnumbered(read_tx& tx, task_id after, std::int64_t limit);
// Visits the tasks with numbers of (series, period), in order, one at a time since each may be
// large. Includes purged ones, unless open_only. Reads no tasks of other accounts, and with
// open_only no closed ones. Exceptions of `visit` pass through.
void visit_numbered(read_tx& tx, const number_walk& walk, const visitor& visit);
// Visits the tasks of the series that have no number yet, in the order of creation. Includes purged
// ones, unless open_only.
void visit_unnumbered(read_tx& tx, const number_walk& walk, const visitor& visit);
// At most `limit` tasks with numbers after `after`.
std::vector<task> numbered(read_tx& tx, series_id series, std::string_view period,
                           std::int64_t after, std::int64_t limit);

// Ignores `task.id`. `series` is that of its number, present or future. Requires: the account has
// no task with this UUID.
task_id put(write_tx& tx, task task, series_id series);
// Adds content to a task that so far is a number only, assigned while the account was opaque:
// version `seq` created it, for the slot `by`, `last_seq` changed it last. Writes no history.
// Requires: purged, and the seq of its receipt is 0.
void reveal(write_tx& tx, task_id id, attributes attributes, std::int64_t seq,
            std::int64_t last_seq, std::optional<slot_id> by = {});
// Reverts reveal(): the task is a number only. Requires: it has no history.
void conceal(write_tx& tx, task_id id);
// Assigns a receipt to a task. Requires: it has none.
void number(write_tx& tx, task_id id, series_id series, const receipt& receipt);
// Sets the task's new state; the state until `now` becomes history. `purged`: only UUID and receipt
// remain. Requires: the stored state is `before`.
void update(write_tx& tx, const task& before, attributes attributes, bool purged,
            std::int64_t last_seq, time_point now);

}  // namespace tasks

namespace history {

// The task as of the account's version `seq`; its last_seq names the version that left it so. None:
// it did not exist yet, or its state is no longer known. States are known after each version behind
// accounts::history_from() that changed the task.
std::optional<task> find_as_of(read_tx& tx, account_id account, const uuid& id, std::int64_t seq);
// Deletes the oldest states, if they ended before `before`: at most `limit`, and fewer if they are
// large. Advances history_from of their accounts. Returns whether more may be as old.
bool forget(write_tx& tx, time_point before, std::int64_t limit);
// Removes the text of the task's states after versions before `through`, earliest first, within
// `work` bytes, which are deducted. Returns whether none is left.
bool scrub(write_tx& tx, task_id task, std::int64_t through, std::size_t& work);

}  // namespace history
}  // namespace callsign
