#include "directory_lock.hpp"
#include "migrations.hpp"
#include "page_sums.hpp"
#include "reads.hpp"
#include "write_state.hpp"

#include <callsign/store/sqlite.hpp>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <mutex>
#include <sqlite3.h>
#include <unistd.h>

namespace callsign {
namespace {

using sqlite::connection;
using sqlite::directory_lock;
using sqlite::write_state;

// ---- the writer's transaction ----

class sqlite_write final : public sqlite::reads_over<write_tx> {
  public:
    explicit sqlite_write(write_state& state) : reads_over(state.db), state_(state) {
        end_on_disk();  // of one whose rollback failed: nothing is written before that is done
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
        expect_one("slots", id.value);
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
        if (!q.bind(id).step()) throw_damaged("slots", id.value, "it is not as it was read");
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
        expect_one("tasks", id.value);
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
        expect_one("tasks", id.value);
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
        auto& all = state_.change_sides(account);
        const std::int64_t place = ++all.places, bytes_before = all.bytes;
        all.bytes += static_cast<std::int64_t>(size_of(side));
        // The newest stays, however large it is.
        all.gone_to = std::max(all.gone_to, place - std::max<std::int64_t>(1, keep.count_max));
        all.gone_below =
            std::max(all.gone_below, std::min(bytes_before, all.bytes - keep.bytes_max));
        const std::string way = sqlite::encode(side);
        db_.use(sql::side_put)
            .bind(side.id)
            .bind(account)
            .bind(side.left_at)
            .bind(side.own.back())
            .bind(side.created_at)
            .bind_blob(way.data(), way.size())
            .bind(place)
            .bind(bytes_before)
            .run();
        sweep_side_versions();
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
            expect_one("sealed_versions by seq", v.seq);
        }
        db_.use(sql::snapshot_delete).bind(account).run();
        db_.use(sql::account_manage).bind(std::int64_t{std::ssize(sealed)}).bind(account).run();
        expect_one("accounts", account.value);
        state_.forget_head(account);
    }
    void take_over_version(account_id account, const version& v) override {
        moved(v.created_at);
        const auto& before = state_.head_of(account);
        const bool is_next = before.last_seq + 1 == v.seq &&
                             (before.last_seq == 0 || before.last_version == v.parent);
        if (!is_next) throw_damaged("accounts", account.value, "another head than was read");
        state_.advance_head(account, v.id);
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
        expect_one("devices", id.value);
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
        state_.committed_all();
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
    void expect_one(const char* table, std::int64_t row) {
        if (changes() != 1) throw_damaged(table, row, "it is not as it was read");
    }
    int changes() { return db_.database().getChanges(); }
    bool settled(time_point now, std::int64_t& to) {
        if (changes() == 0) return false;
        moved(now);
        --state_.now.slots.pending;
        ++to;
        return true;
    }
    // Looks at a few of all accounts' side versions, in turn: those that are gone leave the file,
    // at twice the pace that new ones come. So there are never many more than twice as many as the
    // bounds allow.
    void sweep_side_versions() {
        constexpr std::int64_t looked_at = 2;
        auto& last = state_.last_swept;
        std::vector<std::pair<uuid, account_id>> gone;
        std::int64_t seen = 0;
        {
            auto q = db_.use(sql::side_next);
            q.bind(last.first).bind(last.second).bind(looked_at);
            for (; q.step(); ++seen) {
                last = {q.id(0), account_id{q.integer(1)}};
                const auto& all = state_.head_of(last.second).sides;
                if (all.is_gone(q.integer(2), q.integer(3))) gone.push_back(last);
            }
        }
        if (seen < looked_at) last = {};
        for (const auto& [id, account] : gone)
            db_.use(sql::side_delete).bind(id).bind(account).run();
    }
    void roll_back() noexcept {
        state_.roll_back();
        try {
            end_on_disk();
        } catch (const store_failure&) {
            // The next transaction tries again.
        }
    }
    // SQLite may have rolled back by itself (a full disk, say).
    void end_on_disk() {
        if (!sqlite3_get_autocommit(db_.database().getHandle())) db_.use(sql::rollback).run();
    }

    write_state& state_;
    bool changed_ = false;
    bool committed_ = false;
};

// ---- readers ----

class reader_pool {
  public:
    reader_pool(const std::filesystem::path& file, const sqlite_options& options)
        : all_(std::max<std::size_t>(1, options.readers)), wait_max_(options.reader_wait_max) {
        for (std::size_t i = 0; i < all_; ++i) {
            free_.push_back(
                std::make_unique<connection>(file, SQLite::OPEN_READONLY, options.cache_bytes / 8));
        }
    }
    std::unique_ptr<connection> take() {
        std::unique_lock lock(mutex_);
        await_release(lock);
        available_.wait(lock, [this] { return !free_.empty(); });
        auto taken = std::move(free_.back());
        free_.pop_back();
        return taken;
    }
    void give_back(std::unique_ptr<connection> reader) {
        {
            const std::scoped_lock lock(mutex_);
            free_.push_back(std::move(reader));
            if (free_.size() == all_) empty_since_ = steady::now();
        }
        available_.notify_all();
    }

