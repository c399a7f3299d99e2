#include "index/key_index.hpp"

#include "statements.hpp"

#include <callsign/base/sha256.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

namespace callsign::sqlite {

static_assert(std::endian::native == std::endian::little, "hashes and pages are read as they lie");

std::uint64_t key_hash(account_id account, std::string_view key) {
    const std::string_view owner(reinterpret_cast<const char*>(&account.value),
                                 sizeof account.value);
    const digest d = sha256({owner, key});
    std::uint64_t hash = 0;
    std::memcpy(&hash, d.data(), sizeof hash);
    return hash;
}

// A blocked Bloom filter (B. H. Bloom, Space/Time Trade-offs in Hash Coding with Allowable Errors,
// 1970): each key sets bits of one 64-byte block, so a look-up costs one cache line. For m bits and
// n keys the best number of bits to set is k = m/n ln 2, 8 at 12 bits a key; six is as many as one
// hash has places for, and nearly as good. (1 - exp(-k n/m))^k = 0.4 % of absent keys would pass if
// blocks were evenly filled; they are not, and about 1 % pass.
class key_index::filter {
  public:
    explicit filter(std::size_t keys) : blocks_(blocks_for(keys)) {}

    void add(std::uint64_t hash) {
        block& b = blocks_[place(hash)];
        for_bits(hash, [&](std::uint64_t bit) {
            b[bit >> 6] |= std::uint64_t{1} << (bit & 63);
            return true;
        });
    }

    bool may_contain(std::uint64_t hash) const {
        const block& b = blocks_[place(hash)];
        return for_bits(hash, [&](std::uint64_t bit) { return (b[bit >> 6] >> (bit & 63)) & 1; });
    }

    std::size_t bytes() const { return blocks_.size() * sizeof(block); }
    static std::size_t bytes_for(std::size_t keys) { return blocks_for(keys) * sizeof(block); }

  private:
    using block = std::array<std::uint64_t, 8>;

    static std::size_t blocks_for(std::size_t keys) {
        return std::max<std::size_t>(1, (keys * 12 + 511) / 512);
    }
    std::size_t place(std::uint64_t hash) const {
        return static_cast<std::size_t>(((hash >> 32) * blocks_.size()) >> 32);
    }

    template <class Visit>
    static bool for_bits(std::uint64_t hash, Visit visit) {
        // Mixed again, because the same bits chose the block.
        std::uint64_t mixed = hash * 0x9E3779B97F4A7C15ULL;
        for (int i = 0; i < 6; ++i, mixed >>= 9) {
            if (!visit((mixed >> 10) & 511)) return false;
        }
        return true;
    }

    std::vector<block> blocks_;
};

class key_index::run {
  public:
    std::int64_t page_id(std::int64_t page) const { return (id << 32) + page; }
    std::int64_t pages() const { return static_cast<std::int64_t>(first_hashes.size()); }
    std::size_t filter_bytes() const { return keys ? keys->bytes() : 0; }

    void note_page(std::span<const entry> page) {
        first_hashes.push_back(page.front().hash);
        entries += std::ssize(page);
        if (!keys) return;
        for (const entry& e : page) keys->add(e.hash);
    }

    std::int64_t id = 0;
    int level = 0;
    std::int64_t entries = 0;
    std::int64_t through = 0;
    std::vector<std::uint64_t> first_hashes;  // of each page
    std::optional<filter> keys;               // none: beyond the memory limit
};

// Reads a run's entries in order, a page at a time. A copy continues at the same position.
class key_index::reader {
  public:
    reader(key_index& index, std::shared_ptr<const run> r) : index_(&index), run_(std::move(r)) {
        next_page();
    }

    const entry* front() const { return page_ ? &(*page_)[at_] : nullptr; }
    void pop() {
        if (at_ + 1 == page_->size()) return next_page();
        ++at_;
    }

  private:
    void next_page() {
        if (next_ == run_->pages()) return page_.reset();
        page_ = std::make_shared<const page>(index_->read_page(*run_, next_));
        ++next_;
        at_ = 0;
    }

