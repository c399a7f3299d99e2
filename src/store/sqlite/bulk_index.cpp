#include "bulk_index.hpp"

#include "statements.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace callsign::sqlite {

const bulk_table task_numbers{"task_numbers",      sql::numbers_through, sql::set_numbers_through,
                              sql::numbers_behind, sql::number_put,      sql::number_row};
const bulk_table version_places{"version_places",   sql::places_through, sql::set_places_through,
                                sql::places_behind, sql::place_put,      sql::place_row};

namespace {

// More rows than any buffers hold are behind a `through` that is damaged.
constexpr std::size_t collected_max = std::size_t{1} << 22;

[[noreturn]] void throw_taken(const bulk_table& table, std::int64_t row) {
    throw_damaged(table.name, row, "another row has its place");
}

void collect(connection& db, const bulk_table& table, std::int64_t after, entry_buffer& into) {
    auto q = db.use(table.rows_behind);
    q.bind(after);
    for (std::size_t collected = 0; q.step(); ++collected) {
        if (collected == collected_max) throw_damaged("totals", 1, "how far an index has come");
        const index_entry e{{q.integer(0), q.integer(1)}, q.integer(2)};
        if (into.add(e)) throw_taken(table, e.row);
    }
}

std::int64_t through_of(connection& db, const bulk_table& table) {
    auto q = db.use(table.through);
    if (!q.step()) throw_damaged("totals", 1, "it is not there");
    return q.integer(0);
}

}  // namespace

// ---- entries in memory ----

std::optional<std::int64_t> entry_buffer::add(const index_entry& e) {
    const std::scoped_lock lock(mutex_);
    const auto [at, is_new] = entries_.try_emplace(e.at, e.row);
    if (is_new) return std::nullopt;
    return at->second;
}

void entry_buffer::remove(const index_place& at) noexcept {
    const std::scoped_lock lock(mutex_);
    entries_.erase(at);
}

std::size_t entry_buffer::size() const {
    const std::scoped_lock lock(mutex_);
    return entries_.size();
}

std::optional<index_entry> entry_buffer::next(const index_place& from, bool descending) const {
    const std::scoped_lock lock(mutex_);
    auto found = descending ? entries_.upper_bound(from) : entries_.lower_bound(from);
    if (found == (descending ? entries_.begin() : entries_.end())) return std::nullopt;
    if (descending) --found;
    if (found->first.owner != from.owner) return std::nullopt;
    return index_entry{found->first, found->second};
}

std::optional<index_entry> entry_buffer::next_of_all(const index_place& after) const {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.upper_bound(after);
    if (found == entries_.end()) return std::nullopt;
    return index_entry{found->first, found->second};
}

// ---- the writer's ----

bulk_index::bulk_index(connection& db, const bulk_table& table, std::size_t entries_max)
    : db_(db), table_(table), entries_max_(entries_max) {
    now_.newest = std::make_shared<entry_buffer>();
    committed_ = now_;
}

void bulk_index::load() {
    now_.through = through_of(db_, table_);
    collect(db_, table_, now_.through, *now_.newest);
    committed_ = now_;
    view_ = {now_.through, {now_.newest, nullptr}};
}

void bulk_index::add(const index_entry& e) {
    // `merging` takes no more, and nobody looks for a row before its end in `newest` when it is in
    // the table.
    if (e.row <= (now_.merging ? now_.merging_through : now_.through)) return put(e.row);
    added_.reserve(added_.size() + 1);
    if (const auto row = now_.newest->add(e)) {
        // Of an account that was removed, whose id this one has now?
        if (is_there({e.at, *row})) throw_taken(table_, e.row);
        now_.newest->remove(e.at);
        now_.newest->add(e);
    }
    added_.push_back(e);
}

bool bulk_index::is_there(const index_entry& e) {
    auto q = db_.use(table_.rows_behind);
    return q.bind(e.row - 1).step() && q.integer(2) == e.row &&
           index_place{q.integer(0), q.integer(1)} == e.at;
}

void bulk_index::put(std::int64_t row) {
    db_.use(table_.put).bind(row).run();
    if (db_.database().getChanges() != 1) throw_taken(table_, row);
}

void bulk_index::prepare_commit(std::int64_t last_row) {
    if (now_.merging) {
        now_.owed += added_.size() * merged_per_add;
        if (now_.owed >= std::min(merged_at_once, entries_max_)) merge();
    }
    if (now_.merging || now_.newest->size() < entries_max_) return;
    now_.merging = std::exchange(now_.newest, std::make_shared<entry_buffer>());
    now_.merging_through = last_row;
    now_.merged = {std::numeric_limits<std::int64_t>::min(), 0};
    now_.owed = 0;
}

void bulk_index::merge() {
    for (; now_.owed > 0; --now_.owed) {
        const auto e = now_.merging->next_of_all(now_.merged);
        if (!e) {
            now_.through = now_.merging_through;
            now_.merging.reset();
            now_.owed = 0;
            db_.use(table_.set_through).bind(now_.through).run();
            return;
        }
        now_.merged = e->at;
        db_.use(table_.put).bind(e->row).run();
        if (db_.database().getChanges() == 1) continue;
        // Its account was removed; or it was merged before, and a crash came before the rest.
        auto q = db_.use(table_.row_at);
        const bool is_taken =
            q.bind(e->at.owner).bind(e->at.place).step() && q.integer(0) != e->row;
        if (is_taken) throw_taken(table_, e->row);
    }
}

void bulk_index::committed() noexcept {
    added_.clear();
    const bool moved = now_.newest != committed_.newest || now_.through != committed_.through;
    committed_ = now_;
    if (!moved) return;
    const std::scoped_lock lock(mutex_);
    view_ = {now_.through, {now_.newest, now_.merging}};
}

void bulk_index::roll_back() noexcept {
    now_ = committed_;
    for (const index_entry& e : added_) now_.newest->remove(e.at);
    added_.clear();
}

index_buffers bulk_index::view() const {
    const std::scoped_lock lock(mutex_);
    return view_;
}

// ---- a transaction's ----

index_view::index_view(connection& db, const bulk_table& table, const bulk_index* writer)
    : through_(through_of(db, table)) {
    if (writer) buffers_ = writer->view();
    if (writer && buffers_.after <= through_) return;
    auto own = std::make_shared<entry_buffer>();
    collect(db, table, through_, *own);
    buffers_ = {through_, {std::move(own), nullptr}};
}

std::optional<index_entry> index_view::next(index_place from, bool descending) const {
    std::optional<index_entry> nearest;
    for (const auto& buffer : buffers_.some) {
        if (!buffer) continue;
        auto e = buffer->next(from, descending);
        while (e && e->row <= through_) {
            e = buffer->next({from.owner, e->at.place + (descending ? -1 : 1)}, descending);
        }
        if (!e) continue;
        const bool is_nearer = !nearest || (descending ? e->at > nearest->at : e->at < nearest->at);
        if (is_nearer) nearest = e;
    }
    return nearest;
}

}  // namespace callsign::sqlite
