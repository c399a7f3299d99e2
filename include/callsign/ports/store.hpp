#pragma once
// Where rows are stored. A store only begins transactions; a transaction finds rows and takes their
// changes. What rows mean is decided by the rules. store/sqlite, store/postgres and store/memory
// implement this; one contract suite (tests/contract) tests them.
//
// Isolation: one write transaction at a time, which sees its own writes. A read transaction sees
// one committed state from its first read to its end, and may run concurrently with the writer, on
// another thread.
//
// Errors: a backend that cannot continue throws store_failure. Rules do not catch it, except the
// audit, which reports unreadable rows and continues; the engine makes it an errc. A lookup without
// a result returns null.

#include <callsign/ports/embedded_store.hpp>
#include <callsign/ports/row_cache.hpp>
#include <callsign/ports/shared_store.hpp>
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

// The reads of both kinds of transaction.
class read_tx : public row_reader {
  public:
    static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

    // ---- rows ----
    // Returns the row with this key, all of whose parts are given; null: there is none.
    template <class Index, class... Part>
    row_of<typename Index::row> get(const Part&... parts) {
        return own_or<Index>([&] { return committed<Index>(parts...); }, parts...);
    }
    // As get(), without large values.
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
    // Returns the committed row if it is cached; null: unknown.
    template <class Index, class... Part>
    row_of<typename Index::row> find_cached(const Part&... parts) {
        if constexpr (is_cached_by<Index>) {
            using row = typename Index::row;
            if (cache_) return cache_->of<row>().template find<Index>(index_key<Index>(parts...));
        }
        return nullptr;
    }
    // As get(), but throws store_failure if there is no such row.
    template <class Index, class Id>
    row_of<typename Index::row> expect(const Id& id) {
        auto found = get<Index>(id);
        if (!found)
            throw_damaged(std::string(info_of<Index>().table->name), number_of(id),
                          "does not exist");
        return found;
    }
    // Visits the rows in order until `visit` returns false. If `visit` changes rows of this table
    // that are still to come, it is unspecified whether they are visited.
    template <class Index, std::size_t Parts, bool Heads, class Visit>
    void scan(const range<Index, Parts, Heads>& rows, const Visit& visit) {
        using row = typename range<Index, Parts, Heads>::row;
        scan_rows(*this, unit_, rows.get(), [&](const row_ptr& each) {
            return visit(std::static_pointer_cast<const row>(each));
        });
    }
    using row_reader::scan;
    // Returns all rows of a range.
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
    // Returns all rows of a range, as values.
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
    unit_of_work* unit_ = nullptr;  // null: a read transaction
    row_cache* cache_ = nullptr;    // null: no cache

  private:
    // Returns the row as it was changed here, otherwise what `look` finds of the committed rows.
    template <class Index, class Look, class... Part>
    std::invoke_result_t<Look> own_or(const Look& look, const Part&... parts) {
        auto* const own = unit_ ? unit_->changed<typename Index::row>() : nullptr;
        if (!own) return look();
        if (const auto now = own->template find<Index>(index_key<Index>(parts...))) return *now;
        auto found = look();
        const bool is_other = found && own->has(found.get());
        return is_other ? nullptr : found;  // erased here, or under another key now
    }
    template <class Index, class... Part>
    row_of<typename Index::row> committed(const Part&... parts) {
        using row = typename Index::row;
        if (auto known = find_cached<Index>(parts...)) return known;
        auto found = std::static_pointer_cast<const row>(
            fetch(info_of<Index>(), key_from<Index, 0>(parts...), false));
        if constexpr (is_cached<row>) {
            if (cache_ && found) cache_->of<row>().put(found);
        } else if constexpr (has_head<row>) {
            if (unit_ && found) unit_->of<row>().saw(*found);
        }
        return found;
    }
};

class write_tx : public read_tx {
  public:
    // `cache` must outlive the transaction; null: no cache.
    explicit write_tx(row_cache* cache = nullptr) {
        unit_ = &changes_;
        cache_ = cache;
    }

