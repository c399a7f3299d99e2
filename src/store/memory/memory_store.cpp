#include <callsign/base/assert.hpp>
#include <callsign/store/memory.hpp>

#include <algorithm>
#include <boost/container/flat_map.hpp>
#include <functional>
#include <mutex>
#include <tuple>

namespace callsign {
namespace {

struct stored_task {
    callsign::task task;
    series_id series;
};

// A row that the copies of a state share, until one of them changes it.
template <class T>
class row {
  public:
    row(T value) : shared_(std::make_shared<const T>(std::move(value))) {}  // NOLINT: it is one

    const T& operator*() const { return *shared_; }
    const T* operator->() const { return shared_.get(); }

    template <class Change>
    void edit(const Change& change) {
        T mine = *shared_;
        change(mine);
        shared_ = std::make_shared<const T>(std::move(mine));
    }

  private:
    std::shared_ptr<const T> shared_;
};

// Flat: a state is copied for every batch.
template <class Key, class T>
using table = boost::container::flat_map<Key, T>;

struct state {
    table<account_id, account> accounts;
    table<series_id, series> series_rows;
    table<std::pair<account_id, std::string>, series_id> prefixes;
    table<token_id, token> tokens;
    table<digest, token_id> token_hashes;
    table<slot_id, row<slot>> slots;
    table<std::pair<account_id, std::string>, slot_id> slot_keys;
    table<task_id, row<stored_task>> tasks;
    table<std::pair<account_id, uuid>, task_id> task_uuids;
    table<std::tuple<series_id, std::string, std::int64_t>, task_id> task_numbers;
    table<std::pair<series_id, std::string>, std::int64_t> counters;
    table<std::pair<account_id, std::int64_t>, row<version>> versions;
    table<account_id, uuid> last_versions;
    table<account_id, std::int64_t> sealed_seqs;
    table<std::pair<account_id, uuid>, std::int64_t> version_seqs;
    // In the order they were made.
    table<account_id, std::vector<side_version>> side_versions;
    table<uuid, device> devices;                                         // by client id
    table<std::pair<account_id, uuid>, sealed_version> sealed_children;  // by parent
    table<account_id, sealed_snapshot> snapshots;
    std::int64_t last_id = 0;  // of any row: ids grow and are never reused
    time_point last_moment{};
};

template <class Map>
typename Map::mapped_type* find(Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

template <class T>
std::optional<T> copy(const T* found) {
    return found ? std::optional<T>(*found) : std::nullopt;
}
template <class T>
std::optional<T> copy(const row<T>* found) {
    return found ? std::optional<T>(**found) : std::nullopt;
}

// One class serves both kinds: a reader holds the committed state, the writer a copy of its own.
// Copying it all is what makes isolation plain, and tests' states are small.
class transaction final : public write_tx {
  public:
    using committer = std::function<void(std::shared_ptr<state>)>;

    transaction(std::shared_ptr<state> view, committer commit, int* forgotten)
        : state_(std::move(view)), commit_(std::move(commit)), forgotten_(forgotten) {}
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;
    ~transaction() override {
        if (wrote_ && forgotten_) ++*forgotten_;
    }

    std::optional<account> find_account(account_id id) override {
        return copy(find(state_->accounts, id));
    }
    std::optional<account> find_account(std::string_view name) override {
        for (const auto& [id, a] : state_->accounts) {
            if (a.name == name) return a;
        }
        return std::nullopt;
    }
    std::vector<account> accounts() override {
        std::vector<account> all;
        for (const auto& [id, a] : state_->accounts) all.push_back(a);
        return all;
    }

    std::optional<series> find_series(account_id account, std::string_view prefix) override {
        const auto* id = find(state_->prefixes, {account, std::string(prefix)});
        return id ? with_number(state_->series_rows.at(*id)) : std::nullopt;
    }
    std::optional<series> find_series_for_project(account_id account,
                                                  std::string_view project) override {
        if (project.empty()) return std::nullopt;
        return find_series_if(
            [&](const series& s) { return s.account == account && s.project == project; });
    }
    std::optional<series> default_series(account_id account) override {
        return find_series_if(
            [&](const series& s) { return s.account == account && s.is_default; });
    }
    std::vector<series> series_of(account_id account) override {
        std::vector<series> all;
        for (const auto& [id, s] : state_->series_rows) {
            if (s.account == account) all.push_back(*with_number(s));
        }
        return all;
    }

    std::optional<principal> find_principal(const digest& token_hash) override {
        const auto* id = find(state_->token_hashes, token_hash);
        if (!id) return std::nullopt;
        const token& t = state_->tokens.at(*id);
        if (t.revoked_at) return std::nullopt;
        const auto mode = t.account ? state_->accounts.at(*t.account).mode : account_mode::managed;
        return principal{t.id, t.account, t.scope, mode};
    }
    std::vector<token> tokens_of(std::optional<account_id> account) override {
        std::vector<token> all;
        for (const auto& [id, t] : state_->tokens) {
            if (t.account == account) all.push_back(t);
        }
        return all;
    }

    std::optional<task> find_task(account_id account, const uuid& id) override {
        const auto* row = find(state_->task_uuids, {account, id});
        return row ? std::optional(shown(*state_->tasks.at(*row))) : std::nullopt;
    }
    std::optional<task> find_task(series_id series, std::string_view period,
                                  std::int64_t number) override {
        const auto* row = find(state_->task_numbers, {series, std::string(period), number});
        return row ? std::optional(shown(*state_->tasks.at(*row))) : std::nullopt;
    }
    std::vector<task> tasks(account_id account, task_id after, std::int64_t limit) override {
        std::vector<task> some;
        for (auto at = state_->tasks.upper_bound(after);
             at != state_->tasks.end() && std::ssize(some) < limit; ++at) {
            if (at->second->task.account == account) some.push_back(shown(*at->second));
        }
        return some;
    }
    std::vector<std::string> periods_of(series_id series) override {
        std::vector<std::string> all;
        for (const auto& [name, last] : state_->counters) {
            if (name.first == series) all.push_back(name.second);
        }
        return all;
    }
    std::vector<task> numbered_tasks(series_id series, std::string_view period, std::int64_t after,
                                     std::int64_t limit) override {
        std::vector<task> some;
        const std::string in(period);
        for (auto at = state_->task_numbers.upper_bound({series, in, after});
             at != state_->task_numbers.end() && std::get<0>(at->first) == series &&
             std::get<1>(at->first) == in && std::ssize(some) < limit;
             ++at) {
            some.push_back(shown(*state_->tasks.at(at->second)));
        }
        return some;
    }
    std::vector<version> versions(account_id account, std::int64_t after,
                                  std::int64_t limit) override {
        std::vector<version> some;
        for (auto at = state_->versions.upper_bound({account, after});
             at != state_->versions.end() && at->first.first == account && std::ssize(some) < limit;
             ++at) {
            some.push_back(*at->second);
        }
        return some;
    }

    std::optional<std::int64_t> find_version_seq(account_id account, const uuid& id) override {
        return copy(find(state_->version_seqs, {account, id}));
    }
    std::optional<side_version> find_side_version(account_id account, const uuid& id) override {
        const auto* all = find(state_->side_versions, account);
        if (!all) return std::nullopt;
        const auto found = std::find_if(all->begin(), all->end(),
                                        [&](const side_version& side) { return side.id == id; });
        if (found == all->end()) return std::nullopt;
        side_version side = *found;
        side.back = state_->versions.at({account, side.own.back()})->id;
        return side;
    }

    std::vector<slot> slots(slot_id after, std::int64_t limit, std::optional<slot_state> wanted,
                            std::optional<account_id> account) override {
        std::vector<slot> some;
        for (auto at = state_->slots.upper_bound(after);
             at != state_->slots.end() && std::ssize(some) < limit; ++at) {
            const slot& s = *at->second;
            if ((!wanted || s.state == *wanted) && (!account || s.account == *account)) {
                some.push_back(s);
            }
        }
        return some;
    }
    std::optional<receipt> find_receipt(const slot& committed) override {
        if (!committed.task) return std::nullopt;
        const auto* found = find(state_->tasks, *committed.task);
        if (!found) return std::nullopt;
        auto given = (*found)->task.numbered;
        if (given) given->created = committed.created;
        return given;
    }

    std::optional<device> find_device(const uuid& client_id) override {
        const auto* found = find(state_->devices, client_id);
        return found ? std::optional(with_mode(*found)) : std::nullopt;
    }
    std::vector<device> devices_of(account_id account) override {
        std::vector<device> all;
        for (const auto& [client, d] : state_->devices) {
            if (d.account == account) all.push_back(with_mode(d));
        }
        std::sort(all.begin(), all.end(),
                  [](const device& a, const device& b) { return a.id < b.id; });
        return all;
    }
    chain_head head_of(account_id account) override {
        const auto* last = find(state_->last_versions, account);
        const auto* sealed = find(state_->sealed_seqs, account);
        return {state_->accounts.at(account).last_seq, last ? *last : uuid{}, sealed ? *sealed : 0};
    }
    std::optional<sealed_version> find_sealed_child(account_id account,
                                                    const uuid& parent) override {
        return copy(find(state_->sealed_children, {account, parent}));
    }
    std::size_t sealed_child_bytes(account_id account, const uuid& parent) override {
        const auto* found = find(state_->sealed_children, {account, parent});
        return found ? found->segment.size() : 0;
    }
    std::optional<chain_head> find_child_place(account_id account, const uuid& parent) override {
        const auto* found = find(state_->sealed_children, {account, parent});
        return found ? std::optional(chain_head{found->seq, found->id}) : std::nullopt;
    }
    std::optional<sealed_version> find_first_sealed(account_id account) override {
        for (const auto& [place, v] : state_->sealed_children) {
            if (place.first == account && v.seq == 1) return v;
        }
        return std::nullopt;
    }
    std::optional<snapshot_mark> find_snapshot_mark(account_id account) override {
        const auto* found = find(state_->snapshots, account);
        return found ? std::optional(found->mark) : std::nullopt;
    }
    std::optional<sealed_snapshot> find_snapshot(account_id account) override {
        return copy(find(state_->snapshots, account));
    }
    std::size_t snapshot_bytes(account_id account) override {
        const auto* found = find(state_->snapshots, account);
        return found ? found->bytes.size() : 0;
    }

    std::optional<slot> find_slot(account_id account, std::string_view key) override {
        const auto* id = find(state_->slot_keys, {account, std::string(key)});
        return id ? std::optional(*state_->slots.at(*id)) : std::nullopt;
    }
    std::optional<slot> find_slot(slot_id id) override { return copy(find(state_->slots, id)); }
    slot_id put_slot(const slot& s) override {
        const slot_id id{next_id(s.created_at)};
        CALLSIGN_ASSERT(state_->slot_keys.emplace(std::pair(s.account, s.key), id).second);
        slot kept = s;
        kept.id = id;
        state_->slots.emplace(id, std::move(kept));
        return id;
    }
    void count_attempt(slot_id id) override {
        wrote_ = true;
        pending(id)->edit([](slot& s) { ++s.attempts; });
    }
    bool commit_slot(slot_id id, task_id task, bool created, time_point now) override {
        row<slot>* found = pending(id);
        if (!found) return false;
        CALLSIGN_ASSERT(state_->tasks.contains(task));
        moved(now);
        found->edit([&](slot& s) {
            s.task = task;
            s.created = created;
            s.state = slot_state::committed;
            s.settled_at = now;
        });
        return true;
    }
    bool fail_slot(slot_id id, failure_reason reason, time_point now) override {
        row<slot>* found = pending(id);
        if (!found) return false;
        moved(now);
        found->edit([&](slot& s) {
            s.reason = reason;
            s.state = slot_state::failed;
            s.settled_at = now;
        });
        return true;
    }
    void forget_slot(slot_id id) override {
        wrote_ = true;
        const slot& s = *state_->slots.at(id);
        CALLSIGN_ASSERT(s.state != slot_state::pending);
        state_->slot_keys.erase({s.account, s.key});
        state_->slots.erase(id);
    }
    std::vector<slot> pending_slots_of(account_id account, const uuid& id) override {
        std::vector<slot> waiting;
        for (const auto& [key, s] : state_->slots) {
            if (s->state == slot_state::pending && s->account == account && s->uuid == id) {
                waiting.push_back(*s);
            }
        }
        return waiting;
    }

    std::int64_t take_number(series_id series, std::string_view period) override {
        wrote_ = true;
        return ++state_->counters[{series, std::string(period)}];
    }

    task_id put_task(const task& t, series_id series) override {
        const task_id id{next_id(t.created_at)};
        CALLSIGN_ASSERT(state_->task_uuids.emplace(std::pair(t.account, t.uuid), id).second);
        stored_task kept{t, series};
        kept.task.id = id;
        state_->tasks.emplace(id, std::move(kept));
        if (t.numbered) index_number(id, series, *t.numbered);
        return id;
    }
    void number_task(task_id id, series_id series, const receipt& r) override {
        wrote_ = true;
        state_->tasks.at(id).edit([&](stored_task& kept) {
            CALLSIGN_ASSERT(!kept.task.numbered);
            kept.task.numbered = r;
            kept.task.last_seq = r.seq;
            kept.series = series;
        });
        index_number(id, series, r);
    }
    void update_task(task_id id, const attributes& all, bool purged,
                     std::int64_t last_seq) override {
        wrote_ = true;
        state_->tasks.at(id).edit([&](stored_task& kept) {
            kept.task.attributes = all;
            kept.task.purged = purged;
            kept.task.last_seq = last_seq;
        });
    }
    std::int64_t append_version(account_id account, const uuid& id, time_point now,
                                std::span<const operation> operations) override {
        moved(now);
        auto& owner = state_->accounts.at(account);
        CALLSIGN_ASSERT(owner.mode == account_mode::managed);
        version v;
        v.seq = ++owner.last_seq;
        v.id = id;
        v.parent = std::exchange(state_->last_versions[account], id);
        v.created_at = now;
        v.operations.assign(operations.begin(), operations.end());
        CALLSIGN_ASSERT(state_->version_seqs.emplace(std::pair(account, id), v.seq).second);
        state_->versions.emplace(std::pair(account, v.seq), std::move(v));
        return owner.last_seq;
    }
    void put_side_version(account_id account, const side_version& side,
                          const side_version_bounds& keep) override {
        moved(side.created_at);
        CALLSIGN_ASSERT(side.own.back() <= state_->accounts.at(account).last_seq);
        CALLSIGN_ASSERT(!state_->version_seqs.contains({account, side.id}));
        CALLSIGN_ASSERT(!find_side_version(account, side.id));
        auto& all = state_->side_versions[account];
        all.push_back(side);
        std::int64_t bytes = 0;
        auto first = all.end();  // that stays
        do {
            bytes += static_cast<std::int64_t>(size_of(*--first));
        } while (first != all.begin() && all.end() - first < keep.count_max &&
                 bytes + static_cast<std::int64_t>(size_of(*std::prev(first))) <= keep.bytes_max);
        all.erase(all.begin(), first);
    }
    void forget_side_version(account_id account, const uuid& id) override {
        wrote_ = true;
        std::erase_if(state_->side_versions[account],
                      [&](const side_version& side) { return side.id == id; });
    }
    std::int64_t forget_side_versions(time_point before, std::int64_t limit) override {
        std::vector<std::pair<uuid, account_id>> oldest;
        for (const auto& [account, all] : state_->side_versions) {
            for (const side_version& side : all) oldest.emplace_back(side.id, account);
        }
        std::sort(oldest.begin(), oldest.end());
        std::int64_t forgotten = 0;
        for (std::int64_t i = 0; i < std::min<std::int64_t>(limit, std::ssize(oldest)); ++i) {
            const auto& [id, account] = oldest[static_cast<std::size_t>(i)];
            forgotten += std::erase_if(state_->side_versions[account], [&](const auto& side) {
                return side.id == id && side.created_at < before;
            });
        }
        if (forgotten > 0) wrote_ = true;
        return forgotten;
    }

    device_id put_device(const device& d) override {
        for (const auto& [client, other] : state_->devices) {
            CALLSIGN_ASSERT(d.name.empty() || other.account != d.account || other.revoked_at ||
                            other.name != d.name);
        }
        const device_id id{next_id(d.created_at)};
        const auto [at, fresh] = state_->devices.emplace(d.client_id, d);
        CALLSIGN_ASSERT(fresh);
        at->second.id = id;
        at->second.revoked_at.reset();
        return id;
    }
    void revoke_device(device_id id, time_point now) override {
        moved(now);
        for (auto& [client, d] : state_->devices) {
            if (d.id == id) d.revoked_at = now;
        }
    }
    std::int64_t append_sealed_version(account_id account, const uuid& id, const uuid& parent,
                                       time_point now, std::string_view segment) override {
        moved(now);
        auto& owner = state_->accounts.at(account);
        CALLSIGN_ASSERT(owner.mode == account_mode::opaque);
        CALLSIGN_ASSERT(owner.last_seq == 0 || state_->last_versions.at(account) == parent);
        state_->last_versions[account] = id;
        sealed_version v{++owner.last_seq, id, parent, now, std::string(segment)};
        CALLSIGN_ASSERT(
            state_->sealed_children.emplace(std::pair(account, parent), std::move(v)).second);
        return owner.last_seq;
    }
    void put_snapshot(account_id account, const snapshot_mark& mark, time_point now,
                      std::string_view bytes) override {
        moved(now);
        state_->snapshots.insert_or_assign(account, sealed_snapshot{mark, std::string(bytes)});
    }

    void become_managed(account_id account, std::span<const version> sealed) override {
        wrote_ = true;
        state_->sealed_seqs[account] = std::ssize(sealed);
        auto& owner = state_->accounts.at(account);
        CALLSIGN_ASSERT(owner.mode == account_mode::opaque);
        owner.mode = account_mode::managed;
        owner.last_seq = 0;
        state_->last_versions.erase(account);
        state_->snapshots.erase(account);
        for (const version& v : sealed) {
            CALLSIGN_ASSERT(state_->sealed_children.erase({account, v.parent}) == 1);
        }
    }
    void take_over_version(account_id account, const version& v) override {
        moved(v.created_at);
        auto& owner = state_->accounts.at(account);
        CALLSIGN_ASSERT(owner.mode == account_mode::managed && v.seq == owner.last_seq + 1);
        CALLSIGN_ASSERT(owner.last_seq == 0 || state_->last_versions.at(account) == v.parent);
        owner.last_seq = v.seq;
        state_->last_versions[account] = v.id;
        CALLSIGN_ASSERT(state_->version_seqs.emplace(std::pair(account, v.id), v.seq).second);
        state_->versions.emplace(std::pair(account, v.seq), v);
    }
    void give_key(device_id id, std::string_view name, std::string_view sealed_key) override {
        wrote_ = true;
        for (auto& [client, d] : state_->devices) {
            if (d.id != id) continue;
            CALLSIGN_ASSERT(d.sealed_key.empty());
            d.name = name;
            d.sealed_key = sealed_key;
        }
    }

    account_id put_account(std::string_view name, time_point now, account_mode mode) override {
        const account_id id{next_id(now)};
        state_->accounts.emplace(id, account{id, std::string(name), {}, 0, now, mode});
        return id;
    }
    series_id put_series(account_id account, std::string_view prefix, std::string_view project,
                         bool is_default, time_point now) override {
        const series_id id{next_id(now)};
        CALLSIGN_ASSERT(
            state_->prefixes.emplace(std::pair(account, std::string(prefix)), id).second);
        state_->series_rows.emplace(
            id, series{id, account, std::string(prefix), std::string(project), is_default, 0});
        if (is_default) state_->accounts.at(account).default_prefix = prefix;
        return id;
    }
    token_id put_token(std::optional<account_id> account, std::string_view name, token_scope scope,
                       const digest& hash, time_point now) override {
        const token_id id{next_id(now)};
        CALLSIGN_ASSERT(state_->token_hashes.emplace(hash, id).second);
        state_->tokens.emplace(id, token{id, account, std::string(name), scope, now, {}});
        return id;
    }
    std::optional<token> find_token(token_id id) override { return copy(find(state_->tokens, id)); }
    void revoke_token(token_id id, time_point now) override {
        moved(now);
        state_->tokens.at(id).revoked_at = now;
    }

    void commit() override {
        wrote_ = false;
        commit_(std::move(state_));
    }

  private:
    template <class Predicate>
    std::optional<series> find_series_if(Predicate wanted) {
        for (const auto& [id, s] : state_->series_rows) {
            if (wanted(s)) return with_number(s);
        }
        return std::nullopt;
    }
    std::optional<series> with_number(series s) {
        if (const auto* last = find(state_->counters, {s.id, std::string{}})) s.last_number = *last;
        return s;
    }
    device with_mode(device d) {
        d.mode = state_->accounts.at(d.account).mode;
        return d;
    }
    task shown(const stored_task& kept) {
        task t = kept.task;
        t.current_prefix = state_->series_rows.at(kept.series).prefix;
        return t;
    }
    row<slot>* pending(slot_id id) {
        row<slot>* s = find(state_->slots, id);
        return s && (*s)->state == slot_state::pending ? s : nullptr;
    }
    void index_number(task_id id, series_id series, const receipt& r) {
        CALLSIGN_ASSERT(
            state_->task_numbers.emplace(std::tuple(series, r.period, r.number), id).second);
    }
    void moved(time_point now) {
        wrote_ = true;
        state_->last_moment = std::max(state_->last_moment, now);
    }
    std::int64_t next_id(time_point now) {
        moved(now);
        return ++state_->last_id;
    }

    std::shared_ptr<state> state_;
    committer commit_;
    int* forgotten_;
    bool wrote_ = false;
};

class memory_store final : public strict_memory_store {
  public:
    std::unique_ptr<write_tx> begin_write() override {
        auto commit = [this](std::shared_ptr<state> next) {
            const std::scoped_lock lock(mutex_);
            committed_ = std::move(next);
        };
        return std::make_unique<transaction>(std::make_shared<state>(*view()), commit, &forgotten_);
    }

    std::unique_ptr<read_tx> begin_read() override {
        // Only asked, never told: the view is shared with other readers.
        return std::make_unique<transaction>(view(), nullptr, nullptr);
    }

    time_point last_moment() override { return view()->last_moment; }

    slot_counts counts() override {
        slot_counts all;
        for (const auto& [id, s] : view()->slots) {
            (s->state == slot_state::pending     ? all.pending
             : s->state == slot_state::committed ? all.committed
                                                 : all.failed)++;
        }
        return all;
    }

    void maintain(bool /*idle*/) override {}

    int forgotten_commits() const override { return forgotten_; }

  private:
    std::shared_ptr<state> view() {
        const std::scoped_lock lock(mutex_);
        return committed_;
    }

    std::mutex mutex_;  // guards the pointer; what it points to does not change once committed
    std::shared_ptr<state> committed_ = std::make_shared<state>();
    int forgotten_ = 0;  // writer's thread
};

}  // namespace

std::unique_ptr<strict_memory_store> make_memory_store() {
    return std::make_unique<memory_store>();
}

}  // namespace callsign
