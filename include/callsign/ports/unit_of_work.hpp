#pragma once
// The changes of one write transaction before they are written: reads through it see them.
// Destroying it rolls them back.
//
// Threads: the writer's.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/ports/rows.hpp>
#include <callsign/ports/tables/totals.hpp>

#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace callsign {

// ---- keys in memory ----

namespace tables {

inline std::size_t hash_of(std::string_view text) {
    return keyed_hash{}(text);
}
inline std::size_t hash_of(const uuid& id) {
    return keyed_hash{}(id);
}
inline std::size_t hash_of(const digest& d) {
    return keyed_hash{}(std::string_view(reinterpret_cast<const char*>(d.data()), d.size()));
}
// Clients do not choose these: IDs are generated in order. The finalizer of SplitMix64 (Steele, Lea
// and Flood, 2014) spreads them at a tenth of the cost of a keyed hash.
inline std::size_t hash_of(std::int64_t v) {
    auto x = static_cast<std::uint64_t>(v);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}
template <class Tag>
std::size_t hash_of(strong_id<Tag> id) {
    return hash_of(id.value);
}
inline std::size_t hash_of(time_point at) {
    return hash_of(static_cast<std::int64_t>(at.time_since_epoch().count()));
}
template <class Enum>
requires std::is_enum_v<Enum> std::size_t hash_of(Enum v) {
    return hash_of(static_cast<std::int64_t>(v));
}

struct key_hash {
    using is_avalanching = void;
    template <class... Part>
    std::size_t operator()(const std::tuple<Part...>& key) const {
        constexpr std::size_t odd = 0x9E3779B97F4A7C15;
        std::size_t all = 0;
        std::apply([&](const auto&... part) { ((all = all * odd ^ hash_of(part)), ...); }, key);
        return all;
    }
};

template <class Part>
struct owned {
    using type = Part;
};
template <>
struct owned<std::string_view> {
    using type = std::string;
};
template <class Key>
struct owned_key;
template <class... Part>
struct owned_key<std::tuple<Part...>> {
    using type = std::tuple<typename owned<Part>::type...>;
};

// Rows by the keys of an index. The keys are views of the rows.
template <class Index>
using rows_by =
    boost::unordered_flat_map<index_key<Index>, row_of<typename Index::row>, tables::key_hash>;
template <class List>
struct rows_by_each;
template <class... Index>
struct rows_by_each<index_list<Index...>> {
    using type = std::tuple<std::optional<rows_by<Index>>...>;
};

}  // namespace tables

// ---- changes ----

struct row_change {
    row_ptr before;  // the head; null: the row is new
    row_ptr now;     // null: the row was erased
    // The row was erased and then inserted again, so its fixed columns may differ from those of
    // `before`.
    bool is_reinserted = false;
};

// The changes of one table, in the order of primary keys.
struct table_changes {
    const table_info* table = nullptr;
    std::vector<row_change> rows{};
};

// The changes of one table, for callers that do not know its row type.
class changed_rows {
  public:
    virtual ~changed_rows() = default;
    virtual bool has(const void* row) const = 0;  // by its primary key
    // The first changed row of the range, as it is now, and its key.
    virtual std::optional<std::pair<row_key, row_ptr>> first_in(const row_range& range) = 0;
    virtual bool is_empty() const = 0;
    virtual std::size_t work()
        const = 0;  // bytes of work (domain/work.hpp) of all rows that were put
    virtual table_changes all() const = 0;
};

template <class Row>
class changed_rows_of final : public changed_rows {
  public:
    using head = head_of<Row>;

    struct change {
        row_of<head> before;
        row_of<Row> now;
        bool is_reinserted = false;
    };

    // Returns the changed row with this key; nullopt: none. Null, by the primary key only: the row
    // was erased. By another index a row that was erased, or has another key now, is not found.
    template <class Index>
    std::optional<row_of<Row>> find(const index_key<Index>& key) {
        if (rows_.empty()) return std::nullopt;
        if constexpr (std::is_same_v<Index, primary_of<Row>>) {
            const auto at = rows_.find(own_key(key));
            return at == rows_.end() ? std::nullopt : std::optional(at->second.now);
        } else {
            auto& rows = by_index<Index>();
            if (!rows) enter_all<Index>(rows.emplace());
            const auto at = rows->find(key);
            return at == rows->end() ? std::nullopt : std::optional(at->second);
        }
    }

    // `before` null: the row is new; `now` null: it is erased. Requires: not both.
    void put(row_of<head> before, row_of<Row> now) {
        const head& named = now ? *now : *before;
        const auto key = own_key(primary_of<Row>::key(named));
        const auto [at, is_first] = rows_.try_emplace(key);
        change& c = at->second;
        c.is_reinserted = c.is_reinserted || (!is_first && !c.now);
        if (is_first) c.before = std::move(before);
        each_index([&](auto index, auto& rows) {
            using index_type = typename decltype(index)::type;
            if (c.now && is_in<index_type>(*c.now)) rows.erase(index_type::key(*c.now));
            if (now && is_in<index_type>(*now)) rows.emplace(index_type::key(*now), now);
        });
        for (const index_info& index : info_of_table<Row>().indexes) {
            auto& sorted = sorted_[index.number];
            if (!sorted) continue;
            const auto old = c.now ? index.key_of(c.now.get()) : std::nullopt;
            if (old) sorted->erase(*old);
            enter(*sorted, index, now);
        }
        if (now) work_ += tables::work_of_row<Row>(now.get());
        c.now = std::move(now);
        if (!c.before && !c.now) rows_.erase(at);
    }

