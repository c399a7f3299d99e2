#include "write_state.hpp"

#include "log/page_checksums.hpp"
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
    auto totals = fetch_row(db, info_of<totals_by_id>(), key_of_id(store_totals::only), false);
    if (!totals) throw_damaged("totals", store_totals::only, "does not exist");
    rows.of<store_totals>().put(std::static_pointer_cast<const store_totals>(totals));
    keys.load();
    log = log_sync_of(db);  // open by now, since `db` was read
}

void write_state::committed_all() noexcept {
    pending.committed();
    numbers.committed();
    places.committed();
    keys.committed();
}

void write_state::roll_back() noexcept {
    pending.roll_back();
    numbers.roll_back();
    places.roll_back();
    keys.roll_back();
}

}  // namespace callsign::sqlite