    // Lets nobody in, so that those who read come to an end: the log can begin anew only when
    // nobody reads from it.
    void hold() {
        const std::scoped_lock lock(mutex_);
        held_ = true;
    }
    void release() {
        {
            const std::scoped_lock lock(mutex_);
            held_ = false;
        }
        available_.notify_all();
    }
    bool nobody_reads() {
        const std::scoped_lock lock(mutex_);
        return free_.size() == all_;
    }

  private:
    using steady = std::chrono::steady_clock;
    // How long the writer has, once nobody reads, to begin the log anew: it may have nothing to do.
    static constexpr milliseconds writers_turn{10};

    void await_release(std::unique_lock<std::mutex>& lock) {
        const auto end = steady::now() + wait_max_;
        while (held_) {
            const bool nobody = free_.size() == all_;
            const auto until = nobody ? std::min(end, empty_since_ + writers_turn) : end;
            if (available_.wait_until(lock, until) == std::cv_status::no_timeout) continue;
            if (nobody) {
                held_ = false;  // the writer lets its turn pass: nobody waits for it again
                available_.notify_all();
                return;
            }
            throw store_failure(store_failure::kind::refused, "the log is at its bound");
        }
    }

    std::size_t all_;
    milliseconds wait_max_;
    std::mutex mutex_;
    std::condition_variable available_;
    std::vector<std::unique_ptr<connection>> free_;
    bool held_ = false;
    steady::time_point empty_since_ = steady::now();
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
        try {
            begin();
        } catch (const store_failure&) {
            pool.give_back(std::move(borrowed::reader));
            throw;
        }
    }
    sqlite_read(const sqlite_read&) = delete;
    sqlite_read& operator=(const sqlite_read&) = delete;
    ~sqlite_read() override {
        try {
            db_.use(sql::commit).run();
        } catch (const store_failure&) {
            // Nothing was written; whoever has the connection next ends it first.
        }
        pool.give_back(std::move(borrowed::reader));
    }

