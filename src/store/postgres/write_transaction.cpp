#include "write_transaction.hpp"

#include "log_table.hpp"
#include "reads.hpp"

#include <callsign/ports/tables/slots.hpp>
#include <callsign/ports/tables/totals.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>

namespace callsign::postgres {
namespace {

// Rows of the log that are kept, for operators; and how many more there may be before they are
// removed.
constexpr std::int64_t log_rows_kept = 10'000;
constexpr std::int64_t log_rows_removed_at_once = 1'000;
// Entries of write_state::heads.
constexpr std::size_t heads_max = 65'536;

const std::string delete_log = "DELETE FROM batches WHERE n >= $1::bigint AND n < $2::bigint";
const std::string list_slots = "INSERT INTO pending_slots (slot_id) SELECT unnest($1::bigint[])";
const std::string unlist_slots = "DELETE FROM pending_slots WHERE slot_id = ANY ($1::bigint[])";

parameters one_array(std::span<const std::int64_t> ids) {
    array all(oid::bigint);
    for (const std::int64_t id : ids) all.add_integer(id);
    parameters values;
    values.add(all.take());
    return values;
}

class writers_queries final : public query_runner {
  public:
    writers_queries(connection& db, trip_counts& trips) : db_(db), trips_(trips) {}

    result run(const std::string& text, const parameters& values) override {
        trips_.add(trip::miss);
        return on_live_connection(db_, [&] {
            db_.add(text, values);
            return std::move(db_.run()[0]);
        });
    }
    void run_by_row(const std::string& text, const parameters& values,
                    const std::function<void()>& begin,
                    const std::function<bool(const PGresult&)>& visit) override {
        trips_.add(trip::miss);
        on_live_connection(db_, [&] {
            begin();
            db_.add(text, values);
            db_.run_by_row(visit);
        });
    }

  private:
    connection& db_;
    trip_counts& trips_;
};

// The changes of a table as statements.
class table_writes {
  public:
    // `n`: of the batch.
    table_writes(write_state& state, const table_changes& changes, std::int64_t n, batch_writes& to)
        : state_(state),
          t_(*changes.table),
          layout_(state.texts.layout_of(t_)),
          changes_(changes),
          n_(n),
          to_(to) {}

    void add() {
        auto erased = column_arrays::of_keys(layout_.rows);
        column_arrays updated(layout_.changes), inserted(layout_.rows);
        for (const row_change& c : changes_.rows) {
            const bool stays = c.before && c.now && !c.is_reinserted && !may_clash(c);
            if (stays) {
                if (changes_row(c)) put_row(updated, c.now);
                continue;
            }
            if (c.before) put_key(erased, c.before);
            if (c.now) put_row(inserted, c.now);
        }
        if (erased.rows() > 0) run(state_.texts.erase(t_, false), erased.take());
        if (updated.rows() > 0) run(state_.texts.update(t_), updated.take());
        if (inserted.rows() > 0) run(state_.texts.insert(t_, false), inserted.take());
        if (!layout_.heads.name.empty()) add_heads();
    }

  private:
    void run(const std::string& text, parameters values) {
        to_.statements.emplace_back(&text, std::move(values));
    }
    void put_key(column_arrays& to, const row_ptr& row) {
        to.begin_row();
        t_.put_key(row.get(), to);
    }
    void put_row(column_arrays& to, const row_ptr& row) {
        to.begin_row();
        t_.put_columns(row.get(), to);
    }
    // Rows that exchange their keys must all be deleted before one is written.
    bool may_clash(const row_change& c) const {
        return std::ranges::any_of(t_.indexes, [&](const index_info& i) {
            return i.may_change && i.may_clash && !i.is_same_key(c.before.get(), c.now.get());
        });
    }
    // Whether the relation without the heads changes.
    bool changes_row(const row_change& c) {
        if (layout_.heads.name.empty()) return true;
        column_arrays before(layout_.changes), now(layout_.changes);
        put_row(before, c.before);
        put_row(now, c.now);
        return before.take() != now.take();
    }