    key_index* index_;
    std::shared_ptr<const run> run_;
    std::int64_t next_ = 0;
    std::shared_ptr<const page> page_;  // none: at the end
    std::size_t at_ = 0;
};

struct key_index::merge {
    std::vector<std::int64_t> inputs;
    std::vector<reader> readers;
    std::shared_ptr<run> output;
    page unwritten;
    std::int64_t oldest_slot = 0;
};

// State before prepare_commit(), as far as that may change it.
struct key_index::before {
    struct length {
        std::size_t pages;
        std::int64_t entries;
    };

    std::optional<recent_keys> recent;  // set if it was flushed
    std::vector<entry> recent_twins;
    bool merges_due;
    std::map<std::int64_t, std::shared_ptr<run>> runs;
    std::map<int, merge> merges;
    std::vector<length> outputs;  // of the merges' outputs, in order; runs are append-only
    std::vector<std::int64_t> dead;
    std::int64_t next_run;
    std::int64_t through;
};

key_index::key_index(connection& db, key_index_options options) : db_(db), options_(options) {}

key_index::~key_index() = default;

// ---- look-up ----

void key_index::nominate(std::uint64_t hash, const std::function<bool(slot_id)>& visit) {
    if (const auto found = recent_.find(hash); found != recent_.end()) {
        if (visit(slot_id{found->second})) return;
    }
    for (const entry& twin : recent_twins_) {
        if (twin.hash == hash && visit(slot_id{twin.slot})) return;
    }
    for (const auto& [id, r] : runs_) {
        if (search(*r, hash, visit)) return;
    }
}

bool key_index::search(const run& r, std::uint64_t hash,
                       const std::function<bool(slot_id)>& visit) {
    if (r.keys && !r.keys->may_contain(hash)) return false;
    // Equal hashes may span pages: start one page before the first that begins at or above the
    // hash.
    const auto& first = r.first_hashes;
    auto page = std::lower_bound(first.begin(), first.end(), hash) - first.begin();
    if (page > 0) --page;
    for (; page < r.pages() && first[static_cast<std::size_t>(page)] <= hash; ++page) {
        const auto entries = read_page(r, page);
        auto at = std::lower_bound(entries.begin(), entries.end(), entry{hash, INT64_MIN});
        for (; at != entries.end() && at->hash == hash; ++at) {
            if (visit(slot_id{at->slot})) return true;
        }
    }
    return false;
}

key_index::page key_index::read_page(connection& db, std::int64_t page_id) {
    auto q = db.use(sql::page_get);
    if (!q.bind(page_id).step()) throw_damaged("key_pages", page_id, "does not exist");
    return entries_of(q.blob(0), page_id);
}

key_index::page key_index::read_page(const run& r, std::int64_t number) {
    const std::int64_t id = r.page_id(number);
    page entries = read_page(db_, id);
    if (entries.front().hash != r.first_hashes[static_cast<std::size_t>(number)]) {
        throw_damaged("key_pages", id, "it is another page");
    }
    return entries;
}

key_index::page key_index::entries_of(std::string_view bytes, std::int64_t page_id) {
    page entries(bytes.size() / sizeof(entry));
    if (entries.empty() || entries.size() > page_entries || bytes.size() % sizeof(entry) != 0) {
        throw_damaged("key_pages", page_id, "its size");
    }
    std::memcpy(entries.data(), bytes.data(), bytes.size());
    if (!std::is_sorted(entries.begin(), entries.end())) {
        throw_damaged("key_pages", page_id, "its order");
    }
    return entries;
}

// ---- look-up by a reader ----

void key_index::nominate_in(connection& db, const key_index* writer, account_id account,
                            std::string_view key, const std::function<bool(slot_id)>& visit) {
    struct stored {
        std::int64_t id, entries;
    };
    std::vector<stored> runs;
    std::int64_t through = 0;
    {
        auto q = db.use(sql::run_in_use);
        q.bind(static_cast<int>(run_state::in_use));
        while (q.step()) {
            runs.push_back({q.integer(0), q.integer(1)});
            through = std::max(through, q.integer(2));
        }
    }
    const std::uint64_t hash = key_hash(account, key);
    // Read after the snapshot has begun: memory then has every key of the snapshot.
    newest behind = writer ? writer->nominate_newest(hash) : newest{};
    if (behind.through != through) {  // memory and snapshot differ: the snapshot's rows decide
        behind.nominated.clear();
        const std::string wanted(key);
        auto q = db.use(sql::slot_by_key_behind);
        if (q.bind(through).bind(account).bind(wanted).step()) {
            behind.nominated.push_back(slot_id{q.integer(0)});
        }
    }
    for (const slot_id id : behind.nominated) {
        if (visit(id)) return;
    }
    for (const stored& r : runs) {
        const std::int64_t pages =
            (r.entries + std::int64_t{page_entries - 1}) / std::int64_t{page_entries};
        if (search_in(db, r.id, pages, hash, visit)) return;
    }
}

key_index::newest key_index::nominate_newest(std::uint64_t hash) const {
    const std::scoped_lock lock(mutex_);
    if (!is_loaded_) return {};
    newest found{through_};
    if (const auto at = recent_.find(hash); at != recent_.end()) {
        found.nominated.push_back(slot_id{at->second});
    }
    for (const entry& twin : recent_twins_) {
        if (twin.hash == hash) found.nominated.push_back(slot_id{twin.slot});
    }
    return found;
}

// Searches a run without its first hashes and filter: reads a page for each step of a binary
// search.
bool key_index::search_in(connection& db, std::int64_t run_id, std::int64_t pages,
                          std::uint64_t hash, const std::function<bool(slot_id)>& visit) {
    const std::int64_t first = run_id << 32;
    std::int64_t from = 0, to = pages;  // pages before `from` begin below the hash, from `to` not
    while (from < to) {
        const std::int64_t middle = from + (to - from) / 2;
        if (read_page(db, first + middle).front().hash < hash) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    for (std::int64_t at = std::max<std::int64_t>(from, 1) - 1; at < pages; ++at) {
        const page entries = read_page(db, first + at);
        if (entries.front().hash > hash) return false;
        auto e = std::lower_bound(entries.begin(), entries.end(), entry{hash, INT64_MIN});
        for (; e != entries.end() && e->hash == hash; ++e) {
            if (visit(slot_id{e->slot})) return true;
        }
    }
    return false;
}

// ---- additions and merges ----

void key_index::add(std::uint64_t hash, slot_id id) {
    added_.push_back({hash, id.value});
    put_recent(added_.back());
}

void key_index::put_recent(const entry& e) {
    const std::scoped_lock lock(mutex_);
    if (!recent_.emplace(e.hash, e.slot).second) recent_twins_.push_back(e);
}

void key_index::prepare_commit() {
    const bool is_full = recent_.size() + recent_twins_.size() >= options_.recent_max;
    if (!is_full && merges_.empty() && !merges_due_ && dead_.empty()) return;
    remember();
    if (is_full) flush_recent();
    for (auto at = merges_.begin(); at != merges_.end();) {
        const bool finished = go_on(at->second, added_.size() * options_.merged_per_add);
        at = finished ? merges_.erase(at) : std::next(at);
    }
    if (std::exchange(merges_due_, false)) begin_merges();
    if (!dead_.empty()) delete_pages();
}

void key_index::remember() {
    before_ = std::make_unique<before>(
        before{{}, {}, merges_due_, runs_, merges_, {}, dead_, next_run_, through_});
    for (const auto& [level, m] : merges_) {
        before_->outputs.push_back({m.output->first_hashes.size(), m.output->entries});
    }
}

void key_index::committed() noexcept {
    added_.clear();
    before_.reset();
}

void key_index::roll_back() noexcept {
    const std::scoped_lock lock(mutex_);
    if (before_) {
        if (before_->recent) {
            recent_ = std::move(*before_->recent);
            recent_twins_ = std::move(before_->recent_twins);
        }
        merges_due_ = before_->merges_due;
        runs_ = std::move(before_->runs);
        merges_ = std::move(before_->merges);
        dead_ = std::move(before_->dead);
        next_run_ = before_->next_run;
        through_ = before_->through;
        auto length = before_->outputs.begin();
        for (auto& [level, m] : merges_) {
            m.output->first_hashes.resize(length->pages);
            m.output->entries = length->entries;
            ++length;
        }
        // Filters that were given up for a discarded run are not rebuilt: that costs reads, but no
        // correctness.
        filter_bytes_ = 0;
        for (const auto& [id, r] : runs_) filter_bytes_ += r->filter_bytes();
        for (const auto& [level, m] : merges_) filter_bytes_ += m.output->filter_bytes();
        before_.reset();
    }
    for (const entry& e : added_) {
        const auto found = recent_.find(e.hash);
        if (found != recent_.end() && found->second == e.slot) recent_.erase(found);
        std::erase(recent_twins_, e);
    }
    added_.clear();
}

void key_index::flush_recent() {
    std::vector<entry> all(recent_twins_);
    all.reserve(all.size() + recent_.size());
    for (const auto& [hash, slot] : recent_) all.push_back({hash, slot});
    std::int64_t through = through_;
    for (const entry& e : all) through = std::max(through, e.slot);
    std::sort(all.begin(), all.end());

    auto written = begin_run(0, all.size(), through);
    for (std::span<const entry> rest(all); !rest.empty();) {
        const auto page = rest.first(std::min(page_entries, rest.size()));
        append(*written, page);
        rest = rest.subspan(page.size());
    }
    {
        const std::scoped_lock lock(mutex_);
        through_ = through;
        before_->recent = std::exchange(recent_, {});
        before_->recent_twins = std::exchange(recent_twins_, {});
    }
    take_into_use(std::move(written));
}

// Begins a merge for each level that has `fan_in` runs and no merge in progress.
void key_index::begin_merges() {
    std::map<int, std::vector<std::shared_ptr<run>>> levels;
    for (const auto& [id, r] : runs_) levels[r->level].push_back(r);
    for (auto& [level, runs] : levels) {
        if (runs.size() < options_.fan_in || merges_.contains(level)) continue;
        runs.resize(options_.fan_in);  // keeps the oldest
        merge m;
        std::int64_t keys = 0, through = 0;
        for (const auto& r : runs) {
            m.inputs.push_back(r->id);
            m.readers.emplace_back(*this, r);
            keys += r->entries;
            through = std::max(through, r->through);
        }
        m.output = begin_run(level + 1, static_cast<std::size_t>(keys), through);
        m.oldest_slot = db_.integer_of(sql::slot_oldest);
        merges_.emplace(level, std::move(m));
    }
}

// Merges up to `budget` entries. Returns whether the merge is finished.
bool key_index::go_on(merge& m, std::size_t budget) {
    for (; budget > 0; --budget) {
        reader* least = nullptr;
        for (reader& r : m.readers) {
            if (r.front() && (!least || *r.front() < *least->front())) least = &r;
        }
        if (!least) {
            finish(m);
            return true;
        }
        if (least->front()->slot >= m.oldest_slot) m.unwritten.push_back(*least->front());
        least->pop();
        if (m.unwritten.size() == page_entries) append(*m.output, std::exchange(m.unwritten, {}));
    }
    return false;
}

void key_index::finish(merge& m) {
    if (!m.unwritten.empty()) append(*m.output, m.unwritten);
    for (const std::int64_t id : m.inputs) put_out_of_use(id);
    take_into_use(m.output);
}

// ---- runs ----

std::shared_ptr<key_index::run> key_index::begin_run(int level, std::size_t keys,
                                                     std::int64_t through) {
    auto r = std::make_shared<run>();
    r->id = next_run_++;
    r->level = level;
    r->through = through;
    give_filter(*r, keys);
    db_.use(sql::run_put)
        .bind(r->id)
        .bind(level)
        .bind(static_cast<int>(run_state::writing))
        .bind(0)
        .bind(through)
        .run();
    return r;
}

// Larger runs give up their filters if memory is short: a missing filter costs one read per
// look-up, whatever the run's size.
void key_index::give_filter(run& r, std::size_t keys) {
    const std::size_t bytes = filter::bytes_for(keys);
    while (filter_bytes_ + bytes > options_.filter_bytes_max) {
        run* const largest = largest_with_filter();
        if (!largest || largest->filter_bytes() <= bytes) return;
        filter_bytes_ -= largest->filter_bytes();
        largest->keys.reset();
    }
    filter_bytes_ += bytes;
    r.keys.emplace(keys);
}

key_index::run* key_index::largest_with_filter() {
    run* largest = nullptr;
    const auto look_at = [&](run& r) {
        if (r.keys && (!largest || r.filter_bytes() > largest->filter_bytes())) largest = &r;
    };
    for (const auto& [id, r] : runs_) look_at(*r);
    for (const auto& [level, m] : merges_) look_at(*m.output);
    return largest;
}

std::pair<std::int64_t, std::int64_t> key_index::filter_border() const {
    std::int64_t with = 0, without = 0;
    for (const auto& [id, r] : runs_) {
        if (r->keys) with = std::max(with, r->entries);
        if (!r->keys && (without == 0 || r->entries < without)) without = r->entries;
    }
    return {with, without};
}

void key_index::append(run& r, std::span<const entry> page) {
    db_.use(sql::page_put)
        .bind(r.page_id(r.pages()))
        .bind_blob(page.data(), page.size_bytes())
        .run();
    r.note_page(page);
}

void key_index::take_into_use(std::shared_ptr<run> r) {
    db_.use(sql::run_set)
        .bind(static_cast<int>(run_state::in_use))
        .bind(r->entries)
        .bind(r->id)
        .run();
    const auto id = r->id;
    runs_.emplace(id, std::move(r));
    merges_due_ = true;
}

void key_index::put_out_of_use(std::int64_t run_id) {
    const auto found = runs_.find(run_id);
    const run& r = *found->second;
    db_.use(sql::run_set)
        .bind(static_cast<int>(run_state::dead))
        .bind(r.entries)
        .bind(run_id)
        .run();
    filter_bytes_ -= r.filter_bytes();
    runs_.erase(found);
    dead_.push_back(run_id);
}

void key_index::delete_pages() {
    const std::int64_t first = dead_.back() << 32;
    db_.use(sql::page_delete)
        .bind(first)
        .bind(first + (std::int64_t{1} << 32))
        .bind(static_cast<std::int64_t>(options_.pages_deleted_per_commit))
        .run();
    if (db_.database().getChanges() > 0) return;
    db_.use(sql::run_delete).bind(dead_.back()).run();
    dead_.pop_back();
}

// ---- start ----

void key_index::load() {
    std::vector<std::shared_ptr<run>> found;
    {
        auto q = db_.use(sql::run_all);
        while (q.step()) {
            auto r = std::make_shared<run>();
            r->id = q.integer(0);
            r->level = static_cast<int>(q.integer(1));
            r->entries = q.integer(3);
            r->through = q.integer(4);
            if (r->id < 1 || r->id >= INT32_MAX || r->entries < 0 || r->entries >= INT32_MAX) {
                throw_damaged("key_runs", r->id, "its numbers");
            }
            next_run_ = std::max(next_run_, r->id + 1);
            if (q.integer(2) == static_cast<int>(run_state::in_use)) {
                through_ = std::max(through_, r->through);
                found.push_back(std::move(r));
            } else {
                dead_.push_back(r->id);  // merged already, or output of an interrupted merge
            }
        }
    }
    // The smallest first: if filter memory is short, the largest runs have no filter.
    std::ranges::sort(found, {}, &run::entries);
    for (auto& r : found) {
        load_run(*r);
        const auto id = r->id;
        runs_.emplace(id, std::move(r));
    }
    auto q = db_.use(sql::key_after);
    q.bind(through_);
    while (q.step()) {
        put_recent({key_hash(account_id{q.integer(1)}, q.text(2)), q.integer(0)});
    }
    merges_due_ = true;
    const std::scoped_lock lock(mutex_);
    is_loaded_ = true;
}

void key_index::load_run(run& r) {
    const std::int64_t entries = std::exchange(r.entries, 0);
    give_filter(r, static_cast<std::size_t>(entries));
    auto q = db_.use(sql::page_all);
    q.bind(r.page_id(0)).bind(r.page_id(std::int64_t{1} << 32));
    while (q.step()) {
        if (q.integer(0) != r.page_id(r.pages())) throw_damaged("key_runs", r.id, "a page is lost");
        r.note_page(entries_of(q.blob(1), q.integer(0)));
    }
    if (r.entries != entries) throw_damaged("key_runs", r.id, "its entries");
}

}  // namespace callsign::sqlite
