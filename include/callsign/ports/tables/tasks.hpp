#pragma once
// Tasks, and their history.

#include <callsign/domain/task.hpp>
#include <callsign/domain/work.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

// The number in a task's receipt. Never changes, except for `seq` of a task whose content the
// server has not seen.
struct number_columns {
    counter_id counter;
    std::int64_t number = 0;
    std::string prefix;
    std::int64_t seq = 0;
};

struct task_head {
    using whole = struct task_row;

    task_id id;
    account_id account;
    callsign::uuid uuid{};
    series_id series;
    std::optional<number_columns> numbered;
    std::int64_t last_seq = 0;
    time_point created_at{};  // of the receipt, if there is one
    bool purged = false;
    bool over = false;  // completed, deleted or purged
    callsign::author author{};
    std::optional<slot_id> slot;  // which created it
    std::size_t bytes = 0;        // of the attributes, as size_of() counts them
    // Bytes of the differences in history since the last whole state, or more.
    std::int64_t way_back = 0;
};
struct task_row : task_head {
    callsign::attributes attributes{};
};

struct tasks_by_id : index_on<task_row, "task_id"> {
    static auto key(const task_head& r) { return std::tuple(r.id); }
};
struct tasks_by_uuid : index_on<task_row, "uuid", "account_id"> {
    static auto key(const task_head& r) { return std::tuple(r.uuid, r.account); }
};
struct tasks_by_number : index_on<task_row, "counter_id", "number"> {
    static constexpr auto form = index_form::bulk;
    static bool has(const task_head& r) { return r.numbered.has_value(); }
    static auto key(const task_head& r) {
        return std::tuple(r.numbered->counter, r.numbered->number);
    }
};
struct tasks_open : index_on<task_row, "counter_id", "number"> {
    static constexpr auto form = index_form::bulk;
    static constexpr std::string_view where = "over = 0";
    static bool has(const task_head& r) { return r.numbered && !r.over; }
    static auto key(const task_head& r) { return tasks_by_number::key(r); }
};
struct tasks_without_number : index_on<task_row, "task_id"> {
    static constexpr std::string_view where = "number IS NULL";
    static bool has(const task_head& r) { return !r.numbered; }
    static auto key(const task_head& r) { return std::tuple(r.id); }
};
struct tasks_unnumbered : index_on<task_row, "series_id", "task_id"> {
    static constexpr std::string_view where = "number IS NULL";
    static bool has(const task_head& r) { return !r.numbered; }
    static auto key(const task_head& r) { return std::tuple(r.series, r.id); }
};

template <>
struct table<task_row> {
    static constexpr std::string_view name = "tasks";
    using head = task_head;
    using indexes = index_list<tasks_by_id, tasks_by_uuid, tasks_by_number, tasks_open,
                               tasks_without_number, tasks_unnumbered>;

    static std::size_t work(const task_row& r) { return work_of(r.attributes); }

    template <class Head, class Visitor>
    static void head_columns(Head& r, Visitor& v) {
        v.fixed("task_id", r.id);
        v.fixed("account_id", r.account);
        v.fixed("uuid", r.uuid);
        v("series_id", r.series);
        v("counter_id", part_of(&r.numbered, &number_columns::counter));
        v("number", part_of(&r.numbered, &number_columns::number));
        v("prefix", part_of(&r.numbered, &number_columns::prefix));
        v("seq", part_of(&r.numbered, &number_columns::seq));
        v("last_seq", r.last_seq);
        v("created_at", r.created_at);
        v("purged", r.purged);
        v("over", r.over);
        v.fixed("author", r.author);
        v("slot_id", r.slot);
        v("bytes", r.bytes);
        v("way_back", r.way_back);
    }
    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        head_columns(r, v);
        v("attributes", r.attributes);
    }
};
extern template const table_info& info_of_table<task_row>();

// ---- history ----

enum class history_kind : std::uint8_t {
    whole = 1,
    way_back = 2,  // the difference from the next state back to it
    purged = 3,
};

// The state of a task from version `seq` on.
struct history_head {
    using whole = struct history_row;

    std::int64_t id = 0;  // in the order in which the states ended
    account_id account;
    task_id task;
    std::int64_t seq = 0;
    time_point ended_at{};
    history_kind kind = history_kind::whole;
    std::size_t bytes = 0;  // of `text`, as size_of() counts them
};
struct history_row : history_head {
    attribute_diff text{};
};

struct history_by_id : index_on<history_row, "history_id"> {
    static auto key(const history_head& r) { return std::tuple(r.id); }
};
struct history_by_task : index_on<history_row, "task_id", "seq"> {
    static auto key(const history_head& r) { return std::tuple(r.task, r.seq); }
};

template <>
struct table<history_row> {
    static constexpr std::string_view name = "task_history";
    using head = history_head;
    using indexes = index_list<history_by_id, history_by_task>;

    static std::size_t work(const history_row& r) { return work_of(r.text.set); }

    template <class Head, class Visitor>
    static void head_columns(Head& r, Visitor& v) {
        v.fixed("history_id", r.id);
        v.fixed("account_id", r.account);
        v.fixed("task_id", r.task);
        v.fixed("seq", r.seq);
        v.fixed("ended_at", r.ended_at);
        v("kind", one_of(r.kind, history_kind::whole, history_kind::purged));
        v("bytes", r.bytes);
    }
    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        head_columns(r, v);
        v("attributes", r.text);
    }
};
extern template const table_info& info_of_table<history_row>();

}  // namespace callsign
