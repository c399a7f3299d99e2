#include "write_state.hpp"

#include "page_sums.hpp"
#include "reads.hpp"
#include "statements.hpp"

#include <algorithm>

namespace callsign::sqlite {

write_state::write_state(const std::filesystem::path& file, const sqlite_options& options)
    : db(file, SQLite::OPEN_READWRITE, options.cache_bytes),
      keys(db, {.recent_max = options.recent_keys_max,
                .filter_bytes_max = options.key_filter_bytes_max}),
      pending(db, std::min(pending_window, options.buffered_entries_max)),
      numbers(db, task_numbers, options.buffered_entries_max),
      places(db, version_places, options.buffered_entries_max) {}

void write_state::load() {
    pending.load();
    numbers.load();
    places.load();
    ids.load(db);
    auto q = db.use(sql::totals_get);
    if (!q.step()) throw_damaged("totals", 1, "it is not there");
    q.at("totals", 1);
    now = committed = {
        {q.integer(0), q.integer(1), q.integer(2), q.integer(3)}, q.integer(4), q.instant(5), {}};
    now.all = {.accounts = db.integer_of(sql::account_count),
               .tasks = ids.last(drawn_id::task),
               .open_tasks = q.integer(6),
               .held_series = db.integer_of(sql::series_held_count)};
    committed.all = now.all;
    keys.load();
    log = log_sync_of(db);  // it has been read, so it is open
}

void write_state::expect_highest(const counter_row& c) {
    std::int64_t highest = last_waiting(c.id);
    auto q = db.use(sql::counter_highest);
    q.bind(c.id);
    while (q.step()) highest = std::max(highest, q.integer(0));
    if (highest <= c.last_number) return;
    throw_damaged("counters", c.id.value, "it is behind the numbers that were given");
}

std::int64_t write_state::last_waiting(counter_id counter) {
    constexpr index_walk down{.descending = true};
    const index_view view(db, task_numbers, &numbers, numbers.commits());
    auto e = view.next(index_entry::behind({counter.value, INT64_MAX}), down);
    for (; e; e = view.next(*e, down)) {
        auto q = db.use(sql::task_of_entry);
        if (q.bind(e->row).bind(counter).bind(e->at.place).bind(1).step()) return e->at.place;
    }
    return 0;
}

void write_state::committed_all() noexcept {
    committed = now;
    ids.committed();
    pending.committed();
    numbers.committed();
    places.committed();
    keys.committed();
}

void write_state::roll_back() noexcept {
    now = committed;
    ids.roll_back();
    pending.roll_back();
    numbers.roll_back();
    places.roll_back();
    keys.roll_back();
}

}  // namespace callsign::sqlite
