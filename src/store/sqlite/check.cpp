// Proves the promise on the files: read-only, beside a running server or without one. Each proof is
// a query whose rows are the offenders, so what it prints is what is wrong.
//
// Damage does not end it: what cannot be read is a fault like any other, by table and row, and the
// rest is looked at all the same.

#include "key_index.hpp"
#include "migrations.hpp"
#include "reads.hpp"
#include "rows.hpp"
#include "statements.hpp"

#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace callsign {
namespace {

using sqlite::connection;

struct proof {
    const char* invariant;
    const char* what;
    // Rows: one text each, naming an offender.
    const char* offenders;
};

constexpr proof proofs[] = {
    {"I1", "the numbers of each series and period are exactly 1..n",
     "SELECT printf('%s%s: last number %d, but %d tasks with numbers %d..%d', s.prefix,"
     " iif(c.period = '', '', '-' || c.period), c.last_number, count(t.number),"
     " coalesce(min(t.number), 0), coalesce(max(t.number), 0))"
     " FROM counters c LEFT JOIN series s ON s.series_id = c.series_id"
     " LEFT JOIN tasks t ON t.counter_id = c.counter_id GROUP BY c.counter_id"
     " HAVING count(t.number) <> c.last_number OR count(DISTINCT t.number) <> c.last_number"
     " OR coalesce(min(t.number), 1) <> 1 OR coalesce(max(t.number), 0) <> c.last_number"},
    {"I1", "every number is counted by a series of the task's own account, under a prefix it has",
     "SELECT printf('task %s: number %d of series %d', hex(t.uuid), t.number, t.series_id)"
     " FROM tasks t LEFT JOIN counters c ON c.counter_id = t.counter_id"
     " LEFT JOIN series s ON s.series_id = t.series_id"
     " LEFT JOIN prefixes p ON p.account_id = t.account_id AND p.prefix = t.prefix"
     " WHERE t.number IS NOT NULL AND (c.series_id IS NOT t.series_id"
     " OR s.account_id IS NOT t.account_id OR p.series_id IS NOT t.series_id)"},
    {"I2", "every task has its number, and says which version made it",
     "SELECT printf('task %s: number %s, seq %s', hex(uuid), number, seq) FROM tasks"
     " WHERE number IS NULL OR seq IS NULL OR last_seq < seq"},
    {"I3", "a key has one slot",
     "SELECT printf('account %d: %d slots with one key, %d and %d among them', account_id,"
     " count(*), min(slot_id), max(slot_id)) FROM slots GROUP BY account_id, key"
     " HAVING count(*) > 1"},
    {"I3", "a committed slot's task is there, with the uuid it reserved",
     "SELECT printf('slot %d: task %d', s.slot_id, s.task_id) FROM slots s"
     " LEFT JOIN tasks t ON t.task_id = s.task_id AND t.uuid = s.uuid"
     " AND t.account_id = s.account_id WHERE s.state = 2 AND t.task_id IS NULL"},
    {"I3", "a task was made by one slot at most",
     "SELECT printf('task %d: made by %d slots', task_id, count(*)) FROM slots"
     " WHERE state = 2 AND created = 1 GROUP BY task_id HAVING count(*) > 1"},
    {"I4", "a slot that is not committed holds no task, and a pending one no end",
     "SELECT printf('slot %d: state %d, task %s, reason %d', slot_id, state, task_id, reason)"
     " FROM slots WHERE state NOT IN (1, 2, 3) OR (state = 2) <> (task_id IS NOT NULL)"
     " OR (state = 1) <> (settled_at IS NULL) OR (state = 3) <> (reason <> 0)"
     " OR settled_at < created_at"},
    {"I4", "the totals count the slots",
     "SELECT printf('totals say %d pending, %d committed, %d failed, last %d', o.pending,"
     " o.committed, o.failed, o.last_slot) FROM totals o, (SELECT count(*) FILTER (WHERE state ="
     " 1) AS p, count(*) FILTER (WHERE state = 2) AS c, count(*) FILTER (WHERE state = 3) AS f,"
     " coalesce(max(slot_id), 0) AS m FROM slots) n WHERE (o.pending, o.committed, o.failed) <>"
     " (n.p, n.c, n.f) OR o.last_slot < n.m"},
    {"I6", "each account's chain has seq 1..n without a hole",
     "SELECT printf('account %d: head at %d, but %d versions %d..%d', a.account_id, a.last_seq,"
     " count(v.seq), coalesce(min(v.seq), 0), coalesce(max(v.seq), 0)) FROM accounts a"
     " LEFT JOIN (SELECT account_id, seq FROM versions UNION ALL"
     " SELECT account_id, seq FROM sealed_versions) v ON v.account_id = a.account_id"
     " GROUP BY a.account_id"
     " HAVING count(v.seq) <> a.last_seq OR count(DISTINCT v.seq) <> a.last_seq"
     " OR coalesce(min(v.seq), 1) <> 1 OR coalesce(max(v.seq), 0) <> a.last_seq"},
    {"I6", "an account's versions are of its own kind",
     "SELECT printf('account %d: a managed account with sealed versions', a.account_id)"
     " FROM accounts a WHERE a.mode <> 2 AND EXISTS"
     " (SELECT 1 FROM sealed_versions v WHERE v.account_id = a.account_id)"
     " UNION ALL SELECT printf('account %d: an opaque account with versions', a.account_id)"
     " FROM accounts a WHERE a.mode <> 1 AND EXISTS"
     " (SELECT 1 FROM versions v WHERE v.account_id = a.account_id)"},
    {"I6", "each sealed version's parent is the one before it, and the head is the last",
     "SELECT printf('account %d: sealed version %d has another parent', account_id, seq) FROM"
     " (SELECT account_id, seq, parent_id, lag(version_id) OVER"
     " (PARTITION BY account_id ORDER BY seq) AS before FROM sealed_versions)"
     " WHERE before IS NOT NULL AND parent_id <> before"
     " UNION ALL SELECT printf('account %d: the head is not its last sealed version', a.account_id)"
     " FROM accounts a LEFT JOIN (SELECT account_id, max(seq) AS seq, version_id"
     " FROM sealed_versions GROUP BY account_id) v ON v.account_id = a.account_id"
     " WHERE a.mode = 2 AND a.last_version <> coalesce(v.version_id, zeroblob(16))"},
    {"I6", "no sealed version is its own ancestor, and none is a parent twice",
     "SELECT printf('account %d: version %s stands %d times', account_id, hex(version_id),"
     " count(*)) FROM sealed_versions GROUP BY account_id, version_id HAVING count(*) > 1"
     " UNION ALL SELECT printf('account %d: version %s has %d children', account_id,"
     " hex(parent_id), count(*)) FROM sealed_versions NOT INDEXED"
     " GROUP BY account_id, parent_id HAVING count(*) > 1"},
    {"I6", "a snapshot is of a version of its account's chain",
     "SELECT printf('account %d: its snapshot is of no version it has', s.account_id)"
     " FROM sealed_snapshots s JOIN accounts a ON a.account_id = s.account_id"
     " LEFT JOIN sealed_versions v ON v.parent_id = s.version_id AND v.account_id = s.account_id"
     " WHERE iif(v.seq IS NULL, s.version_id <> a.last_version OR s.seq <> a.last_seq,"
     " v.seq <> s.seq + 1)"},
    {"I8", "a device of a managed account has a key, and one of an opaque account has none",
     "SELECT printf('device %d: its account is %s, and it has %s key', d.device_id,"
     " iif(a.mode = 1, 'managed', 'opaque'), iif(d.key IS NULL, 'no', 'a'))"
     " FROM devices d JOIN accounts a ON a.account_id = d.account_id"
     " WHERE (a.mode = 1) = (d.key IS NULL)"},
    {"I8", "a client opens one account, and an opaque account has a client",
     "SELECT printf('account %d: no client id opens it', a.account_id) FROM accounts a"
     " WHERE a.mode = 2 AND NOT EXISTS"
     " (SELECT 1 FROM devices d WHERE d.account_id = a.account_id)"
     " UNION ALL SELECT printf('device %d: account %d is not there', d.device_id, d.account_id)"
     " FROM devices d LEFT JOIN accounts a ON a.account_id = d.account_id"
     " WHERE a.account_id IS NULL"},
    {"I6", "each version's parent is the one before it, and the head is the last",
     "SELECT printf('account %d: version %d has another parent', account_id, seq) FROM"
     " (SELECT account_id, seq, parent_id, lag(version_id, 1, zeroblob(16)) OVER"
     " (PARTITION BY account_id ORDER BY seq) AS before FROM versions) WHERE parent_id <> before"
     " UNION ALL SELECT printf('account %d: the head is not its last version', a.account_id)"
     " FROM accounts a LEFT JOIN versions v ON v.account_id = a.account_id AND v.seq = a.last_seq"
     " WHERE a.mode = 1 AND a.last_version <> coalesce(v.version_id, zeroblob(16))"},
    {"I6", "a side version leads back to its account's chain, and is not on it itself",
     "SELECT printf('account %d: side version %s leads to seq %d, which is not there',"
     " s.account_id, hex(s.version_id), s.seq) FROM side_versions s"
     " LEFT JOIN versions v ON v.account_id = s.account_id AND v.seq = s.seq"
     " WHERE v.seq IS NULL"
     " UNION ALL SELECT printf('account %d: side version %s is on the chain', s.account_id,"
     " hex(s.version_id)) FROM side_versions s JOIN versions v"
     " ON v.version_id = s.version_id AND v.account_id = s.account_id"},
};

constexpr std::pair<const char*, const char*> counted[] = {
    {"accounts", "SELECT count(*) FROM accounts"},
    {"series", "SELECT count(*) FROM series"},
    {"slots", "SELECT count(*) FROM slots"},
    {"tasks", "SELECT count(*) FROM tasks"},
    {"versions", "SELECT count(*) FROM versions"},
    {"sealed versions", "SELECT count(*) FROM sealed_versions"},
    {"side versions", "SELECT count(*) FROM side_versions"},
    {"clients", "SELECT count(*) FROM devices"},
};

// Every row of a table by itself, whatever the others are. `rows`: those after one, in their order.
struct table {
    const char* name;
    const char* rows;
    void (*look_at)(sqlite::query&);
};

template <auto row_of>
void look_at(sqlite::query& q) {
    row_of(q);
}

constexpr table tables[] = {
    {"accounts",
     "SELECT account_id, name, '', last_seq, created_at, mode, last_version FROM accounts"
     " WHERE account_id > ? ORDER BY 1",
     [](sqlite::query& q) {
         sqlite::account_of(q);
         q.id(6);
     }},
    {"series",
     "SELECT series_id, account_id, prefix, project, is_default, 0 FROM series"
     " WHERE series_id > ? ORDER BY 1",
     look_at<sqlite::series_row_of>},
    {"counters",
     "SELECT counter_id, last_number, period FROM counters WHERE counter_id > ? ORDER BY 1",
     [](sqlite::query& q) { q.integer(1); }},
    {"tokens",
     "SELECT token_id, account_id, name, scope, created_at, revoked_at FROM tokens"
     " WHERE token_id > ? ORDER BY 1",
     look_at<sqlite::token_of>},
    {"slots",
     "SELECT slot_id, account_id, key, fingerprint, uuid, created_at, attempts, created, reason,"
     " state, task_id, settled_at FROM slots WHERE slot_id > ? ORDER BY 1",
     look_at<sqlite::slot_of>},
    {"tasks",
     "SELECT task_id, account_id, uuid, '', NULL, NULL, prefix, NULL, last_seq, created_at, purged,"
     " attributes FROM tasks WHERE task_id > ? ORDER BY 1",
     look_at<sqlite::task_of>},
    {"devices",
     "SELECT device_id, client_id, account_id, 1, name, key, created_at, revoked_at FROM devices"
     " WHERE device_id > ? ORDER BY 1",
     look_at<sqlite::device_of>},
    {"sealed_versions",
     "SELECT sealed_id, version_id, parent_id, created_at, segment FROM sealed_versions"
     " WHERE sealed_id > ? ORDER BY 1",
     look_at<sqlite::sealed_version_of>},
    {"sealed_snapshots",
     "SELECT account_id, version_id, taken_at, bytes FROM sealed_snapshots WHERE account_id > ?"
     " ORDER BY 1",
     [](sqlite::query& q) {
         q.at("sealed_snapshots", q.integer(0));
         q.id(1);
         q.instant(2);
         q.blob(3);
     }},
};

class checker {
  public:
    checker(const std::filesystem::path& file,
            const std::function<void(std::string_view)>& progress)
        : db_(file, SQLite::OPEN_READONLY, std::size_t{64} << 20), progress_(progress) {
        db_.execute("BEGIN");  // one state, however long it takes and whatever is written meanwhile
    }