    // ---- rows ----
    // Inserts a row and returns it. Requires: no row has the same primary key.
    template <class Row>
    row_of<Row> put(Row row) {
        auto now = std::make_shared<Row>(std::move(row));
        unit_->of<Row>().put(nullptr, now);
        return now;
    }
    // Replaces a row that was read here, or its head. Requires: the same key and fixed columns.
    template <class Row>
    void put(const row_of<Row>& before, whole_of<Row> row) {
        unit_->of<whole_of<Row>>().put(before, std::make_shared<whole_of<Row>>(std::move(row)));
    }
    // Replaces the row by what `change` makes of a copy.
    template <class Row, class Change>
    void edit(const row_of<Row>& before, const Change& change) {
        Row now = *before;
        change(now);
        put(before, std::move(now));
    }
    // Erases a row, given as itself or as its head.
    template <class Row>
    void erase(const row_of<Row>& row) {
        unit_->of<whole_of<Row>>().put(row, nullptr);
    }
    // Returns the last of `count` new IDs.
    std::int64_t draw(drawn_id what, std::int64_t count = 1) {
        return totals().last(what) += count;
    }
    // Raises store_totals::last_moment to `to`, if that is later. Requires: called for each instant
    // that this transaction writes.
    void raise_last_moment(time_point to) {
        time_point& last = totals().last_moment;
        last = std::max(last, to);
    }
    const unit_of_work& unit() const { return *unit_; }

    // Prefetches those of the rows returned by `named` that exist. For a backend across a network,
    // which reads them in few requests; an embedded one does not call `named`. Results do not
    // depend on it. Requires: nothing was changed yet. Throws store_failure.
    virtual void fetch_ahead(const std::function<std::vector<row_name>()>& /*named*/) {}

    // Requests that all data removed so far, by this transaction too, leaves the WAL: maintain()
    // clears it as soon as no reader prevents it.
    virtual void clear_log() {}

    // Returns the cost of the reads and writes so far, in bytes of work (domain/work.hpp); a store
    // may add costs of its own. The same operations on the same state cost the same.
    virtual std::size_t work_done() const = 0;

    // Passes all changes to the store, so that commit() has less to do. Nothing may be changed
    // afterwards. Throws store_failure.
    virtual void flush() {}
    // Makes all changes durable. Throws store_failure. A transaction that is destroyed without a
    // commit leaves no trace. Nothing may be called afterwards.
    virtual void commit() = 0;
    // As commit(), but durable only after store::sync(): a power failure before that may lose the
    // last of such commits, each as a whole. Reads see them at once. A store that gains nothing by
    // this makes them durable here.
    virtual void commit_unsynced() { commit(); }

  protected:
    // Returns all changes, with the totals as counted now. For stores, when they write them.
    std::vector<table_changes> counted_changes();

    // Wraps `within`, which must outlive this transaction, and shares its changes.
    explicit write_tx(write_tx& within) {  // NOLINT(bugprone-copy-constructor-init): it is no copy
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

// All that a store shows when it is opened is durable, whatever an earlier process did.
class store {
  public:
    virtual ~store() = default;

    // Requires: no other write transaction is open. Throws store_failure if the store cannot be
    // written, whatever the changes: the disk is full, or corruption was found. Writer's thread.
    virtual std::unique_ptr<write_tx> begin_write() = 0;
    // Any thread. Blocks while the maximum number of read transactions is open. Throws
    // store_failure
    // (`rejected`: blocked for too long), as does every read.
    virtual std::unique_ptr<read_tx> begin_read() = 0;

    // Makes durable what was committed before the call. Any thread, one call at a time, also
    // concurrently with transactions. Throws store_failure: it is unknown which commits since the
    // last sync are durable, and nothing more may be written.
    virtual void sync() {}

    // Returns the totals of the latest committed state: another object after each commit that
    // changed them. rules::moment::now of later transactions is never before last_moment. Writer's
    // thread.
    virtual row_of<store_totals> totals() = 0;
    // Null: not an embedded store.
    virtual embedded_store* embedded() noexcept { return nullptr; }
    // Null: no other process can take it over.
    virtual shared_store* shared() noexcept { return nullptr; }
};

}  // namespace callsign