  private:
    void begin() {
        if (!sqlite3_get_autocommit(db_.database().getHandle())) db_.use(sql::rollback).run();
        db_.use(sql::begin_read).run();
    }
};

// ---- the store ----

std::filesystem::path prepared(const sqlite_options& options) {
    std::filesystem::create_directories(options.data_dir);
    return options.data_dir / "callsign.sqlite3";
}

// Puts sums into the pages of a file that was made without them. It goes without where there is no
// room for a second one.
void rewrite(connection& db, const std::filesystem::path& file) {
    if (std::filesystem::space(file).available < 3 * std::filesystem::file_size(file)) return;
    db.execute("PRAGMA journal_mode = DELETE");
    db.execute("PRAGMA synchronous = FULL");
    db.execute("PRAGMA temp_store = FILE");  // as large as the database
    db.execute("VACUUM");
    sqlite::mark_summed(db);
}

// Creates the file, or brings an older one up to date, before anyone else opens it.
void prepare_file(const std::filesystem::path& file, const sqlite_options& options) {
    connection db(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, options.cache_bytes);
    std::filesystem::permissions(
        file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    sqlite::make_room_for_sums(db);
    if (std::filesystem::file_size(file) == 0) {
        sqlite::mark_summed(db);
    } else if (!sqlite::has_sums(file)) {
        rewrite(db, file);
    }
    db.execute("PRAGMA journal_mode = WAL");
    db.execute("PRAGMA synchronous = FULL");
    sqlite::migrate(db);
}

// A little room kept for a start on a disk that is full: to open the files needs some.
class reserve {
  public:
    explicit reserve(const std::filesystem::path& data_dir)
        : file_(data_dir / "callsign.reserve") {}

    // False: there was none.
    bool give_up() {
        std::error_code ignored;
        return std::filesystem::remove(file_, ignored);
    }
    void make() {
        const int file = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0) return;
        if (::posix_fallocate(file, 0, bytes) != 0) give_up();
        ::close(file);
    }

  private:
    static constexpr ::off_t bytes = 512 * 1024;
    std::filesystem::path file_;
};

// Makes the file of the WAL's shared memory as large as the log may need it. Else it would grow in
// the middle of a commit, after its frames were synced: on a full disk nobody could say then
// whether it took.
bool grow_shared_memory(connection& db, std::int64_t pages) {
    constexpr int region_bytes = 32'768;
    constexpr std::int64_t region_pages = 4'096;
    sqlite3_file* file = nullptr;
    if (sqlite3_file_control(db.database().getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file) !=
            SQLITE_OK ||
        !file || !file->pMethods || file->pMethods->iVersion < 2) {
        return false;
    }
    for (int region = 0; region <= pages / region_pages + 1; ++region) {
        void volatile* mapped = nullptr;
        if (file->pMethods->xShmMap(file, region, region_bytes, 1, &mapped) != SQLITE_OK) {
            return false;
        }
    }
    return true;
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
        state_.db.execute(
            ("PRAGMA journal_size_limit = " + std::to_string(log_bound() * wal_frame_bytes))
                .c_str());
        sqlite3_wal_hook(state_.db.database().getHandle(), &sqlite_store::note_wal, this);
        try {
            state_.load();
        } catch (const store_failure& failure) {
            if (failure.what_happened() != store_failure::kind::damaged) throw;
            stopped_ = failure;  // what is not damaged can be read
        }
    }

    std::unique_ptr<write_tx> begin_write() override {
        if (stopped_) throw *stopped_;
        if (!shared_memory_grown_) grow_shared_memory();
        if (wal_pages_ >= log_bound()) shorten_log();
        return std::make_unique<sqlite_write>(state_);
    }
    std::unique_ptr<read_tx> begin_read() override {
        return std::make_unique<sqlite_read>(readers_);
    }
    time_point last_moment() override { return state_.committed.last_moment; }
    slot_counts counts() override { return state_.committed.slots; }

    void maintain(bool idle) override {
        const std::int64_t parts = idle ? 2 : 1;
        const bool due = wal_pages_ >= options_.wal_pages_max / parts ||
                         pages_in_log(state_.db) >= options_.moved_pages_max / parts;
        const bool turn_came = held_ && readers_.nobody_reads();
        // An empty log has nothing to move, whatever it held until it begins anew.
        if ((due && wal_pages_ >= std::max<std::int64_t>(1, next_checkpoint_)) || turn_came) {
            checkpoint();
        }
    }

  private:
    void grow_shared_memory() {
        const auto grow = [this] {
            return callsign::grow_shared_memory(state_.db, log_bound() + batch_pages_max);
        };
        shared_memory_grown_ = grow() || (reserve(options_.data_dir).give_up() && grow());
        if (!shared_memory_grown_) {
            throw store_failure(kind::full, "no room for the file of shared memory");
        }
    }

    using kind = store_failure::kind;
    static constexpr std::int64_t wal_frame_bytes = 4'096 + 24;
    // Of the largest command there is, a segment or a snapshot of 100 MiB, and a little.
    static constexpr std::int64_t batch_pages_max = 28'000;

    // Readers keep the log from beginning anew, and it grows. From here on new ones wait a moment,
    std::int64_t hold_readers_at() const { return options_.wal_pages_max * 3 / 2; }
    // and from here on nothing is written until it has: with one batch, this is its length.
    std::int64_t log_bound() const { return options_.wal_pages_max * 2; }