    check_report run() {
        part("the rows are counted", [&] {
            for (const auto& [what, text] : counted) {
                report_.checked.push_back({what, db_.integer_of(text)});
            }
            report_.last_moment = time_point{milliseconds{db_.integer_of(sql::moment_last)}};
        });
        part("every row can be read", [&] { read_all(); });
        for (const proof& p : proofs) {
            part(p.what, [&] {
                auto q = db_.use(p.offenders);
                while (q.step()) fault(p.invariant, q.text(0));
            });
        }
        part("a task's version is the one that made it, and what a version made is there",
             [&] { check_makers(); });
        part("the tasks are what the chain says", [&] { replay_chains(); });
        part("every key finds its slot", [&] { check_keys(); });
        part("the file is sound", [&] {
            auto q = db_.use("PRAGMA integrity_check");
            while (q.step()) {
                if (q.text(0) != "ok") fault("file", q.text(0));
            }
        });
        return std::move(report_);
    }

  private:
    template <class Look>
    void part(const char* what, Look look) {
        progress_(what);
        part_ = what;
        try {
            look();
        } catch (const store_failure& failure) {
            fault("file", std::string("cannot be seen to its end: ") + failure.what());
        }
    }

    // ---- rows ----

    void read_all() {
        for (const table& t : tables) read_rows(t.name, t.rows, t.look_at, {});
        auto accounts = db_.use("SELECT account_id FROM accounts ORDER BY account_id");
        while (accounts.step()) {
            const account_id id{accounts.integer(0)};
            read_rows("versions",
                      "SELECT seq, version_id, parent_id, created_at, operations FROM versions"
                      " WHERE seq > ? AND account_id = ? ORDER BY seq",
                      look_at<sqlite::version_of>, id);
        }
        auto sides = db_.use("SELECT version_id, account_id FROM side_versions");
        while (sides.step()) {
            readable([&] {
                auto q = db_.use(sql::side_get);
                const uuid version = sides.id(0);
                if (q.bind(version).bind(sides.integer(1)).step()) sqlite::side_version_of(q);
            });
        }
    }

