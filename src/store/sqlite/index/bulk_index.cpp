#include "index/bulk_index.hpp"

#include "statements.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace callsign::sqlite {

const bulk_table task_numbers{"tasks",
                              "task_numbers",
                              sql::numbers_through,
                              sql::set_numbers_through,
                              sql::numbers_behind,
                              sql::number_put,
                              sql::number_row,
                              sql::number_delete,
                              sql::number_turn,
                              {"n.over = 0", "n.over = 1"}};
const bulk_table version_places{"versions",
                                "version_places",
                                sql::places_through,
                                sql::set_places_through,
                                sql::places_behind,
                                sql::place_put,
                                sql::place_row,
                                sql::place_delete,
                                nullptr,
                                {""}};

const bulk_table& bulk_table_of(const table_info& table) {
    return table.name == task_numbers.of ? task_numbers : version_places;
}

namespace {

// More rows than the buffers can hold: a `through` with more rows behind it is corrupt.
constexpr std::size_t collected_max = std::size_t{1} << 22;

[[noreturn]] void throw_taken(const bulk_table& table, std::int64_t row) {
    throw_damaged(table.name, row, "another row has its place");
}

// Sorts the entries first, so that each is appended.
void collect(connection& db, const bulk_table& table, std::int64_t after, entry_buffer& into) {
    std::vector<std::pair<index_entry, std::int64_t>> all;  // and the commit that closed them
    {
        auto q = db.use(table.rows_behind);
        q.bind(after);
        while (q.step()) {
            if (all.size() == collected_max) {
                throw_damaged("index_progress", 1, "how far an index has come");
            }
            all.push_back({{{q.integer(0), q.integer(1)}, q.integer(2)},
                           q.integer(3) != 0 ? 0 : entry_buffer::is_open});
        }
    }
    std::ranges::sort(all);
    for (const auto& [e, over_since] : all) {
        if (into.add(e, over_since)) throw_taken(table, e.row);
    }
}

std::int64_t through_of(connection& db, const bulk_table& table) {
    auto q = db.use(table.through);
    if (!q.step()) throw_damaged("index_progress", 1, "does not exist");
    return q.integer(0);
}

}  // namespace

// ---- entry_buffer ----

bool entry_buffer::add(const index_entry& e, std::int64_t over_since) {
    const std::scoped_lock lock(mutex_);
    const place_and_row own{e.at.place, e.row, over_since};
    const auto [owner, is_new] = owners_.try_emplace(e.at.owner, 1, own);
    bool has_twin = false;
    if (!is_new) {
        places& all = owner->second;
        const auto behind = std::ranges::lower_bound(all, own);
        has_twin = (behind != all.begin() && std::prev(behind)->place == own.place) ||
                   (behind != all.end() && behind->place == own.place);
        all.insert(behind, own);
    }
    ++size_;
    return has_twin;
}

void entry_buffer::remove(const index_entry& e) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto owner = owners_.find(e.at.owner);
    if (owner == owners_.end()) return;
    places& all = owner->second;
    const place_and_row own{e.at.place, e.row};
    const auto found = std::ranges::lower_bound(all, own);
    if (found == all.end() || *found != own) return;
    all.erase(found);
    --size_;
    if (all.empty()) owners_.erase(owner);
}

bool entry_buffer::turn(const index_entry& e, std::int64_t over_since) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto owner = owners_.find(e.at.owner);
    if (owner == owners_.end()) return false;
    const place_and_row own{e.at.place, e.row};
    const auto found = std::ranges::lower_bound(owner->second, own);
    if (found == owner->second.end() || *found != own) return false;
    found->over_since = over_since;
    return true;
}

std::size_t entry_buffer::size() const {
    const std::scoped_lock lock(mutex_);
    return size_;
}

std::optional<index_entry> entry_buffer::next(const index_entry& last, index_walk walk,
                                              std::int64_t commits) const {
    const std::scoped_lock lock(mutex_);
    const auto owner = owners_.find(last.at.owner);
    if (owner == owners_.end()) return std::nullopt;
    const places& all = owner->second;
    const place_and_row from{last.at.place, last.row};
    const auto is_wanted = [&](const place_and_row& e) {
        return !walk.open_only || e.over_since > commits;
    };
    const auto first_of = [&](auto begin, auto end) -> std::optional<index_entry> {
        const auto found = std::find_if(begin, end, is_wanted);
        if (found == end) return std::nullopt;
        return index_entry{{owner->first, found->place}, found->row};
    };
    if (!walk.descending) return first_of(std::ranges::upper_bound(all, from), all.end());
    return first_of(std::reverse_iterator(std::ranges::lower_bound(all, from)), all.rend());
}

std::span<index_entry> entry_buffer::behind(const index_entry& last,
                                            std::span<index_entry> some) const {
    const std::scoped_lock lock(mutex_);
    std::size_t n = 0;
    for (auto owner = owners_.lower_bound(last.at.owner); owner != owners_.end(); ++owner) {
        const places& all = owner->second;
        auto from = all.begin();
        if (owner->first == last.at.owner)
            from = std::ranges::upper_bound(all, place_and_row{last.at.place, last.row});
        for (; from != all.end(); ++from) {
            if (n == some.size()) return some;
            some[n++] = {{owner->first, from->place}, from->row};
        }
    }
    return some.first(n);
}

// ---- bulk_index ----

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

