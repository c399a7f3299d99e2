// baseline: the upper limit of creations. One thread writes the rows of creations in a loop, with
// the server's schema and statements: without HTTP, rules and other threads, with two durable
// commits per batch, as the server's two phases need. The server's rate relative to this limit
// shows how much of its time is unavoidable.
//
//     baseline --batch 64 --duration 10s
//     baseline --batch 64 --duration 10s --key-index     with a unique index of the clients' keys
//     baseline --batch 64 --series 1000                  in this number of series
//     baseline --batch 1 --duration 100ms                smallest useful run
//
// Omits the server's own indexes (of keys, and bulk indexes): the limit is for rows only.

#include "local_store.hpp"
#include "options.hpp"
#include "statements.hpp"
#include "support/temp_dir.hpp"

#include <callsign/ports/tables/totals.hpp>
#include <callsign/store/columns.hpp>
#include <callsign/store/sqlite.hpp>

#include <array>
#include <filesystem>
#include <optional>
#include <sqlite3.h>
#include <sys/resource.h>
#include <tuple>
#include <unordered_map>

namespace callsign::sql {
namespace {

// The store's statements.
constexpr auto account_advance =
    "UPDATE accounts SET last_seq = ?, last_version = ? WHERE account_id = ?";
constexpr auto series_put =
    "INSERT INTO series (series_id, account_id, prefix, project, is_default, created_at,"
    " last_period, reset, time_zone, archived, allows_gaps, held, numbering,"
    " renamed_period, renamed_number)"
    " VALUES (?, ?, ?, '', 0, 0, '', 1, 'UTC', 0, 0, 0, 0, '', 0)";
constexpr auto series_default = "SELECT series_id FROM series WHERE account_id = ? AND is_default";
constexpr auto counter_put =
    "INSERT INTO counters (counter_id, series_id, period, last_number) VALUES (?, ?, ?, 0)";
constexpr auto counter_set = "UPDATE counters SET last_number = ? WHERE counter_id = ?";
constexpr auto slot_put =
    "INSERT INTO slots (slot_id, account_id, key, fingerprint, uuid, created_at, attempts, created,"
    " reason, state, expires) VALUES (?, ?, ?, ?, ?, ?, 1, 1, 0, 1, 0)";
constexpr auto slot_commit =
    "UPDATE slots SET attempts = 1, created = 1, reason = 0, state = 2, task_id = ?, settled_at = ?"
    " WHERE slot_id = ?";
constexpr auto totals_get =
    "SELECT committed, last_account, last_series, last_counter, last_token, last_device,"
    " last_webhook, last_delivery, last_action, last_effect, last_sealed, last_history, last_fork,"
    " last_task, last_version, last_slot FROM totals";
constexpr auto totals_set =
    "UPDATE totals SET pending = ?, in_flight = 0, committed = ?, failed = 0, accounts = 1,"
    " tasks = ?, open_tasks = ?, held_series = 0, last_moment = ?, last_account = ?,"
    " last_series = ?, last_counter = ?, last_token = ?, last_device = ?, last_webhook = ?,"
    " last_delivery = ?, last_action = ?, last_effect = ?, last_sealed = ?, last_history = ?,"
    " last_fork = ?, last_task = ?, last_version = ?, last_slot = ?";
constexpr auto task_put =
    "INSERT INTO tasks (task_id, account_id, uuid, series_id, counter_id, number, prefix, seq,"
    " last_seq, created_at, purged, over, author, bytes, way_back, attributes)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, NULL, ?, 0, ?)";
constexpr auto version_put =
    "INSERT INTO versions (version_row, account_id, seq, version_id, parent_id, created_at, author,"
    " bytes, operations) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";

}  // namespace
}  // namespace callsign::sql

namespace callsign::bench {
namespace {

struct settings {
    std::string data_dir;  // empty: a temporary directory
    std::string parent;
    unsigned batch = 64;
    unsigned series = 1;
    milliseconds duration = std::chrono::seconds{5};
    bool key_index = false;
    bool json = false;
};

// ---- SQLite without the store ----

class database {
  public:
    explicit database(const std::filesystem::path& file) {
        check(sqlite3_open_v2(file.c_str(), &db_, SQLITE_OPEN_READWRITE, nullptr));
        // The server's settings (src/store/sqlite/connection.cpp and sqlite_store.cpp).
        for (const char* pragma : {"PRAGMA foreign_keys = OFF", "PRAGMA temp_store = MEMORY",
                                   "PRAGMA wal_autocheckpoint = 0", "PRAGMA secure_delete = OFF",
                                   "PRAGMA cache_size = -16384", "PRAGMA synchronous = FULL"})
            execute(pragma);
        sqlite3_wal_hook(db_, &database::note_wal, this);
    }
    ~database() {
        for (auto& [sql, prepared] : prepared_) sqlite3_finalize(prepared);
        sqlite3_close(db_);
    }
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    void execute(const char* sql) { check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr)); }