    // Around what cannot be read: behind it there may be more.
    void read_rows(const char* table, const char* rows, void (*look_at)(sqlite::query&),
                   std::optional<account_id> of) {
        const std::string whose = of ? " of account " + std::to_string(of->value) : "";
        std::int64_t last = INT64_MIN, passed = last;
        for (;;) {
            std::string why;
            try {
                auto q = db_.use(rows);
                q.bind(last);
                if (of) q.bind(*of);
                while (q.step()) {
                    last = q.integer(0);
                    q.at(table, last);
                    readable([&] { look_at(q); }, whose);
                }
                return;
            } catch (const store_failure& failure) {
                why = failure.what();
            }
            const auto next = next_readable(rows, last, of);
            fault("file", std::string(table) + whose + ": rows after " +
                              (last == INT64_MIN ? "the beginning" : std::to_string(last)) +
                              (next ? " and before " + std::to_string(*next + 1) : "") +
                              " cannot be read: " + why);
            // Rows out of order would lead round and round.
            if (!next || *next <= passed) return;
            passed = last = *next;
        }
    }

    // The row before the first that can be read again, going forward in ever longer steps.
    std::optional<std::int64_t> next_readable(const char* rows, std::int64_t last,
                                              std::optional<account_id> of) {
        const std::int64_t from = std::max<std::int64_t>(last, 0);
        for (int step = 0; step < 62; ++step) {
            const std::int64_t after = from + (std::int64_t{1} << step);
            if (after < from) break;
            try {
                auto q = db_.use(rows);
                q.bind(after);
                if (of) q.bind(*of);
                if (!q.step()) return std::nullopt;
                return after;
            } catch (const store_failure&) {
                // Not here yet.
            }
        }
        return std::nullopt;
    }

