#pragma once
// Effects that are still to be sent to remote servers, and contested keys.

#include <callsign/domain/remote_chain.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct effects_by_id : index_on<effect, "effect_id"> {
    static auto key(const row& r) { return std::tuple(r.id); }
};
struct effects_by_account : index_on<effect, "account_id", "effect_id"> {
    static auto key(const row& r) { return std::tuple(r.account, r.id); }
};
struct effects_by_task : index_on<effect, "task_uuid", "account_id", "kind"> {
    static auto key(const row& r) { return std::tuple(r.task, r.account, r.kind); }
};

template <>
struct table<effect> {
    static constexpr std::string_view name = "outbox";
    using indexes = index_list<effects_by_id, effects_by_account, effects_by_task>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("effect_id", r.id);
        v.fixed("account_id", r.account);
        v.fixed("kind", one_of(r.kind, effect_kind::creation, effect_kind::key));
        v.fixed("slot_id", r.slot);
        v.fixed("task_uuid", r.task);
        v.fixed("prefix", r.prefix);
        v.fixed("operations", r.operations);
        v.fixed("author", r.author);
        v("attempts", r.attempts);
        v("parent", r.parent);
        v.fixed("created_at", r.created_at);
    }
};
extern template const table_info& info_of_table<effect>();

struct contest_row {
    account_id account;
    uuid task{};
    key_contest contest;
};

struct contests_by_task : index_on<contest_row, "account_id", "task_uuid"> {
    static auto key(const row& r) { return std::tuple(r.account, r.task); }
};

template <>
struct table<contest_row> {
    static constexpr std::string_view name = "key_contests";
    using indexes = index_list<contests_by_task>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("account_id", r.account);
        v.fixed("task_uuid", r.task);
        v("times", r.contest.times);
        v("last_at", r.contest.last_at);
    }
};
extern template const table_info& info_of_table<contest_row>();

}  // namespace callsign
