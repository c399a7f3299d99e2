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

write_state::counter& write_state::find_counter(series_id series, std::string_view period) {
    std::pair name(series, std::string(period));
    const auto known = counters_.find(name);
    if (known != counters_.end()) return known->second;
    counter found;
    {
        auto q = db.use(sql::counter_get);
        if (q.bind(series).bind(name.second).step()) {
            found = {q.integer(0), q.integer(1), false};
        }
    }
    if (found.id != 0) expect_highest(found);
    if (found.id == 0) {
        found.id = ids.next(drawn_id::counter);
        db.use(sql::counter_put).bind(found.id).bind(series).bind(name.second).run();
        last_periods_.erase(series);
    }
    return counters_.emplace(std::move(name), found).first->second;
}

// One that has fallen behind would give numbers again.
void write_state::expect_highest(const counter& c) {
    std::int64_t highest = last_waiting(c);
    auto q = db.use(sql::counter_highest);
    q.bind(c.id);
    while (q.step()) highest = std::max(highest, q.integer(0));
    if (highest <= c.last_number) return;
    throw_damaged("counters", c.id, "it is behind the numbers that were given");
}

// The highest number that is not in the index's table; 0: none.
std::int64_t write_state::last_waiting(const counter& c) {
    constexpr index_walk down{.descending = true};
    const index_view view(db, task_numbers, &numbers, numbers.commits());
    auto e = view.next(index_entry::behind({c.id, INT64_MAX}), down);
    for (; e; e = view.next(*e, down)) {
        auto q = db.use(sql::task_of_entry);
        if (q.bind(e->row).bind(c.id).bind(e->at.place).bind(1).step()) return e->at.place;
    }
    return 0;
}

write_state::counter& write_state::changed(series_id series, std::string_view period) {
    counter& c = find_counter(series, period);
    if (!std::exchange(c.changed, true)) changed_counters_.push_back(&c);
    return c;
}

std::int64_t write_state::advance_counter(series_id series, std::string_view period) {
    return ++changed(series, period).last_number;
}

void write_state::set_counter(series_id series, std::string_view period, std::int64_t last_number) {
    changed(series, period).last_number = last_number;
}

std::int64_t write_state::last_number(series_id series, std::string_view period) {
    std::string in(period);
    const auto known = counters_.find({series, in});
    if (known != counters_.end()) return known->second.last_number;
    auto q = db.use(sql::counter_get);
    return q.bind(series).bind(in).step() ? q.integer(1) : 0;
}

std::string write_state::last_period(series_id series) {
    const auto known = last_periods_.find(series);
    if (known != last_periods_.end()) return known->second;
    auto q = db.use(sql::counter_period);
    std::string found = q.bind(series).step() ? q.text(0) : std::string();
    return last_periods_.emplace(series, std::move(found)).first->second;
}

void write_state::flush() {
    for (counter* c : changed_counters_) {
        c->changed = false;
        db.use(sql::counter_set).bind(c->last_number).bind(c->id).run();
    }
    changed_counters_.clear();
    if (counters_.size() > remembered_max) counters_.clear();
    if (series_by_prefix.size() > remembered_max) series_by_prefix.clear();
    if (default_series.size() > remembered_max) default_series.clear();
    if (last_periods_.size() > remembered_max) last_periods_.clear();
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
    changed_counters_.clear();
    counters_.clear();
    last_periods_.clear();
    forget_series();
    now = committed;
    ids.roll_back();
    pending.roll_back();
    numbers.roll_back();
    places.roll_back();
    keys.roll_back();
}

}  // namespace callsign::sqlite