    template <class Look>
    void readable(Look look, const std::string& whose = {}) {
        try {
            look();
        } catch (const store_failure& failure) {
            fault("file", failure.what() + whose);
        }
    }

    // ---- the chain and the tasks ----

    // The version that a receipt names is the one that made the task, and whatever a version made
    // is there, be it purged. But where a chain begins elsewhere, there are tasks that no version
    // here has made; and of what was sealed once, what came and went has no row.
    //
    // Tasks and versions in the same order: each version is read once, however many it has made.
    // (SQLite reads the whole of a version to compare its key: a look-up for each task would copy a
    // large one as often.)
    void check_makers() {
        const std::map<account_id, begun> chains = begun_chains();
        auto tasks =
            db_.use("SELECT account_id, seq, uuid FROM tasks WHERE seq IS NOT NULL ORDER BY 1, 2");
        bool more = tasks.step();
        auto versions = db_.use(
            "SELECT seq, version_id, parent_id, account_id, operations FROM versions"
            " ORDER BY account_id, seq");
        while (versions.step()) {
            const std::int64_t seq = versions.integer(0), account = versions.integer(3);
            const auto found = chains.find(account_id{account});
            const begun chain = found == chains.end() ? begun{} : found->second;
            const auto made = created_by(versions);
            const auto place = std::pair(account, seq);
            for (; more; more = tasks.step()) {
                const auto of_task = std::pair(tasks.integer(0), tasks.integer(1));
                if (of_task > place) break;
                if (of_task < place) {
                    no_version(tasks);
                    continue;
                }
                if (!chain.at_nothing || !made) continue;
                const uuid id = tasks.id(2);
                if (std::ranges::binary_search(*made, id)) continue;
                fault("I2", "task " + to_string(id) + ", seq " + std::to_string(seq));
            }
            if (seq > chain.sealed_seq && made) look_for(account_id{account}, seq, *made);
        }
        for (; more; more = tasks.step()) no_version(tasks);
        report_.checked.push_back({"operations", operations_});
    }

