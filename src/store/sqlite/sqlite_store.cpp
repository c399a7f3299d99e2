#include "migrations.hpp"
#include "reads.hpp"
#include "write_state.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/store/sqlite.hpp>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <mutex>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

namespace callsign {
namespace {

using sqlite::connection;
using sqlite::write_state;

// ---- the writer's transaction ----

class sqlite_write final : public sqlite::reads_over<write_tx> {
  public:
    explicit sqlite_write(write_state& state) : reads_over(state.db), state_(state) {
        db_.use(sql::begin_write).run();
    }
    sqlite_write(const sqlite_write&) = delete;
    sqlite_write& operator=(const sqlite_write&) = delete;
    ~sqlite_write() override {
        if (!committed_) roll_back();
    }

    // ---- reads that would miss what is not flushed yet, or that are worth remembering ----

    std::optional<account> find_account(account_id id) override {
        state_.flush();
        return reads_over::find_account(id);
    }
    std::optional<account> find_account(std::string_view name) override {
        state_.flush();
        return reads_over::find_account(name);
    }
    std::optional<series> find_series(account_id account, std::string_view prefix) override {
        std::pair name(account, std::string(prefix));
        const auto known = state_.series_by_prefix.find(name);
        if (known != state_.series_by_prefix.end()) return known->second;
        auto found = reads_over::find_series(account, prefix);
        if (found) state_.series_by_prefix.emplace(std::move(name), *found);
        return found;
    }
    std::optional<series> default_series(account_id account) override {
        const auto known = state_.default_series.find(account);
        if (known != state_.default_series.end()) return known->second;
        auto found = reads_over::default_series(account);
        if (found) state_.default_series.emplace(account, *found);
        return found;
    }
    std::vector<series> series_of(account_id account) override {
        state_.flush();
        return reads_over::series_of(account);
    }

    // ---- slots ----

    std::optional<slot> find_slot(account_id account, std::string_view key) override {
        std::optional<slot> found;
        state_.keys.nominate(sqlite::key_hash(account, key), [&](slot_id id) {
            auto nominated = find_slot(id);
            if (!nominated || nominated->account != account || nominated->key != key) return false;
            found = std::move(nominated);
            return true;
        });
        return found;
    }
    std::optional<slot> find_slot(slot_id id) override {
        auto q = db_.use(sql::slot_by_id);
        return sqlite::one(q.bind(id), sqlite::slot_of);
    }
    slot_id put_slot(const slot& s) override {
        moved(s.created_at);
        const slot_id id{++state_.now.last_slot};
        db_.use(sql::slot_put)
            .bind(id)
            .bind(s.account)
            .bind(s.key)
            .bind(s.fingerprint)
            .bind(s.uuid)
            .bind(s.created_at)
            .run();
        state_.keys.add(sqlite::key_hash(s.account, s.key), id);
        ++state_.now.slots.pending;
        return id;
    }
    void count_attempt(slot_id id) override {
        changed_ = true;
        db_.use(sql::slot_attempt).bind(id).run();
        CALLSIGN_ASSERT(changes() == 1);
    }
    bool commit_slot(slot_id id, task_id task, bool created, time_point now) override {
        db_.use(sql::slot_commit).bind(task).bind(created ? 1 : 0).bind(now).bind(id).run();
        return settled(now, state_.now.slots.committed);
    }
    bool fail_slot(slot_id id, failure_reason reason, time_point now) override {
        db_.use(sql::slot_fail).bind(static_cast<int>(reason)).bind(now).bind(id).run();
        return settled(now, state_.now.slots.failed);
    }
    void forget_slot(slot_id id) override {
        changed_ = true;
        auto q = db_.use(sql::slot_forget);
        CALLSIGN_ASSERT(q.bind(id).step());
        auto& slots = state_.now.slots;
        --(static_cast<slot_state>(q.integer(0)) == slot_state::failed ? slots.failed
                                                                       : slots.committed);
    }

