#include "tables/tables.hpp"

#include "index/bulk_index.hpp"

#include <callsign/store/columns.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>

namespace callsign::sqlite {
namespace {

// Numbers of rows that one INSERT can have: batches are of any size, and a row costs less together
// with others.
constexpr std::array<std::size_t, 5> put_at_once{16, 8, 4, 2, 1};

constexpr std::size_t tables_max = 64;

// ---- statements ----

template <class Range, class Text>
std::string joined(const Range& all, std::string_view between, const Text& text_of) {
    std::string text;
    for (const auto& each : all) {
        if (!text.empty()) text += between;
        text += text_of(each);
    }
    return text;
}

std::string equals(std::string_view column) {
    return std::string(column) + " = ?";
}

std::string placeholders(std::size_t count) {
    std::string text = "(?";
    for (std::size_t n = 1; n < count; ++n) text += ", ?";
    return text + ")";
}

std::string names_of(std::span<const column_info> columns) {
    return joined(columns, ", ", [](const column_info& c) { return std::string(c.name); });
}

// In a bulk index the entries are `n`, and the rows `t`.
std::string name_in(const index_info& i, std::string_view column) {
    if (i.form != index_form::bulk) return std::string(column);
    return (std::ranges::find(i.columns, column) == i.columns.end() ? "t." : "n.") +
           std::string(column);
}

std::string from_of(const index_info& i) {
    const table_info& t = *i.table;
    if (i.form != index_form::bulk) return std::string(t.name);
    std::vector<std::string_view> same{t.indexes.front().columns.front()};
    same.insert(same.end(), i.columns.begin(), i.columns.end());
    return bulk_table_of(t).name + std::string(" n CROSS JOIN ") + std::string(t.name) + " t ON " +
           joined(same, " AND ", [](std::string_view c) {
               return "t." + std::string(c) + " = n." + std::string(c);
           });
}

// Returns conditions, each of which selects rows in order.
std::vector<std::string> parts_of(const index_info& i) {
    const std::string where(i.where);
    if (i.form != index_form::bulk) return {where};
    if (!where.empty()) return {"n." + where};
    const auto& parts = bulk_table_of(*i.table).parts;
    return {parts.begin(), parts.end()};
}

// Orders by the columns' positions, as a compound SELECT requires; by none if `order` is empty.
std::string select(const index_info& i, bool heads, std::vector<std::string> conditions,
                   std::span<const std::string_view> order, bool descending) {
    const auto all = std::span(i.table->columns);
    const auto columns = all.first(heads ? i.table->head_columns : all.size());
    const std::string names =
        joined(columns, ", ", [&](const column_info& c) { return name_in(i, c.name); });
    conditions.emplace_back();  // of the part
    const auto one_part = [&](const std::string& part) {
        conditions.back() = part;
        const auto first = part.empty() ? conditions.end() - 1 : conditions.end();
        const std::string where = joined(std::span(conditions.begin(), first), " AND ",
                                         [](const std::string& c) { return c; });
        return "SELECT " + names + " FROM " + from_of(i) + (where.empty() ? "" : " WHERE ") + where;
    };
    const auto place = [&](std::string_view name) {
        const auto column = std::ranges::find(columns, name, &column_info::name);
        return std::to_string(column - columns.begin() + 1) + (descending ? " DESC" : "");
    };
    return joined(parts_of(i), " UNION ALL ", one_part) +
           (order.empty() ? "" : " ORDER BY " + joined(order, ", ", place));
}

// Numbered parameters (?1, ?2 ...), which all parts of a compound SELECT share.
std::vector<std::string> conditions_on(const index_info& i,
                                       std::span<const std::string_view> columns) {
    std::vector<std::string> all;
    for (const std::string_view c : columns) {
        all.push_back(name_in(i, c) + " = ?" + std::to_string(all.size() + 1));
    }
    return all;
}

std::string fetch_of(const index_info& i, bool head) {
    return select(i, head, conditions_on(i, i.columns), {}, false);
}

std::string scan_of(const row_range& r) {
    const index_info& i = *r.index;
    const auto columns = std::span<const std::string_view>(i.columns);
    const auto rest = columns.subspan(r.prefix_parts);
    auto conditions = conditions_on(i, columns.first(r.prefix_parts));
    if (r.after_parts > 0) {
        std::size_t parameter = r.prefix_parts;
        const auto next = [&](std::string_view) { return "?" + std::to_string(++parameter); };
        const auto name = [&](std::string_view c) { return name_in(i, c); };
        const auto after = rest.first(r.after_parts);
        conditions.push_back("(" + joined(after, ", ", name) + ")" +
                             (r.descending ? " < (" : " > (") + joined(after, ", ", next) + ")");
    }
    return select(i, r.heads, std::move(conditions), rest, r.descending);
}

struct index_statements {
    std::string fetch, fetch_head;
    std::vector<std::string> scans;  // by place_of_kind()
};

struct table_statements {
    // change_rest: sets columns that are in no key; empty: there are none.
    std::string change, change_rest, erase;
    std::array<std::string, put_at_once.size()> put;
    std::vector<index_statements> by;  // by index number
};

// Encodes a range's numbers of parts, its direction, and whether it reads heads.
std::size_t place_of_kind(const row_range& r) {
    const std::size_t counts = r.index->columns.size() + 1;
    const std::size_t parts = r.prefix_parts * counts + r.after_parts;
    return parts * 4 + (r.descending ? 2 : 0) + (r.heads ? 1 : 0);
}

index_statements statements_for(const index_info& i) {
    if (i.form == index_form::hash || i.form == index_form::brief) return {};
    index_statements s{fetch_of(i, false), fetch_of(i, true), {}};
    const std::size_t parts = i.columns.size();
    s.scans.resize((parts + 1) * (parts + 1) * 4);
    for (std::size_t prefix = 0; prefix <= parts; ++prefix) {
        for (std::size_t after = 0; after <= parts - prefix; ++after) {
            for (const int kind : {0, 1, 2, 3}) {
                const row_range r{.index = &i,
                                  .prefix_parts = prefix,
                                  .after_parts = after,
                                  .descending = (kind & 2) != 0,
                                  .heads = (kind & 1) != 0};
                s.scans[place_of_kind(r)] = scan_of(r);
            }
        }
    }
    return s;
}

table_statements statements_for(const table_info& t) {
    table_statements s;
    const std::string name(t.name), group = placeholders(t.columns.size());
    // OR ROLLBACK: if one of several rows could fail alone, SQLite would copy each page before
    // changing it. Here a failure ends the transaction.
    for (std::size_t i = 0; i < put_at_once.size(); ++i) {
        s.put[i] =
            "INSERT OR ROLLBACK INTO " + name + " (" + names_of(t.columns) + ") VALUES " + group;
        for (std::size_t n = 1; n < put_at_once[i]; ++n) s.put[i] += ", " + group;
    }
    const std::string by_key = " WHERE " + joined(t.indexes.front().columns, " AND ", equals);
    const auto change = [&](bool with_keys) -> std::string {
        std::vector<std::string_view> changing;
        for (const column_info& c : t.columns) {
            if (c.may_change && (with_keys || !c.is_in_key)) changing.push_back(c.name);
        }
        if (changing.empty()) return {};
        return "UPDATE " + name + " SET " + joined(changing, ", ", equals) + by_key;
    };
    s.change = change(true);
    s.change_rest = change(false);
    s.erase = "DELETE FROM " + name + by_key;
    for (const index_info& i : t.indexes) s.by.push_back(statements_for(i));
    return s;
}

// Created at a table's first use, for the process's life: the address of a text identifies its
// statement to a connection. Any thread.
const table_statements& statements_of(const table_info& t) {
    static std::array<std::atomic<const table_statements*>, tables_max> made{};
    std::atomic<const table_statements*>& its = made.at(t.number);
    if (const auto* const known = its.load(std::memory_order_acquire)) return *known;
    static std::mutex mutex;
    static std::deque<table_statements> all;
    const std::scoped_lock lock(mutex);
    if (!its) its.store(&all.emplace_back(statements_for(t)), std::memory_order_release);
    return *its;
}

// ---- columns ----

class bound_columns final : public columns::encoding_sink {
  public:
    // Reserves space for `columns` strings: bound bytes must not move.
    bound_columns(query& q, std::size_t columns) : q_(q) { made_.reserve(columns); }

