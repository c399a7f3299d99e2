#include "index/bulk_rows.hpp"

#include <callsign/base/assert.hpp>

#include <algorithm>
#include <utility>

namespace callsign::sqlite {
namespace {

// Returns a table's bulk index of all rows, or of open ones; null: none.
const index_info* in_bulk(const table_info& t, bool open_only) {
    const auto found = std::ranges::find_if(t.indexes, [&](const index_info& i) {
        return i.form == index_form::bulk && i.where.empty() != open_only;
    });
    return found == t.indexes.end() ? nullptr : &*found;
}

bool is_row_over(const index_info* open, const void* row) {
    return open && !open->has(row);
}

index_place place_of(const row_key& key) {
    key_reader parts(key);
    const std::int64_t owner = parts.integer();
    return {owner, parts.integer()};
}

std::int64_t primary_id_of(const table_info& t, const void* row) {
    return key_reader(*t.indexes.front().key_of(row)).integer();
}

// Buffered entries, in the order of a range.
class waiting_entries {
  public:
    waiting_entries(const index_view& entries, const row_range& range)
        : entries_(entries),
          walk_{.descending = range.descending, .open_only = !range.index->where.empty()},
          last_(place_before(range)) {
        pass();
    }

    // None: at the end.
    const std::optional<index_entry>& next() const { return next_; }
    void pass() {
        next_ = entries_.next(last_, walk_);
        if (next_) last_ = *next_;
    }

  private:
    static index_entry place_before(const row_range& r) {
        const std::int64_t owner = key_reader(r.prefix).integer();
        if (r.after_parts == 0) {
            return r.descending ? index_entry::behind({owner, INT64_MAX})
                                : index_entry::before({owner, INT64_MIN});
        }
        const index_place after{owner, key_reader(r.after).integer()};
        return r.descending ? index_entry::before(after) : index_entry::behind(after);
    }

    const index_view& entries_;
    index_walk walk_;
    index_entry last_;
    std::optional<index_entry> next_;
};

// Returns null if the entry's row does not exist or differs from the entry.
row_ptr row_of_entry(connection& db, const index_info& by, const index_entry& e, bool head) {
    auto row = fetch_row(db, by.table->indexes.front(), key_of_id(e.row), head);
    const auto key = row ? by.key_of(row.get()) : std::nullopt;
    return key && place_of(*key) == e.at ? row : nullptr;
}

}  // namespace

row_ptr fetch_in_bulk(connection& db, const index_view& waiting, const index_info& index,
                      const row_key& key, bool head) {
    const index_place at = place_of(key);
    for (auto e = waiting.next(index_entry::before(at)); e && e->at == at; e = waiting.next(*e)) {
        if (auto row = row_of_entry(db, index, *e, head)) return row;
    }
    return fetch_row(db, index, key, head);
}

row_page scan_in_bulk(connection& db, const index_view& waiting, const row_range& range) {
    CALLSIGN_ASSERT(range.prefix_parts == 1);
    row_page in_table = scan_rows(db, range);
    waiting_entries others(waiting, range);
    row_page page;
    std::size_t waited = 0;  // bytes of buffered rows
    const auto is_full = [&] {
        return page.rows.size() == page_rows_max || std::ssize(page.rows) >= range.limit ||
               (waited >= page_bytes_max && !page.rows.empty());
    };
    const auto take_other = [&] {
        const std::size_t before = db.work();
        auto row = row_of_entry(db, *range.index, *others.next(), range.heads);
        waited += db.work() - before;
        if (row) page.rows.push_back(std::move(row));
        others.pass();
    };
    for (row_ptr& row : in_table.rows) {
        if (others.next()) {
            const index_place at = place_of(*range.index->key_of(row.get()));
            const auto is_before = [&] {
                return others.next() &&
                       (range.descending ? others.next()->at > at : others.next()->at < at);
            };
            while (is_before() && !is_full()) take_other();
            // Merged since: the table has it too.
            while (others.next() && others.next()->at == at) others.pass();
        }
        page.is_last = !is_full();
        if (!page.is_last) return page;
        page.rows.push_back(std::move(row));
    }
    page.is_last = in_table.is_last;
    if (!page.is_last) return page;
    while (others.next() && !is_full()) take_other();
    page.is_last = !others.next();
    return page;
}

void write_in_bulk(bulk_index& into, const table_changes& changes) {
    const table_info& t = *changes.table;
    const index_info& by = *in_bulk(t, false);
    const index_info* const open = in_bulk(t, true);
    for (const row_change& c : changes.rows) {
        const void* const before = c.before && by.has(c.before.get()) ? c.before.get() : nullptr;
        const void* const now = c.now && by.has(c.now.get()) ? c.now.get() : nullptr;
        const bool stays = before && now && !c.is_reinserted && by.is_same_key(before, now);
        if (before && !stays) into.erase(place_of(*by.key_of(before)));
        if (!now) continue;
        const bool over = is_row_over(open, now);
        if (stays && over == is_row_over(open, before)) continue;
        const index_entry e{place_of(*by.key_of(now)), primary_id_of(t, now)};
        if (stays) {
            into.turn(e, over);
        } else {
            into.add(e, over);
        }
    }
}

}  // namespace callsign::sqlite
