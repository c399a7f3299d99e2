#include "bulk_rows.hpp"

#include <callsign/base/assert.hpp>

#include <utility>

namespace callsign::sqlite {
namespace {

const index_info& in_bulk(const table_info& t) {
    for (const index_info& i : t.indexes) {
        if (i.in_bulk) return i;
    }
    CALLSIGN_ASSERT(false);
    return t.indexes.front();
}

index_place place_of(const row_key& key) {
    key_reader parts(key);
    const std::int64_t owner = parts.integer();
    return {owner, parts.integer()};
}

std::int64_t id_of(const table_info& t, const void* row) {
    return key_reader(*t.indexes.front().key_of(row)).integer();
}

row_key key_of_id(std::int64_t id) {
    row_key key;
    append_part(key, id);
    return key;
}

using keyed_row = std::pair<row_key, row_ptr>;

// Those that wait, in the order of a range, as far as their rows are there and say the same.
class waiting_rows {
  public:
    waiting_rows(connection& db, const index_view& entries, const row_range& range)
        : db_(db), entries_(entries), range_(range), last_(place_before(range)) {}

    std::optional<keyed_row> next() {
        while (const auto e = entries_.next(last_, {.descending = range_.descending})) {
            last_ = *e;
            if (auto found = at(*e)) return found;
        }
        return std::nullopt;
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
    std::optional<keyed_row> at(const index_entry& e) {
        const index_info& by = *range_.index;
        auto row = fetch_row(db_, by.table->indexes.front(), key_of_id(e.row), range_.heads);
        auto key = row ? by.key_of(row.get()) : std::nullopt;
        if (!key || place_of(*key) != e.at) return std::nullopt;
        return keyed_row(*std::move(key), std::move(row));
    }

    connection& db_;
    const index_view& entries_;
    const row_range& range_;
    index_entry last_;
};

}  // namespace

row_ptr fetch_in_bulk(connection& db, const index_view& waiting, const index_info& index,
                      const row_key& key, bool head) {
    const index_place at = place_of(key);
    for (auto e = waiting.next(index_entry::before(at)); e && e->at == at; e = waiting.next(*e)) {
        auto row = fetch_row(db, index.table->indexes.front(), key_of_id(e->row), head);
        if (row && index.key_of(row.get()) == key) return row;
    }
    return fetch_row(db, index, key, head);
}

row_page scan_in_bulk(connection& db, const index_view& waiting, const row_range& range) {
    CALLSIGN_ASSERT(range.prefix_parts == 1);
    row_page in_table = scan_rows(db, range);
    waiting_rows others(db, waiting, range);
    row_page page;
    const auto is_full = [&] {
        return page.rows.size() == page_rows_max || std::ssize(page.rows) >= range.limit;
    };
    auto other = others.next();
    for (row_ptr& row : in_table.rows) {
        const auto key = range.index->key_of(row.get());
        if (!key) throw_damaged(std::string(range.index->table->name), 0, "its key");
        const auto is_before = [&] {
            return other && (range.descending ? other->first > *key : other->first < *key);
        };
        for (; is_before() && !is_full(); other = others.next()) {
            page.rows.push_back(std::move(other->second));
        }
        page.is_last = !is_full();
        if (!page.is_last) return page;
        // It was merged since.
        if (other && other->first == *key) other = others.next();
        page.rows.push_back(std::move(row));
    }
    page.is_last = in_table.is_last;
    if (!page.is_last) return page;
    for (; other && !is_full(); other = others.next()) {
        page.rows.push_back(std::move(other->second));
    }
    page.is_last = !other;
    return page;
}

void write_in_bulk(connection& db, bulk_index& into, const table_changes& changes) {
    const table_info& t = *changes.table;
    const index_info& by = in_bulk(t);
    for (const row_change& c : changes.rows) {
        const auto before = c.before ? by.key_of(c.before.get()) : std::nullopt;
        const auto now = c.now ? by.key_of(c.now.get()) : std::nullopt;
        if (before == now && !c.is_anew) continue;
        if (before) {
            // One that waits still is not there; without its row it is none.
            const index_place at = place_of(*before);
            db.use(into.table().erase).bind(at.owner).bind(at.place).run();
        }
        if (now) into.add({place_of(*now), id_of(t, c.now.get())}, false);
    }
}

}  // namespace callsign::sqlite
