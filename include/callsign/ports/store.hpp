#pragma once
// Where rows live. A store only begins transactions; a transaction finds rows, and takes what is
// changed of them: what they mean the rules say. Two stores implement this: store/sqlite and
// store/memory, and one contract suite (tests/contract) holds for both.
//
// Isolation: one write transaction at a time, which sees its own writes. Read transactions see one
// committed state from their first read to their end, and may run beside the writer on other
// threads.
//
// Failure: a backend that cannot go on throws store_failure, and only the writer (or, for reads,
// the engine) catches it. Expected misses are empty optionals.

#include <callsign/ports/embedded_store.hpp>
#include <callsign/ports/row_cache.hpp>
#include <callsign/ports/store_failure.hpp>
#include <callsign/ports/tables/totals.hpp>
#include <callsign/ports/unit_of_work.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace callsign {

// What both kinds of transaction can be asked.
class read_tx : public row_reader {
  public:
    static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

    // ---- rows ----
    // Null: there is none with this key, which is all of its parts.
    template <class Index, class... Part>
    row_of<typename Index::row> get(const Part&... parts) {
        return own_or<Index>([&] { return committed<Index>(parts...); }, parts...);
    }
    // The same without what is large.
    template <class Index, class... Part>
    row_of<head_of<typename Index::row>> get_head(const Part&... parts) {
        using row = typename Index::row;
        const auto committed = [&]() -> row_of<head_of<row>> {
            if constexpr (std::is_same_v<Index, primary_of<row>>) {
                auto* const own = unit_ ? unit_->changed<row>() : nullptr;
                auto seen = own ? own->seen(index_key<Index>(parts...)) : nullptr;
                if (seen) return seen;
            }
            return std::static_pointer_cast<const head_of<row>>(
                fetch(info_of<Index>(), key_from<Index, 0>(parts...), true));
        };
        return own_or<Index>(committed, parts...);
    }
    // The committed row, if the cache has it. Null: unknown.
    template <class Index, class... Part>
    row_of<typename Index::row> remembered(const Part&... parts) {
        if constexpr (is_remembered_by<Index>) {
            using row = typename Index::row;
            if (cache_) return cache_->of<row>().template find<Index>(index_key<Index>(parts...));
        }
        return nullptr;
    }
    // As get(); if there is none, throws store_failure.
    template <class Index, class Id>
    row_of<typename Index::row> expect(const Id& id) {
        auto found = get<Index>(id);
        if (!found)
            throw_damaged(std::string(info_of<Index>().table->name), number_of(id),
                          "it is not there");
        return found;
    }
    // In order, until `visit` says that it was enough. What it changes of the table behind its
    // place is shown, or not.
    template <class Index, std::size_t Parts, bool Heads, class Visit>
    void scan(const range<Index, Parts, Heads>& rows, const Visit& visit) {
        using row = typename range<Index, Parts, Heads>::row;
        scan_rows(*this, unit_, rows.get(), [&](const row_ptr& each) {
            return visit(std::static_pointer_cast<const row>(each));
        });
    }
    using row_reader::scan;
    // All of them.
    template <class Index, std::size_t Parts, bool Heads>
    auto all(const range<Index, Parts, Heads>& rows) {
        using row = typename range<Index, Parts, Heads>::row;
        std::vector<row_of<row>> some;
        scan(rows, [&](row_of<row> each) {
            some.push_back(std::move(each));
            return true;
        });
        return some;
    }
    // The same, as values.
    template <class Index, std::size_t Parts, bool Heads>
    auto copies(const range<Index, Parts, Heads>& rows) {
        using row = typename range<Index, Parts, Heads>::row;
        std::vector<row> some;
        scan(rows, [&](row_of<row> each) {
            some.push_back(taken(std::move(each)));
            return true;
        });
        return some;
    }
    template <class Index, std::size_t Parts>
    std::int64_t count(const range<Index, Parts>& rows) {
        std::int64_t all = 0;
        scan(rows.heads(), [&](const auto& /*each*/) {
            ++all;
            return true;
        });
        return all;
    }

  protected:
    unit_of_work* unit_ = nullptr;  // null: nothing is written here
    row_cache* cache_ = nullptr;    // null: nothing is remembered

