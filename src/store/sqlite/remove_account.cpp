#include "remove_account.hpp"

#include "statements.hpp"

#include <array>

namespace callsign::sqlite {
namespace {

// ?1: the account; ?2 and ?3: rows behind the first, up to the second.
struct owned_table {
    const char* last;  // its last row
    const char* remove;
    const char* unindex = nullptr;  // before that, what an index in bulk has of them
    const char* open = nullptr;     // how many open tasks go with them
    const char* sizes = nullptr;    // each of them in order, and how many bytes it has
};

// Of the rows that one step removes, and one more row: what is deleted is overwritten, by way of
// the log.
constexpr std::int64_t removed_bytes_max = std::int64_t{4} << 20;

// Those that others refer to come after them.
constexpr std::array owned_tables{
    owned_table{"SELECT max(history_id) FROM task_history",
                "DELETE FROM task_history WHERE history_id > ?2 AND history_id <= ?3 AND"
                " (SELECT account_id FROM tasks t WHERE t.task_id = task_history.task_id) = ?1",
                nullptr, nullptr,
                "SELECT history_id, length(attributes) FROM task_history WHERE history_id > ?2 AND"
                " history_id <= ?3 AND (SELECT account_id FROM tasks t WHERE t.task_id ="
                " task_history.task_id) = ?1 ORDER BY history_id"},
    owned_table{"SELECT max(task_id) FROM tasks",
                "DELETE FROM tasks WHERE task_id > ?2 AND task_id <= ?3 AND account_id = ?1",
                "DELETE FROM task_numbers WHERE (counter_id, over, number) IN (SELECT counter_id,"
                " over, number FROM tasks WHERE task_id > ?2 AND task_id <= ?3 AND account_id ="
                " ?1)",
                "SELECT count(*) FROM tasks WHERE task_id > ?2 AND task_id <= ?3 AND account_id ="
                " ?1 AND number IS NOT NULL AND over = 0",
                "SELECT task_id, length(attributes) FROM tasks WHERE task_id > ?2 AND task_id <= ?3"
                " AND account_id = ?1 ORDER BY task_id"},
};

// Of the table, whoever's; 0: it has none.
std::int64_t last_row(connection& db, const owned_table& t) {
    auto q = db.use(t.last);
    return q.step() && !q.is_null(0) ? q.integer(0) : 0;
}

// The last row of a step of `limit` rows, or of fewer that have enough bytes.
std::int64_t last_of_step(connection& db, const owned_table& t, account_id account,
                          std::int64_t from, std::int64_t limit) {
    const std::int64_t through = from + limit;
    auto q = db.use(t.sizes);
    q.bind(account).bind(from).bind(through);
    for (std::int64_t bytes = 0; q.step();) {
        bytes += q.integer(1);
        if (bytes >= removed_bytes_max) return q.integer(0);
    }
    return through;
}

}  // namespace

std::optional<removal_place> remove_some(write_state& state, account_id account,
                                         const removal_place& from, std::int64_t limit) {
    if (from.table < 0 || from.table >= std::ssize(owned_tables)) {
        throw_damaged("accounts", account.value, "there is no such table to remove");
    }
    const owned_table& t = owned_tables[static_cast<std::size_t>(from.table)];
    removal_place next{from.table + 1, 0};
    const std::int64_t through = last_of_step(state.db, t, account, from.row, limit);
    if (t.open) {
        auto q = state.db.use(t.open);
        q.bind(account).bind(from.row).bind(through).step();
        state.now.all.open_tasks -= q.integer(0);
    }
    for (const char* const text : {t.unindex, t.remove}) {
        if (text) state.db.use(text).bind(account).bind(from.row).bind(through).run();
    }
    if (through < last_row(state.db, t)) next = {from.table, through};
    if (next.table < std::ssize(owned_tables)) return next;
    return std::nullopt;
}

}  // namespace callsign::sqlite