void bulk_index::add(const index_entry& e, bool over) {
    // `merging` accepts no more entries, and after the merge readers take no row up to its end from
    // `newest`.
    if (e.row <= (now_.merging ? now_.merging_through : now_.through)) {
        if (put({&e, 1}) != 1) throw_taken(table_, e.row);
        return;
    }
    added_.push_back(e);
    if (!now_.newest->add(e, over ? commits() + 1 : entry_buffer::is_open)) return;
    auto twin = now_.newest->next(index_entry::before(e.at));
    for (; twin && twin->at == e.at; twin = now_.newest->next(*twin)) {
        if (twin->row != e.row && is_there(*twin)) throw_taken(table_, e.row);
    }
}

void bulk_index::turn(const index_entry& e, bool over) {
    turned_.push_back(e);
    turn_waiting(e, over ? commits() + 1 : entry_buffer::is_open);
    if (!table_.turn) return;
    // An entry in the table contains whether its row is closed.
    db_.use(table_.turn)
        .bind(over ? 1 : 0)
        .bind(e.at.owner)
        .bind(over ? 0 : 1)
        .bind(e.at.place)
        .run();
    const bool is_there = db_.database().getChanges() == 1;
    if (!is_there && e.row <= now_.through) throw_damaged(table_.name, e.row, "it has no entry");
}

void bulk_index::erase(const index_place& at) {
    db_.use(table_.erase).bind(at.owner).bind(at.place).run();
}

void bulk_index::turn_waiting(const index_entry& e, std::int64_t over_since) noexcept {
    if (!now_.newest->turn(e, over_since) && now_.merging) now_.merging->turn(e, over_since);
}

bool bulk_index::is_there(const index_entry& e) {
    auto q = db_.use(table_.rows_behind);
    return q.bind(e.row - 1).step() && q.integer(2) == e.row &&
           index_place{q.integer(0), q.integer(1)} == e.at;
}

int bulk_index::put(std::span<const index_entry> some) {
    auto q = db_.use(table_.put);
    for (const index_entry& e : some) q.bind(e.row);
    for (auto n = some.size(); n < sql::put_at_once; ++n) q.bind_null();
    q.run();
    return db_.database().getChanges();
}

void bulk_index::prepare_commit(std::int64_t last_row) {
    if (now_.merging) {
        now_.owed += added_.size() * merged_per_add;
        if (now_.owed >= std::min(merged_at_once, entries_max_)) merge();
    }
    if (now_.merging || now_.newest->size() < entries_max_) return;
    now_.merging = std::exchange(now_.newest, std::make_shared<entry_buffer>());
    now_.merging_through = last_row;
    now_.merged = index_entry::before({std::numeric_limits<std::int64_t>::min(), 0});
    now_.owed = 0;
}

void bulk_index::merge() {
    std::array<index_entry, sql::put_at_once> room;
    while (now_.owed > 0) {
        const auto wanted = std::min(now_.owed, room.size());
        const auto some = now_.merging->behind(now_.merged, std::span(room).first(wanted));
        merge(some);
        if (!some.empty()) now_.merged = some.back();
        now_.owed -= some.size();
        if (some.size() == wanted) continue;
        now_.through = now_.merging_through;
        now_.merging.reset();
        now_.owed = 0;
        db_.use(table_.set_through).bind(now_.through).run();
    }
}

void bulk_index::merge(std::span<const index_entry> some) {
    if (some.empty() || put(some) == std::ssize(some)) return;
    for (const index_entry& e : some) {
        // Not inserted: the row was removed, or a merge that a crash interrupted had inserted it.
        if (!is_there(e)) continue;
        auto q = db_.use(table_.row_at);
        const bool is_merged = q.bind(e.at.owner).bind(e.at.place).step() && q.integer(0) == e.row;
        if (!is_merged) throw_taken(table_, e.row);
    }
}

void bulk_index::committed() noexcept {
    added_.clear();
    turned_.clear();
    commits_.fetch_add(1, std::memory_order_release);
    const bool moved = now_.newest != committed_.newest || now_.through != committed_.through;
    committed_ = now_;
    if (!moved) return;
    const std::scoped_lock lock(mutex_);
    view_ = {now_.through, {now_.newest, now_.merging}};
}

void bulk_index::roll_back() noexcept {
    now_ = committed_;
    // In reverse: each entry is then its owner's last.
    for (auto e = added_.rbegin(); e != added_.rend(); ++e) now_.newest->remove(*e);
    added_.clear();
    // Marked open, whatever they are: readers look at their rows.
    for (const index_entry& e : turned_) turn_waiting(e, entry_buffer::is_open);
    turned_.clear();
}

index_buffers bulk_index::view() const {
    const std::scoped_lock lock(mutex_);
    return view_;
}

// ---- index_view ----

index_view::index_view(connection& db, const bulk_table& table, const bulk_index* writer,
                       std::int64_t commits)
    : commits_(commits), through_(through_of(db, table)) {
    if (writer) buffers_ = writer->view();
    if (writer && buffers_.after <= through_) return;
    auto own = std::make_shared<entry_buffer>();
    collect(db, table, through_, *own);
    buffers_ = {through_, {std::move(own), nullptr}};
}

std::optional<index_entry> index_view::next(const index_entry& last, index_walk walk) const {
    std::optional<index_entry> nearest;
    for (const auto& buffer : buffers_.some) {
        if (!buffer) continue;
        auto e = buffer->next(last, walk, commits_);
        while (e && e->row <= through_) e = buffer->next(*e, walk, commits_);
        if (!e) continue;
        const bool is_nearer = !nearest || (walk.descending ? *e > *nearest : *e < *nearest);
        if (is_nearer) nearest = e;
    }
    return nearest;
}

}  // namespace callsign::sqlite