    std::vector<slot> pending_slots_of(account_id account, const uuid& id) override {
        auto q = db_.use(sql::slot_waiting);
        return sqlite::all(q.bind(id).bind(account), sqlite::slot_of);
    }

    // ---- numbers, tasks, the chain ----

    std::int64_t take_number(series_id series, std::string_view period) override {
        changed_ = true;
        return state_.advance_counter(series, period);
    }

    task_id put_task(const task& t, series_id series) override {
        moved(t.created_at);
        const task_id id{++state_.last_task};
        const std::string attributes = sqlite::encode(t.attributes);
        auto q = db_.use(sql::task_put);
        q.bind(id).bind(t.account).bind(t.uuid).bind(series);
        if (t.numbered) {
            q.bind(state_.counter_of(series, t.numbered->period).id)
                .bind(t.numbered->number)
                .bind(t.numbered->prefix)
                .bind(t.numbered->seq);
        } else {
            q.bind_null().bind_null().bind_null().bind_null();
        }
        q.bind(t.last_seq).bind(t.created_at).bind_blob(attributes.data(), attributes.size()).run();
        return id;
    }
    void number_task(task_id id, series_id series, const receipt& r) override {
        changed_ = true;
        db_.use(sql::task_number)
            .bind(series)
            .bind(state_.counter_of(series, r.period).id)
            .bind(r.number)
            .bind(r.prefix)
            .bind(r.seq)
            .bind(r.seq)
            .bind(id)
            .run();
        CALLSIGN_ASSERT(changes() == 1);
    }
    void update_task(task_id id, const attributes& all, bool purged,
                     std::int64_t last_seq) override {
        changed_ = true;
        const std::string bytes = sqlite::encode(all);
        db_.use(sql::task_update)
            .bind_blob(bytes.data(), bytes.size())
            .bind(purged ? 1 : 0)
            .bind(last_seq)
            .bind(id)
            .run();
        CALLSIGN_ASSERT(changes() == 1);
    }
    std::int64_t append_version(account_id account, const uuid& id, time_point now,
                                std::span<const operation> operations) override {
        moved(now);
        const uuid parent = state_.head_of(account).last_version;
        const std::int64_t seq = state_.advance_head(account, id);
        put_version(account, seq, id, parent, now, operations);
        return seq;
    }

    void put_side_version(account_id account, const side_version& side,
                          const side_version_bounds& keep) override {
        moved(side.created_at);
        std::int64_t place = 1, bytes_before = 0;
        if (auto last = db_.use(sql::side_last); last.bind(account).step()) {
            place = last.integer(0) + 1;
            bytes_before = last.integer(1);
        }
        const auto bytes = static_cast<std::int64_t>(size_of(side));
        const std::string way = sqlite::encode(side);
        db_.use(sql::side_put)
            .bind(account)
            .bind(place)
            .bind(side.id)
            .bind(side.left_at)
            .bind(side.own.back())
            .bind(side.created_at)
            .bind_blob(way.data(), way.size())
            .bind(bytes_before)
            .bind(bytes)
            .run();
        db_.use(sql::side_trim_count).bind(account).bind(place - keep.count_max).run();
        db_.use(sql::side_trim_bytes)
            .bind(account)
            .bind(bytes_before + bytes - keep.bytes_max)
            .bind(place)
            .run();
    }
    void forget_side_version(account_id account, const uuid& id) override {
        changed_ = true;
        db_.use(sql::side_delete).bind(id).bind(account).run();
    }
    std::int64_t forget_side_versions(time_point before, std::int64_t limit) override {
        db_.use(sql::side_forget).bind(before).bind(limit).run();
        const std::int64_t forgotten = changes();
        if (forgotten > 0) changed_ = true;
        return forgotten;
    }

    // ---- devices ----