    // Keeps the head of a committed row that was read, so that a change needs no other read.
    void saw(const Row& row) {
        heads_.try_emplace(own_key(primary_of<Row>::key(row)), std::make_shared<head>(row));
    }
    // Null: it was not read.
    row_of<head> seen(const index_key<primary_of<Row>>& key) const {
        if (heads_.empty()) return nullptr;
        const auto at = heads_.find(own_key(key));
        return at == heads_.end() ? nullptr : at->second;
    }

    bool has(const void* row) const override {
        return rows_.contains(own_key(primary_of<Row>::key(*static_cast<const head*>(row))));
    }
    std::optional<std::pair<row_key, row_ptr>> first_in(const row_range& range) override {
        auto& sorted = sorted_[range.index->number];
        if (!sorted) {
            sorted.emplace();
            for (const auto& [k, c] : rows_) enter(*sorted, *range.index, c.now);
        }
        const auto at = place_in(*sorted, range);
        if (at == sorted->end() || !at->first.starts_with(range.prefix)) return std::nullopt;
        return *at;
    }
    bool is_empty() const override { return rows_.empty(); }
    std::size_t work() const override { return work_; }
    table_changes all() const override {
        std::vector<const typename rows::value_type*> sorted;
        sorted.reserve(rows_.size());
        for (const auto& each : rows_) sorted.push_back(&each);
        std::ranges::sort(
            sorted, {}, [](const auto* each) -> const auto& { return each->first; });
        table_changes changes{&info_of_table<Row>()};
        changes.rows.reserve(sorted.size());
        for (const auto* each : sorted) {
            const change& c = each->second;
            changes.rows.push_back({c.before, c.now, c.is_reinserted});
        }
        return changes;
    }

  private:
    using key = typename tables::owned_key<index_key<primary_of<Row>>>::type;
    using rows = boost::unordered_flat_map<key, change, tables::key_hash>;

    static key own_key(const index_key<primary_of<Row>>& view) { return key(view); }

    // None: the index was not used yet.
    template <class Index>
    std::optional<tables::rows_by<Index>>& by_index() {
        return std::get<number_in<Index, typename table<Row>::indexes>::value>(by_);
    }
    template <class Index>
    void enter_all(tables::rows_by<Index>& into) const {
        for (const auto& [k, c] : rows_) {
            if (c.now && is_in<Index>(*c.now)) into.emplace(Index::key(*c.now), c.now);
        }
    }
    using in_order = std::map<row_key, row_ptr>;
    static void enter(in_order& into, const index_info& index, const row_of<Row>& row) {
        auto key = row ? index.key_of(row.get()) : std::nullopt;
        if (key) into.emplace(std::move(*key), row);
    }
    // Visits the indexes that were used.
    template <class Do>
    void each_index(const Do& what) {
        [&]<class... Index>(index_list<Index...>) {
            const auto one = [&]<class I>(std::type_identity<I> index) {
                auto& rows = by_index<I>();
                if (rows) what(index, *rows);
            };
            (one(std::type_identity<Index>{}), ...);
        }(typename table<Row>::indexes{});
    }

    rows rows_;
    boost::unordered_flat_map<key, row_of<head>, tables::key_hash> heads_;
    std::size_t work_ = 0;
    // Rows by the indexes that were used in get(), and in the order of those used in scan().
    typename tables::rows_by_each<typename table<Row>::indexes>::type by_;
    std::array<std::optional<in_order>, table<Row>::indexes::count> sorted_;
};

class unit_of_work {
  public:
    template <class Row>
    changed_rows_of<Row>& of() {
        auto& changed = at(info_of_table<Row>());
        if (!changed) changed = std::make_unique<changed_rows_of<Row>>();
        return static_cast<changed_rows_of<Row>&>(*changed);
    }
    // Null, from both: the table has no changes.
    template <class Row>
    changed_rows_of<Row>* changed() const {
        return static_cast<changed_rows_of<Row>*>(of(info_of_table<Row>()));
    }
    changed_rows* of(const table_info& table) const {
        return table.number < tables_.size() ? tables_[table.number].get() : nullptr;
    }
    bool is_empty() const;
    // Bytes of work (domain/work.hpp) of all rows that were put.
    std::size_t work_done() const;
    // The changes of all tables that have any.
    std::vector<table_changes> changes() const;
    // The totals, with the IDs that were generated; none: unchanged.
    std::optional<store_totals>& totals() { return totals_; }

  private:
    std::unique_ptr<changed_rows>& at(const table_info& table) {
        if (tables_.size() <= table.number) tables_.resize(table.number + 1);
        return tables_[table.number];
    }

    std::vector<std::unique_ptr<changed_rows>> tables_;  // by number of the table
    std::optional<store_totals> totals_;
};

// Visits the rows of a range, those of the base merged with the changes, until `visit` returns
// false. If `visit` changes rows of this table that are still to come, it is unspecified whether
// they are visited.
void scan_rows(row_reader& base, unit_of_work* work, const row_range& range,
               const std::function<bool(const row_ptr&)>& visit);

}  // namespace callsign