    std::int64_t id_of(const row_ptr& row) const {
        return key_reader(*t_.indexes.front().key_of(row.get())).integer();
    }
    // Inserts the rows' heads of this batch, and deletes those before it. The number of the batch
    // that wrote the former heads is known, mostly: otherwise an old snapshot would let each
    // deletion visit all of the heads ever written.
    void add_heads() {
        auto erased = column_arrays::of_keys(layout_.heads);
        auto superseded = column_arrays::of_keys(layout_.heads);
        array from(oid::bigint);
        column_arrays inserted(layout_.heads);
        for (const row_change& c : changes_.rows) {
            if (c.now) put_row(inserted, c.now);
            if (!c.before) continue;
            if (!c.now) {
                put_key(erased, c.before);
                erased_from_.add_integer(0);
                continue;
            }
            put_key(superseded, c.before);
            const auto known = state_.heads.find({&t_, id_of(c.before)});
            from.add_integer(known == state_.heads.end() ? 0 : known->second);
        }
        const std::string& erase = state_.texts.erase(t_, true);
        if (erased.rows() > 0) {
            run(erase, heads(erased, erased_from_, std::numeric_limits<std::int64_t>::max()));
        }
        if (superseded.rows() > 0) run(erase, heads(superseded, from, n_));
        if (inserted.rows() == 0) return;
        parameters rows = inserted.take();
        rows.add_integer(n_, oid::bigint);
        run(state_.texts.insert(t_, true), std::move(rows));
    }
    static parameters heads(column_arrays& keys, array& from, std::int64_t until) {
        parameters values = keys.take();
        values.add(from.take());
        values.add_integer(until, oid::bigint);
        return values;
    }

    write_state& state_;
    const table_info& t_;
    const layout& layout_;
    const table_changes& changes_;
    std::int64_t n_;
    batch_writes& to_;
    array erased_from_{oid::bigint};
};

class write_transaction final : public reads_over<write_tx> {
  public:
    explicit write_transaction(write_state& state)
        : reads_over(state.texts, &state.rows), state_(state), queries_(state.db, state.trips) {}

    row_ptr fetch(const index_info& index, const row_key& key, bool head) override {
        const auto at = ahead_.find({&index, key});
        if (at != ahead_.end() && (head || !at->second.is_head || !at->second.row)) {
            work_ += at->second.work;
            return at->second.row;
        }
        return reads_over::fetch(index, key, head);
    }
    row_page scan(const row_range& range) override {
        if (range.index->form != index_form::brief) return reads_over::scan(range);
        row_page page;
        const auto limit =
            std::min<std::size_t>(static_cast<std::size_t>(range.limit), page_rows_max);
        auto ids = state_.open.in(range);
        page.is_last = ids.size() <= limit;
        ids.resize(std::min(ids.size(), limit));
        if (ids.empty()) return page;
        const index_info& by_id = info_of<slots_by_id>();
        const result rows = queries_.run(texts_.fetch_all(by_id, false), one_array(ids));
        for (int n = 0; n < PQntuples(rows.get()); ++n) {
            page.rows.push_back(row_in(*rows, n, *by_id.table, false, work_));
        }
        std::ranges::sort(page.rows, {}, [](const row_ptr& row) {
            return static_cast<const slot*>(row.get())->id;
        });
        const bool are_open = std::ranges::all_of(
            page.rows, [&](const row_ptr& row) { return range.index->has(row.get()); });
        if (page.rows.size() != ids.size() || !are_open) {
            throw_damaged("pending_slots", ids.front(), "it or a later one is not open");
        }
        return page;
    }
    void fetch_ahead(const std::function<std::vector<row_name>()>& named) override;

    std::size_t work_done() const override { return work_ + unit().work_done(); }
    void flush() override {
        if (std::exchange(flushed_, true)) return;
        written_ = counted_changes();
    }
    void commit() override;

  private:
    struct fetched {
        row_ptr row;  // null: no such row
        bool is_head = false;
        std::size_t work = 0;
    };
    using place = std::pair<const index_info*, row_key>;

    query_runner& queries() override { return queries_; }
    void keep(const index_info& index, row_key key, const fetched& row);
    void committed(const open_slots::list_changes& list, std::int64_t n);
    const table_changes* changes_of_slots() const {
        const auto at = std::ranges::find(written_, &info_of_table<slot>(), &table_changes::table);
        return at == written_.end() ? nullptr : &*at;
    }