    device_id put_device(const device& d) override {
        moved(d.created_at);
        auto q = db_.use(sql::device_put);
        q.bind(d.client_id).bind(d.account).bind(d.name);
        if (d.sealed_key.empty()) {
            q.bind_null();
        } else {
            q.bind_blob(d.sealed_key.data(), d.sealed_key.size());
        }
        q.bind(d.created_at).run();
        return device_id{db_.last_row()};
    }
    void revoke_device(device_id id, time_point now) override {
        moved(now);
        db_.use(sql::device_revoke).bind(now).bind(id).run();
    }

    // ---- sealed chains ----

    chain_head head_of(account_id account) override {
        const auto& head = state_.head_of(account);
        return {head.last_seq, head.last_version, head.sealed_seq};
    }
    std::int64_t append_sealed_version(account_id account, const uuid& id, const uuid& parent,
                                       time_point now, std::string_view segment) override {
        moved(now);
        const std::int64_t seq = state_.advance_head(account, id);
        db_.use(sql::sealed_put)
            .bind(account)
            .bind(seq)
            .bind(id)
            .bind(parent)
            .bind(now)
            .bind_blob(segment.data(), segment.size())
            .run();
        return seq;
    }
    void put_snapshot(account_id account, const snapshot_mark& mark, time_point now,
                      std::string_view bytes) override {
        moved(now);
        db_.use(sql::snapshot_put)
            .bind(account)
            .bind(mark.version)
            .bind(mark.seq)
            .bind(mark.taken_seq)
            .bind(mark.taken_at)
            .bind_blob(bytes.data(), bytes.size())
            .run();
    }

    // ---- an opaque account becomes managed ----

    void become_managed(account_id account, std::span<const version> sealed) override {
        changed_ = true;
        state_.flush();
        for (const version& v : sealed) {
            db_.use(sql::sealed_delete).bind(v.parent).bind(account).run();
            CALLSIGN_ASSERT(changes() == 1);
        }
        db_.use(sql::snapshot_delete).bind(account).run();
        db_.use(sql::account_manage).bind(std::int64_t{std::ssize(sealed)}).bind(account).run();
        CALLSIGN_ASSERT(changes() == 1);
        state_.forget_head(account);
    }
    void take_over_version(account_id account, const version& v) override {
        moved(v.created_at);
        const auto& before = state_.head_of(account);
        CALLSIGN_ASSERT(before.last_seq == 0 || before.last_version == v.parent);
        CALLSIGN_ASSERT(state_.advance_head(account, v.id) == v.seq);
        put_version(account, v.seq, v.id, v.parent, v.created_at, v.operations);
    }
    void give_key(device_id id, std::string_view name, std::string_view sealed_key) override {
        changed_ = true;
        const std::string text(name);
        db_.use(sql::device_key)
            .bind(text)
            .bind_blob(sealed_key.data(), sealed_key.size())
            .bind(id)
            .run();
        CALLSIGN_ASSERT(changes() == 1);
    }

    // ---- accounts, tokens, series ----

    account_id put_account(std::string_view name, time_point now, account_mode mode) override {
        moved(now);
        const std::string text(name);
        db_.use(sql::account_put).bind(text).bind(now).bind(static_cast<int>(mode)).run();
        return account_id{db_.last_row()};
    }
    series_id put_series(account_id account, std::string_view prefix, std::string_view project,
                         bool is_default, time_point now) override {
        moved(now);
        const std::string text(prefix), bound(project);
        db_.use(sql::series_put)
            .bind(account)
            .bind(text)
            .bind(bound)
            .bind(is_default ? 1 : 0)
            .bind(now)
            .run();
        const series_id id{db_.last_row()};
        db_.use(sql::prefix_put).bind(account).bind(text).bind(id).run();
        return id;
    }
    token_id put_token(std::optional<account_id> account, std::string_view name, token_scope scope,
                       const digest& hash, time_point now) override {
        moved(now);
        const std::string text(name);
        db_.use(sql::token_put)
            .bind(account)
            .bind(text)
            .bind(static_cast<int>(scope))
            .bind(hash)
            .bind(now)
            .run();
        return token_id{db_.last_row()};
    }
    std::optional<token> find_token(token_id id) override {
        auto q = db_.use(sql::token_by_id);
        return sqlite::one(q.bind(id), sqlite::token_of);
    }
    void revoke_token(token_id id, time_point now) override {
        moved(now);
        db_.use(sql::token_revoke).bind(now).bind(id).run();
    }

