#include "statements.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/ports/tables/all.hpp>

#include <algorithm>
#include <span>

namespace callsign::postgres {
namespace {

struct split_table {
    const table_info* table;
    std::string_view rows, heads;
};

// The tables whose columns are in two relations; the table itself is a view of both.
const split_table* split_of(const table_info& table) {
    static const std::array all{
        split_table{&info_of_table<account>(), "account_rows", "account_heads"},
        split_table{&info_of_table<counter_row>(), "counter_rows", "counter_heads"}};
    const auto at = std::ranges::find(all, &table, &split_table::table);
    return at == all.end() ? nullptr : &*at;
}

template <class Range, class Text>
std::string joined(const Range& all, std::string_view between, const Text& text_of) {
    std::string text;
    for (const auto& each : all) {
        if (!text.empty()) text += between;
        text += text_of(each);
    }
    return text;
}

std::string parameter(std::size_t number) {
    return "$" + std::to_string(number);
}

std::string name_of_type(Oid type) {
    switch (type) {
    case oid::boolean: return "boolean";
    case oid::bytea: return "bytea";
    case oid::bigint: return "bigint";
    case oid::smallint: return "smallint";
    case oid::integer: return "integer";
    case oid::text: return "text";
    case oid::uuid: return "uuid";
    default: throw store_failure(store_failure::kind::rejected, "a column of an unknown type");
    }
}

std::string columns_of(const table_info& t, bool heads) {
    const auto all = std::span(t.columns);
    return joined(all.first(heads ? t.head_columns : all.size()), ", ",
                  [](const column_info& c) { return std::string(c.name); });
}

std::string and_where(std::string conditions, std::string_view where) {
    if (where.empty()) return conditions;
    if (!conditions.empty()) conditions += " AND ";
    return conditions + std::string(where);
}

// "unnest($1::bigint[], $2::uuid[]) AS k (name, ...)", from parameter `first` on.
std::string rows_of_arrays(std::span<const std::string> names, std::span<const Oid> types,
                           std::string_view as) {
    std::size_t number = 0;
    const std::string arrays = joined(types, ", ", [&](Oid type) {
        return parameter(++number) + "::" + name_of_type(type) + "[]";
    });
    return "unnest(" + arrays + ") AS " + std::string(as) + " (" +
           joined(names, ", ", [](const std::string& n) { return n; }) + ")";
}

std::vector<std::string> names_of(const table_info& t, const relation& r) {
    std::vector<std::string> names;
    for (const std::size_t c : r.columns) names.emplace_back(t.columns[c].name);
    return names;
}

std::string same(std::span<const std::string> names, std::string_view a, std::string_view b) {
    return joined(names, " AND ", [&](const std::string& n) {
        return std::string(a) + "." + n + " = " + std::string(b) + "." + n;
    });
}

// Runs a write, and fails unless it changed as many rows as the array $1 has.
std::string exactly(const std::string& write) {
    return "WITH changed AS (" + write +
           " RETURNING 1) SELECT 1 / (count(*) = cardinality($1))::integer FROM changed";
}

}  // namespace

// ---- types ----

column_types column_types::read(connection& db, const std::string& schema) {
    static const std::string text =
        "SELECT c.relname::text, a.attname::text, a.atttypid::bigint FROM pg_attribute a"
        " JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace s ON s.oid = c.relnamespace"
        " WHERE s.nspname = $1::text AND c.relkind IN ('r', 'v') AND a.attnum > 0"
        " AND NOT a.attisdropped";
    parameters values;
    values.add(schema);
    db.add(text, std::move(values));
    const auto rows = db.run();
    column_types types;
    for (int n = 0; n < PQntuples(rows[0].get()); ++n) {
        types.all_.emplace(std::pair(bytes_in(*rows[0], n, 0), bytes_in(*rows[0], n, 1)),
                           static_cast<Oid>(integer_in(*rows[0], n, 2)));
    }
    return types;
}

Oid column_types::of(std::string_view relation, std::string_view column) const {
    const auto at = all_.find(std::pair(std::string(relation), std::string(column)));
    if (at != all_.end()) return at->second;
    throw store_failure(store_failure::kind::corrupt, "PostgreSQL: table " + std::string(relation) +
                                                          " has no column " + std::string(column));
}

bool column_types::has(std::string_view relation, std::string_view column) const {
    return all_.contains(std::pair(std::string(relation), std::string(column)));
}

std::string_view relation_of(const index_info& index) {
    return index.form == index_form::brief ? std::string_view("open_slots") : index.table->name;
}

// ---- statements ----

template <class Make>
const std::string& statements::text(const name& which, const Make& make) {
    const std::scoped_lock lock(mutex_);
    auto& text = texts_[which];
    if (!text) text = std::make_unique<const std::string>(make());
    return *text;
}

std::vector<Oid> statements::key_types(const index_info& index) const {
    std::vector<Oid> types;
    for (const std::string_view c : index.columns) types.push_back(types_.of(index.table->name, c));
    return types;
}

const std::string& statements::fetch(const index_info& i, bool head) {
    return text({verb::fetch, &i, head}, [&] {
        std::size_t number = 0;
        const std::string by = joined(i.columns, " AND ", [&](std::string_view c) {
            return std::string(c) + " = " + parameter(++number);
        });
        return "SELECT " + columns_of(*i.table, head) + " FROM " + std::string(relation_of(i)) +
               " WHERE " + and_where(by, i.where);
    });
}

const std::string& statements::fetch_all(const index_info& i, bool head) {
    return text({verb::fetch_all, &i, head}, [&] {
        // Other names than the table's: the index's condition has those.
        std::vector<std::string> keys;
        for (std::size_t n = 1; n <= i.columns.size(); ++n) keys.push_back("k" + std::to_string(n));
        std::size_t number = 0;
        const std::string by = joined(i.columns, " AND ", [&](std::string_view c) {
            return std::string(c) + " = " + keys[number++];
        });
        return "SELECT " + columns_of(*i.table, head) + " FROM " +
               rows_of_arrays(keys, key_types(i), "k") + " JOIN " + std::string(relation_of(i)) +
               " ON " + and_where(by, i.where);
    });
}

const std::string& statements::scan(const row_range& r) {
    const index_info& i = *r.index;
    const std::size_t counts = i.columns.size() + 1;
    const std::size_t kind =
        (r.prefix_parts * counts + r.after_parts) * 4 + (r.descending ? 2 : 0) + (r.heads ? 1 : 0);
    return text({verb::scan, &i, kind}, [&] {
        const auto columns = std::span<const std::string_view>(i.columns);
        const auto rest = columns.subspan(r.prefix_parts);
        std::size_t number = 0;
        const auto next = [&](std::string_view) { return parameter(++number); };
        const auto name = [](std::string_view c) { return std::string(c); };
        std::string by = joined(columns.first(r.prefix_parts), " AND ", [&](std::string_view c) {
            return std::string(c) + " = " + parameter(++number);
        });
        if (r.after_parts > 0) {
            const auto after = rest.first(r.after_parts);
            by = and_where(std::move(by), "(" + joined(after, ", ", name) + ")" +
                                              (r.descending ? " < (" : " > (") +
                                              joined(after, ", ", next) + ")");
        }
        by = and_where(std::move(by), i.where);
        const auto place = [&](std::string_view c) {
            return std::string(c) + (r.descending ? " DESC" : "");
        };
        return "SELECT " + columns_of(*i.table, r.heads) + " FROM " + std::string(relation_of(i)) +
               (by.empty() ? "" : " WHERE " + by) +
               (rest.empty() ? "" : " ORDER BY " + joined(rest, ", ", place)) + " LIMIT " +
               parameter(++number) + "::bigint";
    });
}

layout statements::make_layout(const table_info& t) const {
    const auto& keys = t.indexes.front().columns;
    const auto is_key = [&](const column_info& c) {
        return std::ranges::find(keys, c.name) != keys.end();
    };
    const split_table* const split = split_of(t);
    const std::string_view rows = split ? split->rows : t.name;
    layout l{{rows}, {rows}, {split ? split->heads : ""}};
    const auto enter = [&](relation& r, std::size_t column) {
        r.columns.push_back(column);
        r.types.push_back(types_.of(r.name, t.columns[column].name));
    };
    // The primary key first, in its order.
    for (const std::string_view key : keys) {
        const auto at = std::ranges::find(t.columns, key, &column_info::name);
        const auto column = static_cast<std::size_t>(at - t.columns.begin());
        enter(l.rows, column);
        enter(l.changes, column);
        if (split) enter(l.heads, column);
    }
    l.rows.key_columns = l.changes.key_columns = l.heads.key_columns = keys.size();
    for (std::size_t c = 0; c < t.columns.size(); ++c) {
        if (is_key(t.columns[c])) continue;
        const bool in_heads = split && types_.has(split->heads, t.columns[c].name);
        enter(in_heads ? l.heads : l.rows, c);
        if (!in_heads && t.columns[c].may_change) enter(l.changes, c);
    }
    return l;
}

const layout& statements::layout_of(const table_info& t) {
    const std::scoped_lock lock(mutex_);
    auto& known = layouts_[&t];
    if (!known) known = std::make_unique<const layout>(make_layout(t));
    return *known;
}

const std::string& statements::insert(const table_info& t, bool heads) {
    const layout& l = layout_of(t);
    return text({verb::insert, &t, heads}, [&] {
        const relation& r = heads ? l.heads : l.rows;
        const auto names = names_of(t, r);
        const auto name = [](const std::string& n) { return n; };
        const std::string n = heads ? parameter(names.size() + 1) + "::bigint, " : "";
        return "INSERT INTO " + std::string(r.name) + " (" + (heads ? "n, " : "") +
               joined(names, ", ", name) + ") SELECT " + n + "* FROM " +
               rows_of_arrays(names, r.types, "k");
    });
}

const std::string& statements::update(const table_info& t) {
    const layout& l = layout_of(t);
    return text({verb::update, &t, 0}, [&] {
        const relation& r = l.changes;
        const auto names = names_of(t, r);
        const auto all = std::span(names);
        const std::string set = joined(all.subspan(r.key_columns), ", ",
                                       [](const std::string& n) { return n + " = k." + n; });
        return exactly("UPDATE " + std::string(r.name) + " t SET " + set + " FROM " +
                       rows_of_arrays(names, r.types, "k") + " WHERE " +
                       same(all.first(r.key_columns), "t", "k"));
    });
}

const std::string& statements::erase(const table_info& t, bool heads) {
    const layout& l = layout_of(t);
    return text({verb::erase, &t, heads}, [&] {
        const relation& r = heads ? l.heads : l.rows;
        auto names = names_of(t, r);
        names.resize(r.key_columns);
        auto types = r.types;
        types.resize(r.key_columns);
        const std::string by = same(names, "t", "k");
        if (!heads) {
            return exactly("DELETE FROM " + std::string(r.name) + " t USING " +
                           rows_of_arrays(names, types, "k") + " WHERE " + by);
        }
        names.emplace_back("n");
        types.push_back(types_.of(r.name, "n"));
        return "DELETE FROM " + std::string(r.name) + " t USING " +
               rows_of_arrays(names, types, "k") + " WHERE " + by + " AND t.n >= k.n AND t.n < " +
               parameter(names.size() + 1) + "::bigint";
    });
}

}  // namespace callsign::postgres