    void no_version(sqlite::query& task) {
        fault("I2", "task " + to_string(task.id(2)) + ", seq " + std::to_string(task.integer(1)) +
                        ": there is no such version");
    }

    struct begun {
        bool at_nothing = false;  // not elsewhere
        std::int64_t sealed_seq = 0;
    };

    std::map<account_id, begun> begun_chains() {
        std::map<account_id, begun> chains;
        auto q = db_.use(
            "SELECT a.account_id, f.parent_id IS zeroblob(16), a.sealed_seq FROM accounts a"
            " LEFT JOIN versions f ON f.account_id = a.account_id AND f.seq = 1");
        while (q.step()) chains[account_id{q.integer(0)}] = {q.integer(1) != 0, q.integer(2)};
        return chains;
    }

    // None: it cannot be read, and is listed among the rows that cannot.
    std::optional<std::vector<uuid>> created_by(sqlite::query& versions) {
        const auto operations = sqlite::decode_operations(versions.blob(4));
        if (!operations) return std::nullopt;
        operations_ += std::ssize(*operations);
        std::vector<uuid> made;
        for (const operation& o : *operations) {
            if (o.what == operation::kind::create) made.push_back(o.uuid);
        }
        std::ranges::sort(made);
        return made;
    }

    void look_for(account_id account, std::int64_t seq, const std::vector<uuid>& made) {
        for (const uuid& id : made) {
            auto q = db_.use("SELECT 1 FROM tasks WHERE uuid = ? AND account_id = ?");
            if (q.bind(id).bind(account).step()) continue;
            fault("I1", "account " + std::to_string(account.value) + ": version " +
                            std::to_string(seq) + " made " + to_string(id) + ", which is lost");
        }
    }

