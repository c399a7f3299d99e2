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
    now = committed = {{q.integer(0), q.integer(1), q.integer(2), q.integer(3)}, q.instant(4), {}};
    now.all = {.accounts = db.integer_of(sql::account_count),
               .tasks = ids.last(drawn_id::task),
               .open_tasks = q.integer(5),
               .held_series = db.integer_of(sql::series_held_count)};
    committed.all = now.all;
    keys.load();
    log = log_sync_of(db);  // it has been read, so it is open
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