    void commit() override {
        if (changed_) {
            state_.flush();
            state_.keys.prepare_commit();
            const auto& now = state_.now;
            db_.use(sql::totals_set)
                .bind(now.slots.pending)
                .bind(now.slots.committed)
                .bind(now.slots.failed)
                .bind(now.last_slot)
                .bind(now.last_moment)
                .run();
        }
        db_.use(sql::commit).run_commit();
        committed_ = true;
        state_.committed = state_.now;
    }

  private:
    void moved(time_point now) {
        changed_ = true;
        state_.now.last_moment = std::max(state_.now.last_moment, now);
    }
    void put_version(account_id account, std::int64_t seq, const uuid& id, const uuid& parent,
                     time_point at, std::span<const operation> operations) {
        const std::string bytes = sqlite::encode(operations);
        db_.use(sql::version_put)
            .bind(account)
            .bind(seq)
            .bind(id)
            .bind(parent)
            .bind(at)
            .bind_blob(bytes.data(), bytes.size())
            .run();
    }
    int changes() { return db_.database().getChanges(); }
    bool settled(time_point now, std::int64_t& to) {
        if (changes() == 0) return false;
        moved(now);
        --state_.now.slots.pending;
        ++to;
        return true;
    }
    void roll_back() {
        try {
            // SQLite may have rolled back by itself (a full disk, say).
            if (!sqlite3_get_autocommit(db_.database().getHandle())) db_.use(sql::rollback).run();
            state_.forget();
            state_.keys.reload();
        } catch (const store_failure&) {
            // The connection is past use: the next transaction says so.
        }
    }

    write_state& state_;
    bool changed_ = false;
    bool committed_ = false;
};

// ---- readers ----

class reader_pool {
  public:
    reader_pool(const std::filesystem::path& file, const sqlite_options& options) {
        for (std::size_t i = 0; i < std::max<std::size_t>(1, options.readers); ++i) {
            free_.push_back(
                std::make_unique<connection>(file, SQLite::OPEN_READONLY, options.cache_bytes / 8));
        }
    }
    std::unique_ptr<connection> take() {
        std::unique_lock lock(mutex_);
        available_.wait(lock, [this] { return !free_.empty(); });
        auto taken = std::move(free_.back());
        free_.pop_back();
        return taken;
    }
    void give_back(std::unique_ptr<connection> reader) {
        {
            const std::scoped_lock lock(mutex_);
            free_.push_back(std::move(reader));
        }
        available_.notify_one();
    }

  private:
    std::mutex mutex_;
    std::condition_variable available_;
    std::vector<std::unique_ptr<connection>> free_;
};

// Holds the connection before reads_over refers to it.
struct borrowed {
    reader_pool& pool;
    std::unique_ptr<connection> reader;
};

class sqlite_read final : private borrowed, public sqlite::reads_over<read_tx> {
  public:
    explicit sqlite_read(reader_pool& from)
        : borrowed{from, from.take()}, reads_over(*borrowed::reader) {
        db_.use(sql::begin_read).run();
    }
    sqlite_read(const sqlite_read&) = delete;
    sqlite_read& operator=(const sqlite_read&) = delete;
    ~sqlite_read() override {
        try {
            db_.use(sql::commit).run();
        } catch (const store_failure&) {
            // Nothing was written; the next BEGIN on this connection says what is wrong.
        }
        pool.give_back(std::move(borrowed::reader));
    }
};

// ---- the store ----

// Held for the process's life: two processes on one directory could lose committed pages.
class directory_lock {
  public:
    explicit directory_lock(const std::filesystem::path& file)
        : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (descriptor_ < 0) {
            throw std::runtime_error("cannot open " + file.string() + ": " + std::strerror(errno));
        }
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
            ::close(descriptor_);
            throw std::runtime_error("another callsignd holds " + file.parent_path().string());
        }
    }
    directory_lock(const directory_lock&) = delete;
    directory_lock& operator=(const directory_lock&) = delete;
    ~directory_lock() { ::close(descriptor_); }