    // Moves what it can from the log to the database, and lets the log begin anew if nobody reads
    // from it. No failure of it leaves anything in doubt: all that was committed is in the log. But
    // after a failed sync nobody knows what the disk has of the database: a new start writes it
    // again from the log.
    void checkpoint() {
        auto* const db = state_.db.database().getHandle();
        sqlite3_busy_timeout(db, 0);
        const int code =
            sqlite3_wal_checkpoint_v2(db, nullptr, SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
        const int extended = sqlite3_extended_errcode(db);
        sqlite3_busy_timeout(db, sqlite::busy_timeout_ms);
        checkpoint_failure_.reset();
        if (code == SQLITE_OK) {
            wal_pages_ = next_checkpoint_ = 0;
            return release_readers();
        }
        const auto step = std::min(options_.wal_pages_max, options_.moved_pages_max) / 4;
        next_checkpoint_ = wal_pages_ + std::max<std::int64_t>(1, step);
        if ((code & 0xFF) == SQLITE_BUSY) return hold_readers();
        release_readers();
        const std::string text = std::string("SQLite checkpoint: ") + sqlite3_errstr(extended);
        if (extended == SQLITE_IOERR_FSYNC || extended == SQLITE_IOERR_DIR_FSYNC) {
            throw store_failure(kind::unknown, text);
        }
        checkpoint_failure_.emplace(sqlite::meaning_of(extended), text);
        if (checkpoint_failure_->what_happened() == kind::damaged) throw *checkpoint_failure_;
    }

    // Of readers in other processes (`callsign check` is one) nothing is known but that they are
    // there: to hold ours back would not help then.
    void hold_readers() {
        if (wal_pages_ < hold_readers_at() || readers_.nobody_reads()) return release_readers();
        held_ = true;
        readers_.hold();
    }
    void release_readers() {
        if (std::exchange(held_, false)) readers_.release();
    }

    // The log is at its bound. Requests come faster than it is worth trying.
    void shorten_log() {
        const auto now = std::chrono::steady_clock::now();
        const bool turn_came = held_ && readers_.nobody_reads();
        if (now >= try_again_at_ || turn_came) {
            try_again_at_ = now + options_.full_retry;
            checkpoint();
        }
        if (wal_pages_ < log_bound()) return;
        if (checkpoint_failure_) throw *checkpoint_failure_;
        if (held_) throw store_failure(kind::refused, "readers keep the log at its bound");
    }

    static int note_wal(void* self, sqlite3*, const char*, int pages) {
        auto& store = *static_cast<sqlite_store*>(self);
        if (pages < store.wal_pages_) store.next_checkpoint_ = 0;  // it began anew
        store.wal_pages_ = pages;
        return SQLITE_OK;
    }

    // Built in this order and closed in reverse: the readers first, so that the writer's connection
    // is the last and checkpoints as it closes.
    sqlite_options options_;
    std::filesystem::path file_;
    directory_lock lock_;
    write_state state_;
    reader_pool readers_;
    std::optional<store_failure> stopped_;  // damage stands in the way of writing
    bool shared_memory_grown_ = false;

    // ---- the log ----
    std::int64_t wal_pages_ = 0;
    std::int64_t next_checkpoint_ = 0;  // not before it has so many pages
    bool held_ = false;                 // the readers
    std::optional<store_failure> checkpoint_failure_;
    std::chrono::steady_clock::time_point try_again_at_{};
};

std::unique_ptr<store> open_with_reserve(const sqlite_options& options) {
    reserve room(options.data_dir);
    std::unique_ptr<store> opened;
    try {
        opened = std::make_unique<sqlite_store>(options);
    } catch (const store_failure& failure) {
        // Not all that a full disk does to SQLite is called so: shared memory that cannot grow is
        // an I/O error.
        const bool damaged = failure.what_happened() == store_failure::kind::damaged;
        if (damaged || !room.give_up()) throw;
    }
    if (!opened) opened = std::make_unique<sqlite_store>(options);
    room.make();
    return opened;
}

}  // namespace

std::unique_ptr<store> open_sqlite(const sqlite_options& options) {
    const std::string file = (options.data_dir / "callsign.sqlite3").string();
    try {
        return open_with_reserve(options);
    } catch (const SQLite::Exception& error) {
        throw std::runtime_error("cannot open " + file + ": " + error.what());
    } catch (const store_failure& error) {
        throw std::runtime_error("cannot open " + file + ": " + error.what());
    } catch (const std::filesystem::filesystem_error& error) {
        throw std::runtime_error("cannot make " + options.data_dir.string() + ": " +
                                 error.code().message());
    }
}

}  // namespace callsign