    // The tasks are what the chain says, each operation having had an effect. Of accounts whose
    // chain begins elsewhere or is longer than memory should hold, only the links are looked at.
    void replay_chains() {
        std::map<account_id, std::int64_t> tasks_of;
        {
            auto q = db_.use("SELECT account_id, count(*) FROM tasks WHERE NOT purged GROUP BY 1");
            while (q.step()) tasks_of[account_id{q.integer(0)}] = q.integer(1);
        }
        std::int64_t replayed = 0;
        auto q = db_.use(
            "SELECT a.account_id FROM accounts a JOIN versions v ON v.account_id = a.account_id"
            " AND v.seq = 1 AND v.parent_id = zeroblob(16) WHERE a.mode = 1 AND a.last_seq <= ?");
        q.bind(replayed_versions_max);
        for (; q.step(); ++replayed) {
            const account_id id{q.integer(0)};
            replay(id, tasks_of[id]);
        }
        report_.checked.push_back({"chains replayed", replayed});
    }

    // `here`: how many tasks it has, purged ones left out.
    void replay(account_id account, std::int64_t here) {
        const std::string who = "account " + std::to_string(account.value) + ": ";
        task_map tasks;
        auto versions = db_.use(sql::version_all);
        versions.bind(account).bind(0).bind(replayed_versions_max);
        while (versions.step()) {
            const auto operations = sqlite::decode_operations(versions.blob(4));
            if (!operations) return;  // what it says is not known any more
            for (const operation& o : *operations) {
                if (carry_out(tasks, o)) continue;
                fault("I6", who + "version " + std::to_string(versions.integer(0)) +
                                " has an operation without effect on task " + to_string(o.uuid));
            }
        }
        for (const auto& [id, said] : tasks) {
            auto q = db_.use(
                "SELECT attributes FROM tasks WHERE uuid = ? AND account_id = ? AND NOT purged");
            if (!q.bind(id).bind(account).step() || sqlite::decode_attributes(q.blob(0)) != said) {
                fault("I6", who + "task " + to_string(id) + " is another");
            }
        }
        if (here != std::ssize(tasks)) {
            fault("I6", who + std::to_string(here) + " tasks, and " + std::to_string(tasks.size()) +
                            " on the chain");
        }
    }

    // ---- keys ----

    // Every slot is found under its key: it is in a run under its hash, or younger than all runs
    // (those are read at start).
    void check_keys() {
        std::vector<bool> indexed = slots_in_runs();
        const auto through =
            db_.integer_of("SELECT coalesce(max(through), 0) FROM key_runs WHERE state = 2");
        std::int64_t looked_at = 0;
        auto q = db_.use("SELECT slot_id FROM slots ORDER BY slot_id");
        for (; q.step(); ++looked_at) {
            const auto id = q.integer(0);
            const auto at = static_cast<std::size_t>(id - first_slot_);
            if (id <= through && (at >= indexed.size() || !indexed[at])) {
                fault("I3", "slot " + std::to_string(id) + " is not indexed");
            }
        }
        report_.checked.push_back({"keys", looked_at});
    }