  private:
    int descriptor_;
};

std::filesystem::path prepared(const sqlite_options& options) {
    std::filesystem::create_directories(options.data_dir);
    return options.data_dir / "callsign.sqlite3";
}

// Creates the file, or brings an older one up to date, before anyone else opens it.
void prepare_file(const std::filesystem::path& file, const sqlite_options& options) {
    connection db(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, options.cache_bytes);
    std::filesystem::permissions(
        file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    db.execute("PRAGMA journal_mode = WAL");
    db.execute("PRAGMA synchronous = FULL");
    sqlite::migrate(db);
}

class sqlite_store final : public store {
  public:
    explicit sqlite_store(const sqlite_options& options)
        : options_(options),
          file_(prepared(options)),
          lock_(options.data_dir / "callsign.lock"),
          state_((prepare_file(file_, options), file_), options),
          readers_(file_, options) {
        state_.db.execute("PRAGMA synchronous = FULL");
        sqlite3_wal_hook(state_.db.database().getHandle(), &sqlite_store::note_wal, this);
    }

    std::unique_ptr<write_tx> begin_write() override {
        return std::make_unique<sqlite_write>(state_);
    }
    std::unique_ptr<read_tx> begin_read() override {
        return std::make_unique<sqlite_read>(readers_);
    }
    time_point last_moment() override { return state_.committed.last_moment; }
    slot_counts counts() override { return state_.committed.slots; }

    void maintain(bool idle) override {
        const auto due = idle ? options_.wal_pages_max / 2 : options_.wal_pages_max;
        if (wal_pages_ < due) return;
        int in_wal = 0, moved = 0;
        // Passive: readers are not disturbed; what they still need is moved the next time.
        const int code = sqlite3_wal_checkpoint_v2(state_.db.database().getHandle(), nullptr,
                                                   SQLITE_CHECKPOINT_PASSIVE, &in_wal, &moved);
        if (code != SQLITE_OK && code != SQLITE_BUSY) {
            throw store_failure(store_failure::kind::unknown,
                                std::string("SQLite checkpoint: ") + sqlite3_errstr(code));
        }
        // All moved: the next commit begins the WAL anew. Otherwise try again after as many pages
        // more.
        wal_pages_ = in_wal == moved ? 0 : wal_pages_ - due;
    }

  private:
    static int note_wal(void* self, sqlite3*, const char*, int pages) {
        static_cast<sqlite_store*>(self)->wal_pages_ = pages;
        return SQLITE_OK;
    }

    // Built in this order and closed in reverse: the readers first, so that the writer's connection
    // is the last and checkpoints as it closes.
    sqlite_options options_;
    std::filesystem::path file_;
    directory_lock lock_;
    write_state state_;
    reader_pool readers_;
    std::int64_t wal_pages_ = 0;
};

}  // namespace

std::unique_ptr<store> open_sqlite(const sqlite_options& options) {
    try {
        return std::make_unique<sqlite_store>(options);
    } catch (const SQLite::Exception& error) {
        throw std::runtime_error("cannot open " + (options.data_dir / "callsign.sqlite3").string() +
                                 ": " + error.what());
    } catch (const store_failure& error) {
        throw std::runtime_error("cannot open " + (options.data_dir / "callsign.sqlite3").string() +
                                 ": " + error.what());
    } catch (const std::filesystem::filesystem_error& error) {
        throw std::runtime_error("cannot make " + options.data_dir.string() + ": " +
                                 error.code().message());
    }
}

}  // namespace callsign
