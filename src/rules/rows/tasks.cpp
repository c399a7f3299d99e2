#include "history.hpp"

#include <callsign/domain/task_faults.hpp>
#include <callsign/ports/tables/series.hpp>
#include <callsign/ports/tables/tasks.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <utility>

namespace callsign::tasks {
namespace {

task task_in(read_tx& tx, const task_head& row) {
    task t;
    t.id = row.id;
    t.account = row.account;
    t.uuid = row.uuid;
    t.current_prefix = tx.expect<series_by_id>(row.series)->prefix;
    t.last_seq = row.last_seq;
    t.created_at = row.created_at;
    t.purged = row.purged;
    t.slot = row.slot;
    if (const auto& n = row.numbered) {
        t.numbered = receipt{t.uuid, n->prefix, {}, n->number, n->seq, t.created_at, true};
        if (const auto counter = tx.get<counters_by_id>(n->counter)) {
            t.numbered->period = counter->period;
        }
    }
    return t;
}

task whole_task_in(read_tx& tx, row_of<task_row> found) {
    task t = task_in(tx, *found);
    t.author = found->author;
    t.attributes = taken(std::move(found)).attributes;
    return t;
}

std::optional<task> whole_task_if(read_tx& tx, row_of<task_row> found) {
    return found ? std::optional(whole_task_in(tx, std::move(found))) : std::nullopt;
}

std::optional<task> task_if(read_tx& tx, const row_of<task_head>& found) {
    return found ? std::optional(task_in(tx, *found)) : std::nullopt;
}

counter_id counter_of(read_tx& tx, series_id series, std::string_view period) {
    const auto found = tx.get<counters_by_period>(series, period);
    if (!found) throw_damaged("series", series.value, "it has no counter of a number's period");
    return found->id;
}

number_columns columns_of(read_tx& tx, series_id series, const receipt& r) {
    return {counter_of(tx, series, r.period), r.number, r.prefix, r.seq};
}

void set_content(task_row& row, attributes all, bool purged) {
    row.bytes = size_of(all);
    row.purged = purged;
    row.over = purged || is_over(all);
    row.attributes = std::move(all);
}

// Writes a whole row over its head, so that the old attributes need not be read.
template <class Change>
void rewrite(write_tx& tx, const row_of<task_head>& before, const Change& change) {
    task_row now{*before, {}};
    change(now);
    tx.put(before, std::move(now));
}

row_of<task_head> expect_head(write_tx& tx, task_id id) {
    auto found = tx.get_head<tasks_by_id>(id);
    if (!found) throw_damaged("tasks", id.value, "does not exist");
    return found;
}

void require(bool is_so, task_id id) {
    if (!is_so) throw_damaged("tasks", id.value, "it is not as it was read");
}

}  // namespace

std::optional<task> find(read_tx& tx, task_id id) {
    return whole_task_if(tx, tx.get<tasks_by_id>(id));
}

std::optional<task> find(read_tx& tx, account_id account, const uuid& id) {
    return whole_task_if(tx, tx.get<tasks_by_uuid>(id, account));
}

std::optional<task> find(read_tx& tx, series_id series, std::string_view period,
                         std::int64_t number) {
    const auto counter = tx.get<counters_by_period>(series, period);
    if (!counter) return std::nullopt;
    return whole_task_if(tx, tx.get<tasks_by_number>(counter->id, number));
}

std::optional<task> find_head(read_tx& tx, account_id account, const uuid& id) {
    return task_if(tx, tx.get_head<tasks_by_uuid>(id, account));
}

std::optional<task> find_head(read_tx& tx, series_id series, std::string_view period,
                              std::int64_t number) {
    const auto counter = tx.get<counters_by_period>(series, period);
    if (!counter) return std::nullopt;
    return task_if(tx, tx.get_head<tasks_by_number>(counter->id, number));
}

std::optional<receipt> receipt_of(read_tx& tx, const slot& committed) {
    if (!committed.task) return std::nullopt;
    auto found = task_if(tx, tx.get_head<tasks_by_id>(*committed.task));
    if (!found || !found->numbered) return std::nullopt;
    found->numbered->created = committed.created;
    return std::move(found->numbered);
}

std::vector<task> unnumbered(read_tx& tx, task_id after, std::int64_t limit) {
    std::vector<task> some;
    tx.scan(range_of<tasks_without_number>().after(after).limit(limit), [&](row_of<task_row> row) {
        some.push_back(whole_task_in(tx, std::move(row)));
        return true;
    });
    return some;
}

void visit_numbered(read_tx& tx, const number_walk& walk, const visitor& visit) {
    const auto counter = tx.get<counters_by_period>(walk.series, walk.period);
    if (!counter) return;
    const auto show = [&](row_of<task_row> row) {
        return visit(whole_task_in(tx, std::move(row)));
    };
    const auto walk_through = [&](auto rows) {
        tx.scan(rows.after(walk.from).descending(walk.descending).expect(walk.expected), show);
    };
    if (walk.open_only) {
        walk_through(range_of<tasks_open>(counter->id));
    } else {
        walk_through(range_of<tasks_by_number>(counter->id));
    }
}

void visit_unnumbered(read_tx& tx, const number_walk& walk, const visitor& visit) {
    const auto rows = range_of<tasks_unnumbered>(walk.series)
                          .after(task_id{walk.from})
                          .descending(walk.descending);
    tx.scan(rows, [&](row_of<task_row> row) {
        return (walk.open_only && row->over) || visit(whole_task_in(tx, std::move(row)));
    });
}

std::vector<task> numbered(read_tx& tx, series_id series, std::string_view period,
                           std::int64_t after, std::int64_t limit) {
    std::vector<task> some;
    if (limit <= 0) return some;
    visit_numbered(tx, {series, period, after}, [&](task&& t) {
        some.push_back(std::move(t));
        return std::ssize(some) < limit;
    });
    return some;
}

task_id put(write_tx& tx, task t, series_id series) {
    tx.raise_last_moment(t.created_at);
    task_row row;
    row.id = task_id{tx.draw(drawn_id::task)};
    row.account = t.account;
    row.uuid = t.uuid;
    row.series = series;
    if (t.numbered) row.numbered = columns_of(tx, series, *t.numbered);
    row.last_seq = t.last_seq;
    row.created_at = t.numbered ? t.numbered->created_at : t.created_at;
    row.author = t.author;
    row.slot = t.slot;
    set_content(row, std::move(t.attributes), t.purged);
    return tx.put(std::move(row))->id;
}

void reveal(write_tx& tx, task_id id, attributes all, std::int64_t seq, std::int64_t last_seq,
            std::optional<slot_id> by) {
    const auto before = expect_head(tx, id);
    require(before->purged && before->numbered && before->numbered->seq == 0, id);
    rewrite(tx, before, [&](task_row& row) {
        set_content(row, std::move(all), false);
        row.numbered->seq = seq;
        row.last_seq = last_seq;
        row.slot = by;
    });
}

void conceal(write_tx& tx, task_id id) {
    const auto before = expect_head(tx, id);
    require(!before->purged && before->numbered, id);
    rewrite(tx, before, [](task_row& row) {
        set_content(row, {}, true);
        row.numbered->seq = 0;
        row.last_seq = 0;
    });
}

void number(write_tx& tx, task_id id, series_id series, const receipt& r) {
    const auto before = tx.expect<tasks_by_id>(id);
    require(!before->numbered, id);
    tx.edit(before, [&](task_row& row) {
        row.series = series;
        row.numbered = columns_of(tx, series, r);
        row.last_seq = r.seq;
        row.created_at = r.created_at;
    });
}

void update(write_tx& tx, const task& before, attributes all, bool purged, std::int64_t last_seq,
            time_point now) {
    tx.raise_last_moment(now);
    const auto head = expect_head(tx, before.id);
    const auto way_back = history::put(tx, before, head->way_back, all, purged, now);
    if (purged && head->slot) slots::drop_fingerprint(tx, *head->slot);
    rewrite(tx, head, [&](task_row& row) {
        set_content(row, std::move(all), purged);
        row.last_seq = last_seq;
        row.way_back = way_back;
    });
}

}  // namespace callsign::tasks