  private:
    // What is changed here, or else what `look` finds of the committed rows.
    template <class Index, class Look, class... Part>
    std::invoke_result_t<Look> own_or(const Look& look, const Part&... parts) {
        auto* const own = unit_ ? unit_->changed<typename Index::row>() : nullptr;
        if (!own) return look();
        if (const auto now = own->template find<Index>(index_key<Index>(parts...))) return *now;
        auto found = look();
        const bool is_other = found && own->has(found.get());
        return is_other ? nullptr : found;  // it is changed, and has another key now
    }
    template <class Index, class... Part>
    row_of<typename Index::row> committed(const Part&... parts) {
        using row = typename Index::row;
        if (auto known = remembered<Index>(parts...)) return known;
        auto found = std::static_pointer_cast<const row>(
            fetch(info_of<Index>(), key_from<Index, 0>(parts...), false));
        if constexpr (is_remembered<row>) {
            if (cache_ && found) cache_->of<row>().put(found);
        } else if constexpr (has_head<row>) {
            if (unit_ && found) unit_->of<row>().saw(*found);
        }
        return found;
    }
};

class write_tx : public read_tx {
  public:
    // `remembered` outlives it; null: nothing is.
    explicit write_tx(row_cache* remembered = nullptr) {
        unit_ = &changes_;
        cache_ = remembered;
    }

    // ---- rows ----
    // Requires: there is none with its key.
    template <class Row>
    row_of<Row> put(Row row) {
        auto now = std::make_shared<Row>(std::move(row));
        unit_->of<Row>().put(nullptr, now);
        return now;
    }
    // In place of one that was read here, or its head. Its key and what never changes are the same.
    template <class Row>
    void put(const row_of<Row>& before, whole_of<Row> row) {
        unit_->of<whole_of<Row>>().put(before, std::make_shared<whole_of<Row>>(std::move(row)));
    }
    // In place of it: what `change` makes of a copy.
    template <class Row, class Change>
    void edit(const row_of<Row>& before, const Change& change) {
        Row now = *before;
        change(now);
        put(before, std::move(now));
    }
    // Of a row, or of its head.
    template <class Row>
    void erase(const row_of<Row>& row) {
        unit_->of<whole_of<Row>>().put(row, nullptr);
    }
    // The last of so many ids.
    std::int64_t draw(drawn_id what, std::int64_t count = 1) {
        return totals().last(what) += count;
    }
    // A row carries this instant.
    void at(time_point now) {
        time_point& last = totals().last_moment;
        last = std::max(last, now);
    }
    const unit_of_work& work() const { return *unit_; }

    // Prefetches the rows that `named` returns, those that exist. For a backend across a network,
    // which fetches them in a few reads; an embedded one does not call `named`. Rules see no
    // difference. Requires: nothing is changed yet. Throws store_failure.
    virtual void fetch_ahead(const std::function<std::vector<row_name>()>& /*named*/) {}

    // What was removed until now, by this transaction too, is to leave the log: maintain() does so
    // as soon as no reader stands in the way.
    virtual void clear_log() {}

    // What was read and written so far of tasks and versions, as domain/work.hpp counts it, or
    // more. It is the same whenever the same is done to the same store.
    virtual std::size_t work_done() const = 0;

    // Hands the store what was put, so that less is left for commit(). Nothing may be put after it.
    // Throws store_failure.
    virtual void flush() {}
    // Makes everything durable. Throws store_failure. Dropped without commit, a transaction leaves
    // no trace. Nothing may be called after it.
    virtual void commit() = 0;
    // The same, but for being durable, which store::sync() sees to: a power cut before that leaves
    // of such commits some first ones, whole. Reads see them at once. A store that gains nothing by
    // it makes everything durable here.
    virtual void commit_unsynced() { commit(); }

  protected:
    // For a store that writes them: all that is changed, and the totals, which are counted now.
    std::vector<table_changes> counted_changes();

    // Around another: what is changed through either is one.
    explicit write_tx(write_tx& within) {
        unit_ = within.unit_;
        cache_ = within.cache_;
    }

  private:
    store_totals& totals() {
        auto& now = unit_->totals();
        return now ? *now : now.emplace(*expect<totals_by_id>(store_totals::only));
    }

    unit_of_work changes_;
};

// What it shows when it is opened is durable, whatever an earlier process left behind.
class store {
  public:
    virtual ~store() = default;

    // Requires: no other write transaction is open. Throws store_failure, for no fault of what is
    // to be written: there is no room, or damage was found. Writer's thread.
    virtual std::unique_ptr<write_tx> begin_write() = 0;
    // Any thread; a bounded number at once, further ones wait. Throws store_failure: so does every
    // read.
    virtual std::unique_ptr<read_tx> begin_read() = 0;

    // Makes durable what was committed before the call. Any thread, one at a time; it may go on
    // beside transactions. Throws store_failure: of what was committed since the last one nobody
    // knows what is durable, and nothing more is to be written.
    virtual void sync() {}

    // Of the latest committed state: another row with each commit that wrote something. `now` of a
    // later transaction is never before its last_moment. Writer's thread.
    virtual row_of<store_totals> totals() = 0;
    // Null: it is not one.
    virtual embedded_store* embedded() noexcept { return nullptr; }
};

}  // namespace callsign
