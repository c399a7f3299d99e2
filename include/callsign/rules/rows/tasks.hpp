#pragma once
// Tasks by their uuids and numbers. `head`: without attributes and author, which costs no more
// where the task is large.

#include <callsign/domain/slot.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace callsign {

// Through the numbers of (series, period): those after `from`, or going down before it. Of tasks
// that have none their ids stand for them, and there are no periods.
struct number_walk {
    series_id series;
    std::string_view period;
    std::int64_t from = 0;
    bool descending = false;
    bool open_only = false;  // no task that is completed, deleted or purged
    std::int64_t expected = rows_expected;
};

namespace tasks {

// False: that was enough.
using visitor = std::function<bool(task&&)>;

std::optional<task> find(read_tx& tx, account_id account, const uuid& id);
std::optional<task> find(read_tx& tx, series_id series, std::string_view period,
                         std::int64_t number);
std::optional<task> find_head(read_tx& tx, account_id account, const uuid& id);
std::optional<task> find_head(read_tx& tx, series_id series, std::string_view period,
                              std::int64_t number);
std::optional<receipt> receipt_of(read_tx& tx, const slot& committed);

// At most `limit` tasks that have no number, whoever's, after `after`, in the order of their ids.
// Looks through all tasks.
std::vector<task> unnumbered(read_tx& tx, task_id after, std::int64_t limit);
// Shows the tasks with numbers of (series, period), in order, one at a time: each may be a large
// one. Purged ones are among them, unless open ones are asked for. All tasks of an account are
// found so without looking at other accounts' ones, and the open ones without looking at the
// others. What `visit` throws passes through.
void visit_numbered(read_tx& tx, const number_walk& walk, const visitor& visit);
// Those of the series that have no number yet, purged ones among them, in the order in which they
// came.
void visit_unnumbered(read_tx& tx, const number_walk& walk, const visitor& visit);
// At most `limit` of those with numbers, after `after`.
std::vector<task> numbered(read_tx& tx, series_id series, std::string_view period,
                           std::int64_t after, std::int64_t limit);

// `task.id` is ignored; `series` is where its number is from, or will be. Requires: no task of the
// account has this uuid.
task_id put(write_tx& tx, task task, series_id series);
// A task that was numbered unseen can be seen: version `seq` made it, `last_seq` is the last that
// changed it. Nothing becomes history. Requires: it is purged, and its receipt's seq is 0.
void reveal(write_tx& tx, task_id id, attributes attributes, std::int64_t seq,
            std::int64_t last_seq);
// What reveal() did is undone: of the task there is a number, and nobody has seen it. Requires: it
// has no history.
void conceal(write_tx& tx, task_id id);
// Gives a task without a number its receipt. Requires: it has none.
void number(write_tx& tx, task_id id, series_id series, const receipt& receipt);
// The task's new state. `purged`: it is gone, and what stays is its uuid and receipt. How it stood
// until `now` becomes history. Requires: it is as in `before`.
void update(write_tx& tx, const task& before, attributes attributes, bool purged,
            std::int64_t last_seq, time_point now);

}  // namespace tasks

namespace history {

// As it stood once the account's version `seq` was there, by the version that is its last_seq now;
// none: it was not there yet, or how it stood is not known any more. It is known after each version
// behind accounts::history_from() that changed it.
std::optional<task> find_as_of(read_tx& tx, account_id account, const uuid& id, std::int64_t seq);
// The oldest states, if they ended before `before`: at most `limit`, and of large ones fewer. Their
// accounts' history begins with what came after them. True: more are as old.
bool forget(write_tx& tx, time_point before, std::int64_t limit);
// How the task stood after versions before `through`: purged, and nothing more. The earliest first,
// as far as `work` goes, in bytes, which is taken from it. True: none is left.
bool scrub(write_tx& tx, task_id task, std::int64_t through, std::size_t& work);

}  // namespace history
}  // namespace callsign