    write_state& state_;
    writers_queries queries_;
    std::map<place, fetched> ahead_;
    bool flushed_ = false;
    std::vector<table_changes> written_;
};

// A whole row replaces a head.
void write_transaction::keep(const index_info& index, row_key key, const fetched& row) {
    const auto [at, is_first] = ahead_.try_emplace(place(&index, std::move(key)), row);
    if (!is_first && at->second.is_head && !row.is_head) at->second = row;
}

// One query for each index, all in one round trip.
void write_transaction::fetch_ahead(const std::function<std::vector<row_name>()>& named) {
    const std::vector<row_name> names = named();
    std::map<std::pair<const index_info*, bool>, std::vector<const row_key*>> by_index;
    for (const row_name& n : names) by_index[{n.index, n.head}].push_back(&n.key);
    if (by_index.empty()) return;
    state_.trips.add(trip::prefetch);
    const auto all = on_live_connection(state_.db, [&] {
        for (const auto& [which, keys] : by_index) {
            const auto& [index, head] = which;
            column_arrays parts = column_arrays::of_parts(texts_.key_types(*index));
            for (const row_key* key : keys) {
                parts.begin_row();
                parts.put_key(*index, 0, index->columns.size(), *key);
            }
            state_.db.add(texts_.fetch_all(*index, head), parts.take());
        }
        return state_.db.run();
    });
    std::size_t at = 0;
    for (const auto& [which, keys] : by_index) {
        const auto& [index, head] = which;
        const result& rows = all[at++];
        for (int n = 0; n < PQntuples(rows.get()); ++n) {
            fetched one{nullptr, head};
            one.row = row_in(*rows, n, *index->table, head, one.work);
            // A row can be read by each of its keys.
            for (const index_info& each : index->table->indexes) {
                auto key = each.key_of(one.row.get());
                if (key) keep(each, std::move(*key), one);
            }
        }
    }
    for (const row_name& n : names) ahead_.try_emplace(place(n.index, n.key), fetched{});
}

void write_transaction::commit() {
    flush();
    if (written_.empty()) {
        // What was read is true if the store was held until now.
        if (!state_.log.is_held()) state_.log.prove();
        return;
    }
    const std::int64_t n = state_.log.last() + 1;
    batch_writes writes;
    for (const table_changes& each : written_) {
        if (each.table == &info_of_table<store_totals>()) {
            writes.totals = std::static_pointer_cast<const store_totals>(each.rows.front().now);
        } else {
            table_writes(state_, each, n, writes).add();
        }
    }
    const auto totals = writes.totals ? writes.totals : get<totals_by_id>(store_totals::only);
    const auto list = state_.open.foresee(changes_of_slots(), totals->last(drawn_id::slot));
    writes.pending_through = list.through;
    if (!list.listed.empty()) writes.statements.emplace_back(&list_slots, one_array(list.listed));
    if (!list.removed.empty()) {
        writes.statements.emplace_back(&unlist_slots, one_array(list.removed));
    }
    const std::int64_t log_until = n - log_rows_kept;
    const bool trims = log_until - state_.log_from >= log_rows_removed_at_once;
    if (trims) {
        parameters bounds;
        bounds.add_integer(state_.log_from, oid::bigint);
        bounds.add_integer(log_until, oid::bigint);
        writes.statements.emplace_back(&delete_log, std::move(bounds));
    }
    state_.log.append(writes);
    if (trims) state_.log_from = log_until;
    committed(list, n);
}

void write_transaction::committed(const open_slots::list_changes& list, std::int64_t n) {
    state_.open.committed(changes_of_slots(), list);
    state_.rows.committed(written_);
    if (state_.heads.size() > heads_max) state_.heads.clear();
    for (const table_changes& each : written_) {
        if (state_.texts.layout_of(*each.table).heads.name.empty()) continue;
        for (const row_change& c : each.rows) {
            const auto id_of = [&](const row_ptr& row) {
                return std::pair(
                    each.table,
                    key_reader(*each.table->indexes.front().key_of(row.get())).integer());
            };
            c.now ? void(state_.heads.insert_or_assign(id_of(c.now), n))
                  : void(state_.heads.erase(id_of(c.before)));
        }
    }
}

class whole_index final : public reads_over<read_tx> {
  public:
    explicit whole_index(write_state& state)
        : reads_over(state.texts), queries_(state.db, state.trips) {}

  private:
    query_runner& queries() override { return queries_; }

    writers_queries queries_;
};

}  // namespace

std::vector<row_ptr> read_open_slots(write_state& state) {
    whole_index reads(state);
    read_tx& tx = reads;
    std::vector<row_ptr> all;
    tx.scan(range_of<slots_open>(), [&](const row_of<slot>& each) {
        all.push_back(each);
        return true;
    });
    return all;
}

std::unique_ptr<write_tx> begin_write(write_state& state) {
    return std::make_unique<write_transaction>(state);
}

}  // namespace callsign::postgres