    void put_null() override { q_.bind_null(); }
    void put_integer(std::int64_t value) override { q_.bind(value); }
    void put_text(const std::string& text) override { q_.bind(text); }
    void put_bytes(std::string_view bytes) override { q_.bind_blob(bytes.data(), bytes.size()); }
    void put_made(std::string bytes) override {
        const std::string& kept = made_.emplace_back(std::move(bytes));
        q_.bind_blob(kept.data(), kept.size());
    }
    void put_made_text(std::string text) override { q_.bind(made_.emplace_back(std::move(text))); }

  private:
    void worked(std::size_t more) override { q_.worked(more); }

    query& q_;
    std::vector<std::string> made_;
};

class read_columns final : public columns::decoding_source {
  public:
    explicit read_columns(query& q) : q_(q) {}

    bool take_null() override {
        const bool is = q_.is_null(next_);
        if (is) ++next_;
        return is;
    }
    std::int64_t take_integer() override { return q_.integer(next_++); }
    std::string_view take_bytes() override { return q_.blob(next_++); }
    void damaged(const char* why) override { q_.damaged(why); }

  private:
    void worked(std::size_t more) override { q_.worked(more); }

    query& q_;
    int next_ = 0;
};

// Returns the query's current row.
row_ptr row_in(query& q, const table_info& t, bool head) {
    q.at(t.name.data(), q.integer(0));
    read_columns columns(q);
    return head ? t.take_head(columns) : t.take_row(columns);
}

}  // namespace

const char* fetch_text(const index_info& index, bool head) {
    const index_statements& s = statements_of(*index.table).by[index.number];
    return (head ? s.fetch_head : s.fetch).c_str();
}

const char* scan_text(const row_range& range) {
    const index_info& i = *range.index;
    return statements_of(*i.table).by[i.number].scans[place_of_kind(range)].c_str();
}

row_key key_of_id(std::int64_t id) {
    row_key key;
    append_part(key, id);
    return key;
}

row_ptr fetch_row(connection& db, const index_info& index, const row_key& key, bool head) {
    auto q = db.use(fetch_text(index, head));
    bound_columns bound(q, index.columns.size());
    bound.put_key(index, 0, index.columns.size(), key);
    return q.step() ? row_in(q, *index.table, head) : nullptr;
}

row_page scan_rows(connection& db, const row_range& range) {
    row_page page;
    auto q = db.use(scan_text(range));
    bound_columns bound(q, range.index->columns.size());
    bound.put_key(*range.index, 0, range.prefix_parts, range.prefix);
    bound.put_key(*range.index, range.prefix_parts, range.after_parts, range.after);
    const std::size_t before = db.work();
    const auto is_full = [&] {
        return page.rows.size() == page_rows_max || std::ssize(page.rows) >= range.limit ||
               db.work() - before >= page_bytes_max;
    };
    while (q.step()) {
        page.rows.push_back(row_in(q, *range.index->table, range.heads));
        page.is_last = !is_full();
        if (!page.is_last) break;
    }
    return page;
}

namespace {

enum class key_change { none, some, may_clash };

// SQLite rewrites an index whose column is set, even to the same value. Rows that exchange their
// keys must all be deleted before one is written.
key_change key_change_of(const table_info& t, const row_change& c) {
    auto found = key_change::none;
    for (const index_info& i : t.indexes) {
        if (!i.may_change || i.is_same_key(c.before.get(), c.now.get())) continue;
        if (i.may_clash) return key_change::may_clash;
        found = key_change::some;
    }
    return found;
}

}  // namespace

void write_rows(connection& db, const table_changes& changes) {
    const table_info& t = *changes.table;
    const table_statements& s = statements_of(t);
    std::vector<const void*> added;
    for (const row_change& c : changes.rows) {
        const auto& [before, now, is_reinserted] = c;
        const auto keys = before && now ? key_change_of(t, c) : key_change::none;
        const bool stays = before && now && !is_reinserted && keys != key_change::may_clash;
        if (now && !stays) added.push_back(now.get());
        if (!before) continue;
        const bool with_keys = s.change_rest.empty() || keys == key_change::some;
        const std::string& text = !stays ? s.erase : with_keys ? s.change : s.change_rest;
        auto q = db.use(text.c_str());
        bound_columns bound(q, t.columns.size());
        if (stays) {
            t.put_changed(now.get(), bound, with_keys);
        } else {
            t.put_key(before.get(), bound);
        }
        q.run();
        if (db.database().getChanges() != 1) q.damaged("it is not as it was read");
    }
    for (std::size_t from = 0; from < added.size();) {
        std::size_t i = 0;
        while (put_at_once[i] > added.size() - from) ++i;
        const std::size_t some = put_at_once[i];
        auto q = db.use(s.put[i].c_str());
        bound_columns bound(q, some * t.columns.size());
        for (std::size_t n = 0; n < some; ++n) t.put_columns(added[from++], bound);
        q.run();
    }
}

}  // namespace callsign::sqlite
