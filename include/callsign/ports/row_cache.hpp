#pragma once
// A cache of committed rows, so that the writer, which alone writes, need not read them again. What
// a transaction has changed is in its unit of work only, until it is committed. A read transaction
// may have a cache of its own, since it reads one committed state.
//
// A table declares how many of its rows are cached at most, and by which of its indexes they are
// found:
//
//     cached_max     the number of rows;
//     cached_by      an index_list, which contains the primary key.
//
// Threads: one.

#include <callsign/ports/unit_of_work.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace callsign {

template <class Row>
concept is_cached = requires {
    table<Row>::cached_max;
};

namespace tables {

template <class Index, class List>
inline constexpr bool is_in_list = false;
template <class Index, class... All>
inline constexpr bool is_in_list<Index, index_list<All...>> = (std::same_as<Index, All> || ...);

}  // namespace tables

template <class Index>
concept is_cached_by = is_cached<typename Index::row> &&
    tables::is_in_list<Index, typename table<typename Index::row>::cached_by>;

// The cached rows of one table, for callers that do not know its row type.
class cached_rows {
  public:
    virtual ~cached_rows() = default;
    virtual void committed(const table_changes& changes) = 0;
};

// Two generations of at most cached_max / 2 rows. New and requested rows are in the young one; when
// it is full, the old one is dropped and the young one becomes the old one.
template <class Row>
class cached_rows_of final : public cached_rows {
  public:
    // Null: not cached.
    template <class Index>
    row_of<Row> find(const index_key<Index>& key) {
        const auto& young = young_.template by<Index>();
        if (const auto at = young.find(key); at != young.end()) return at->second;
        const auto& old = old_.template by<Index>();
        const auto at = old.find(key);
        if (at == old.end()) return nullptr;
        row_of<Row> row = at->second;
        put(row);
        return row;
    }
    // Adds the row, or replaces its cached version. Requires: the row is committed, and a cached
    // version has the same keys.
    void put(const row_of<Row>& row) {
        forget(*row);
        if (young_.template by<primary_of<Row>>().size() == table<Row>::cached_max / 2) {
            old_ = std::exchange(young_, {});
        }
        young_.enter(row);
    }
    void committed(const table_changes& changes) override {
        for (const row_change& c : changes.rows) {
            if (c.before) forget(*static_cast<const head_of<Row>*>(c.before.get()));
        }
        for (const row_change& c : changes.rows) {
            if (c.now) put(std::static_pointer_cast<const Row>(c.now));
        }
    }

  private:
    using by_each = typename table<Row>::cached_by;

    template <class List>
    struct maps_of;
    template <class... Index>
    struct maps_of<index_list<Index...>> {
        using type = std::tuple<tables::rows_by<Index>...>;
    };

    struct half {
        typename maps_of<by_each>::type maps{};

        template <class Index>
        auto& by() {
            return std::get<number_in<Index, by_each>::value>(maps);
        }
        template <class Do>
        void each_index(const Do& what) {
            [&]<class... Index>(index_list<Index...>) {
                (what(std::type_identity<Index>{}, by<Index>()), ...);
            }(by_each{});
        }
        void enter(const row_of<Row>& row) {
            each_index([&]<class Index>(std::type_identity<Index>, auto& rows) {
                if (is_in<Index>(*row)) rows.emplace(Index::key(*row), row);
            });
        }
        void erase(const head_of<Row>& row) {
            each_index([&]<class Index>(std::type_identity<Index>, auto& rows) {
                if (is_in<Index>(row)) rows.erase(Index::key(row));
            });
        }
    };

    void forget(const head_of<Row>& row) {
        young_.erase(row);
        old_.erase(row);
    }

    half young_, old_;
};

class row_cache {
  public:
    template <class Row>
    cached_rows_of<Row>& of() {
        const std::size_t number = info_of_table<Row>().number;
        if (tables_.size() <= number) tables_.resize(number + 1);
        auto& rows = tables_[number];
        if (!rows) rows = std::make_unique<cached_rows_of<Row>>();
        return static_cast<cached_rows_of<Row>&>(*rows);
    }
    // Applies the changes of a committed transaction.
    void committed(const std::vector<table_changes>& changes) {
        for (const table_changes& each : changes) {
            const std::size_t number = each.table->number;
            if (number < tables_.size() && tables_[number]) tables_[number]->committed(each);
        }
    }

  private:
    std::vector<std::unique_ptr<cached_rows>> tables_;  // by number of the table
};

}  // namespace callsign