    // Binds integers, texts and blobs in order; then runs the statement to its first row or its
    // end.
    template <class... Values>
    sqlite3_stmt* run(const char* sql, const Values&... values) {
        sqlite3_stmt*& s = prepared_[sql];
        if (s == nullptr)
            check(sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, nullptr));
        sqlite3_reset(s);
        if (sqlite3_bind_parameter_count(s) != static_cast<int>(sizeof...(values)))
            throw std::logic_error(std::string("another number of values: ") + sql);
        int at = 0;
        (bind(s, ++at, values), ...);
        const int code = sqlite3_step(s);
        if (code != SQLITE_DONE && code != SQLITE_ROW) check(code);
        if (code == SQLITE_DONE) sqlite3_reset(s);
        return s;
    }

    // Call after reading the columns of a row.
    void reset(const char* sql) { sqlite3_reset(prepared_.at(sql)); }

    // At the server's upper limit; the server also counts distinct pages.
    void checkpoint_if_due() {
        if (wal_pages_ < sqlite_options{}.wal_pages_max) return;
        check(sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr));
        wal_pages_ = 0;
    }

  private:
    static int note_wal(void* self, sqlite3*, const char*, int pages) {
        static_cast<database*>(self)->wal_pages_ = pages;
        return SQLITE_OK;
    }
    static void bind(sqlite3_stmt* s, int at, std::int64_t value) {
        sqlite3_bind_int64(s, at, value);
    }
    static void bind(sqlite3_stmt* s, int at, const std::string& text) {
        sqlite3_bind_text(s, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    }
    static void bind(sqlite3_stmt* s, int at, std::string_view bytes) {
        sqlite3_bind_blob(s, at, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
    }
    static void bind(sqlite3_stmt* s, int at, std::nullptr_t) { sqlite3_bind_null(s, at); }
    static void bind(sqlite3_stmt* s, int at, const uuid& id) {
        sqlite3_bind_blob(s, at, id.data, static_cast<int>(id.size()), SQLITE_STATIC);
    }
    void check(int code) const {
        if (code != SQLITE_OK)
            throw std::runtime_error(db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(code));
    }

    sqlite3* db_ = nullptr;
    std::unordered_map<const char*, sqlite3_stmt*> prepared_;
    int wal_pages_ = 0;
};

// ---- rows of a creation ----

class writer {
  public:
    writer(database& db, account_id account, unsigned series)
        : db_(db), account_(account.value), ids_(1), random_(1) {
        sqlite3_stmt* const totals = db_.run(sql::totals_get);
        int column = 0;
        committed_ = sqlite3_column_int64(totals, column++);
        for (std::int64_t& last : last_ids_) last = sqlite3_column_int64(totals, column++);
        db_.reset(sql::totals_get);
        for (unsigned n = 0; n < series; ++n) add_series(n);
        make_typical_bytes();
    }

    // Phase 1 of a whole batch, durable; then its phase 2, durable.
    void create(unsigned batch) {
        slots_.clear();
        const std::int64_t now = wall_time().time_since_epoch().count();
        db_.run(sql::begin_write);
        for (unsigned i = 0; i < batch; ++i) reserve(now);
        write_totals(batch, now);
        db_.run(sql::commit);
        db_.run(sql::begin_write);
        for (const reserved& s : slots_) fulfil(s, now);
        // A creation leaves no fork version.
        db_.run(sql::account_advance, seq_, last_version_, account_);
        for (numbers* const n : taken_) {
            n->taken = false;
            db_.run(sql::counter_set, n->last, n->counter);
        }
        taken_.clear();
        committed_ += batch;
        write_totals(0, now);
        db_.run(sql::commit);
        db_.checkpoint_if_due();
    }

  private:
    struct reserved {
        std::int64_t slot;
        uuid id;
    };
    struct numbers {
        std::int64_t series;
        std::int64_t counter;
        std::int64_t last = 0;
        bool taken = false;
    };

    std::int64_t& last(drawn_id what) { return last_ids_[static_cast<std::size_t>(what)]; }
    std::int64_t next(drawn_id what) { return ++last(what); }

    // Adds the account's default series, and others.
    void add_series(unsigned n) {
        const std::string prefix = "B" + std::to_string(n);
        if (n > 0) {
            db_.run(sql::series_put, next(drawn_id::series), account_, prefix);
        }
        const std::int64_t series =
            n > 0 ? last(drawn_id::series)
                  : sqlite3_column_int64(db_.run(sql::series_default, account_), 0);
        db_.run(sql::counter_put, next(drawn_id::counter), series, std::string());
        series_.push_back({series, last(drawn_id::counter)});
        if (n == 0) db_.reset(sql::series_default);
    }

    void reserve(std::int64_t now) {
        const uuid id = ids_.next(time_point{milliseconds{now}});
        const std::string key = random_key(random_);
        const std::int64_t slot = next(drawn_id::slot);
        db_.run(sql::slot_put, slot, account_, key, std::string_view(fingerprint_), id, now);
        slots_.push_back({slot, id});
    }

    void fulfil(const reserved& s, std::int64_t now) {
        const uuid version = ids_.next(time_point{milliseconds{now}});
        db_.run(sql::version_put, next(drawn_id::version), account_, ++seq_, version, last_version_,
                now, nullptr, std::ssize(operations_), std::string_view(operations_));
        last_version_ = version;
        numbers& n = series_[static_cast<std::size_t>(last(drawn_id::task)) % series_.size()];
        if (!std::exchange(n.taken, true)) taken_.push_back(&n);
        const std::int64_t task = next(drawn_id::task);
        db_.run(sql::task_put, task, account_, s.id, n.series, n.counter, ++n.last, prefix_, seq_,
                seq_, now, std::ssize(attributes_), std::string_view(attributes_));
        db_.run(sql::slot_commit, task, now, s.slot);
    }

    void write_totals(std::int64_t pending, std::int64_t now) {
        const auto set = [&](auto... last) {
            db_.run(sql::totals_set, pending, committed_, committed_, committed_, now, last...);
        };
        std::apply(set, last_ids_);
    }

    // Values of realistic size; their content is irrelevant to SQLite.
    void make_typical_bytes() {
        attributes all{{"description", description_of(1)},
                       {"entry", "1795000000"},
                       {"modified", "1795000000"},
                       {"status", "pending"}};
        const time_point now = wall_time();
        const uuid id = ids_.next(now);
        std::vector<operation> operations{{operation_kind::create, id, {}, {}, {}}};
        for (const auto& [name, value] : all)
            operations.push_back({operation_kind::update, id, name, value, now});
        attributes_ = columns::encode(all, {});
        operations_ = columns::encode(operations);
    }

    database& db_;
    const std::int64_t account_;
    seeded_ids ids_;
    std::mt19937_64 random_;
    std::vector<numbers> series_;
    std::vector<numbers*> taken_;  // series used in this batch
    std::array<std::int64_t, drawn_ids> last_ids_{};
    std::int64_t committed_ = 0;
    std::int64_t seq_ = 0;
    uuid last_version_{};
    const std::string fingerprint_ = std::string(32, 'f');
    const std::string prefix_ = "BASE";
    std::string attributes_;
    std::string operations_;
    std::vector<reserved> slots_;
};

// ---- run ----

account_id prepare(const std::filesystem::path& data_dir) {
    const auto s = open_sqlite({.data_dir = data_dir});
    seeded_ids ids(static_cast<std::uint64_t>(wall_time().time_since_epoch().count()));
    const std::string name = "base-" + std::to_string(wall_time().time_since_epoch().count());
    return make_account(*s, ids, name, "BASE").id;
}

double cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void measure(const settings& s, const std::filesystem::path& data_dir) {
    const account_id account = prepare(data_dir);
    database db(data_dir / "callsign.sqlite3");
    if (s.key_index)
        db.execute("CREATE UNIQUE INDEX IF NOT EXISTS slots_by_key ON slots (account_id, key)");
    writer w(db, account, s.series);
    w.create(s.batch);  // prepares statements and allocates pages

    const double cpu_before = cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t creates = 0;
    while (std::chrono::steady_clock::now() - begin < s.duration) {
        w.create(s.batch);
        creates += s.batch;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const double rate = static_cast<double>(creates) / took.count();
    const double cpu_us = (cpu_seconds() - cpu_before) * 1e6 / static_cast<double>(creates);
    if (s.json)
        std::printf(
            "{\"batch\":%u,\"series\":%u,\"keyIndex\":%s,\"perSecond\":%.1f,\"cpuUsPerCreate\":%."
            "2f}\n",
            s.batch, s.series, s.key_index ? "true" : "false", rate, cpu_us);
    else
        std::printf("batches of %u%s: %.0f creates/s, %.1f us of CPU each\n", s.batch,
                    s.key_index ? ", unique index on keys" : "", rate, cpu_us);
}

int run(int argc, char** argv) {
    settings s;
    s.parent = std::filesystem::temp_directory_path().string();
    options flags("baseline: a creation's rows, written by SQLite alone.");
    flags.add("--batch", s.batch, "creations that share their two commits");
    flags.add("--series", s.series, "of the account, each creation in the next one");
    flags.add("--duration", s.duration, "how long");
    flags.add("--data-dir", s.data_dir, "an existing one, which is of no further use afterwards");
    flags.add("--dir", s.parent, "or: where a temporary one is made");
    flags.add("--key-index", s.key_index, "with a unique index on the clients' keys");
    flags.add("--json", s.json, "print one JSON object");
    flags.parse(argc, argv);
    if (s.batch == 0 || s.series == 0) options::fail("--batch and --series are at least 1");
    if (!s.data_dir.empty()) {
        measure(s, s.data_dir);
    } else {
        const testing::temp_dir own(s.parent);
        measure(s, own.path());
    }
    return 0;
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    using namespace callsign::bench;
    return run_program("baseline", [&] { return run(argc, argv); });
}