    std::vector<bool> slots_in_runs() {
        first_slot_ = db_.integer_of(sql::slot_oldest);
        const auto last = db_.integer_of("SELECT coalesce(max(slot_id), 0) FROM slots");
        if (last - first_slot_ >= slots_max) {
            throw_damaged("slots", last, "its id is far from all others");
        }
        std::vector<bool> indexed(static_cast<std::size_t>(last - first_slot_ + 1));
        auto pages = db_.use(
            "SELECT r.run_id, p.entries FROM key_runs r JOIN key_pages p ON p.page_id >= r.run_id "
            "<< 32"
            " AND p.page_id < (r.run_id + 1) << 32 WHERE r.state = 2 ORDER BY p.page_id");
        std::int64_t run = 0;
        std::uint64_t before = 0;
        while (pages.step()) {
            if (std::exchange(run, pages.integer(0)) != pages.integer(0)) before = 0;
            const auto bytes = pages.blob(1);
            for (std::size_t at = 0; at + 16 <= bytes.size(); at += 16) {
                std::uint64_t hash = 0;
                std::int64_t slot = 0;
                std::memcpy(&hash, bytes.data() + at, sizeof hash);
                std::memcpy(&slot, bytes.data() + at + sizeof hash, sizeof slot);
                if (hash < before) fault("I3", "run " + std::to_string(run) + " is out of order");
                before = hash;
                if (slot >= first_slot_ && slot <= last && hash_of_slot(slot) == hash) {
                    indexed[static_cast<std::size_t>(slot - first_slot_)] = true;
                }
            }
        }
        return indexed;
    }

    std::optional<std::uint64_t> hash_of_slot(std::int64_t slot) {
        auto q = db_.use("SELECT account_id, key FROM slots WHERE slot_id = ?");
        if (!q.bind(slot).step()) return std::nullopt;
        return sqlite::key_hash(account_id{q.integer(0)}, q.text(1));
    }

    void fault(const char* invariant, const std::string& text) {
        if (report_.faults.size() < check_report::faults_max) {
            report_.faults.push_back({invariant, std::string(part_) + ": " + text});
        }
    }

    connection db_;
    const std::function<void(std::string_view)>& progress_;
    check_report report_;
    const char* part_ = "";
    std::int64_t first_slot_ = 0;
    std::int64_t operations_ = 0;

    static constexpr std::int64_t slots_max = std::int64_t{1} << 32;
    static constexpr std::int64_t replayed_versions_max = 200'000;
};

}  // namespace

check_report check_sqlite(const std::filesystem::path& data_dir,
                          const std::function<void(std::string_view)>& progress) {
    const auto file = data_dir / "callsign.sqlite3";
    if (!std::filesystem::exists(file)) {
        throw std::runtime_error("there is no callsign.sqlite3 in " + data_dir.string());
    }
    try {
        const auto version = connection(file, SQLite::OPEN_READONLY, std::size_t{1} << 20)
                                 .integer_of("PRAGMA user_version");
        const auto known = static_cast<std::int64_t>(sqlite::migrations().size());
        if (version != known) {
            throw std::runtime_error(file.string() + " has schema " + std::to_string(version) +
                                     ", and this program checks schema " + std::to_string(known) +
                                     (version < known
                                          ? ": callsignd of this version brings it up to date"
                                          : ": use the newer program"));
        }
        return checker(file, progress).run();
    } catch (const SQLite::Exception& error) {
        throw std::runtime_error("cannot read " + file.string() + ": " + error.what());
    } catch (const store_failure& error) {
        if (error.what_happened() == store_failure::kind::damaged) {
            return {{}, {{"file", std::string("the file can be opened: ") + error.what()}}};
        }
        throw std::runtime_error("cannot read " + file.string() + ": " + error.what());
    }
}

}  // namespace callsign
