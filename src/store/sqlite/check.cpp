// Proves the promise on the files: read-only, beside a running server or without one. Each proof is
// a query whose rows are the offenders, so what it prints is what is wrong.

#include "key_index.hpp"
#include "migrations.hpp"
#include "rows.hpp"
#include "statements.hpp"

#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <cstring>

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
    {"I2", "every task has its number, and a version that made it",
     "SELECT printf('task %s: number %s, seq %s', hex(t.uuid), t.number, t.seq) FROM tasks t"
     " LEFT JOIN versions v ON v.account_id = t.account_id AND v.seq = t.seq"
     " WHERE t.number IS NULL OR v.seq IS NULL OR t.last_seq < t.seq"},
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

class checker {
  public:
    checker(const std::filesystem::path& file,
            const std::function<void(std::string_view)>& progress)
        : db_(file, SQLite::OPEN_READONLY, std::size_t{64} << 20), progress_(progress) {
        db_.execute("BEGIN");  // one state, however long it takes and whatever is written meanwhile
    }

    check_report run() {
        for (const auto& [what, text] : counted) {
            report_.checked.push_back({what, db_.integer_of(text)});
        }
        for (const proof& p : proofs) {
            progress_(p.what);
            auto q = db_.use(p.offenders);
            while (q.step()) fault(p.invariant, std::string(p.what) + ": " + q.text(0));
        }
        check_makers();
        replay_chains();
        check_keys();
        progress_("the file is sound");
        auto q = db_.use("PRAGMA integrity_check");
        while (q.step()) {
            if (q.text(0) != "ok") fault("file", "SQLite integrity_check: " + q.text(0));
        }
        return std::move(report_);
    }

  private:
    // The version that a receipt names is the one that made the task. But where a chain begins
    // elsewhere, there are tasks that no version here has made.
    void check_makers() {
        static constexpr const char* what = "a task's version is the one that made it";
        progress_(what);
        auto q = db_.use(
            "SELECT t.uuid, t.seq, v.operations FROM tasks t JOIN versions v"
            " ON v.account_id = t.account_id AND v.seq = t.seq JOIN versions f"
            " ON f.account_id = t.account_id AND f.seq = 1 AND f.parent_id = zeroblob(16)");
        while (q.step()) {
            const uuid id = q.id(0);
            const auto operations = sqlite::decode_operations(q.blob(2));
            const bool made = std::any_of(operations.begin(), operations.end(), [&](const auto& o) {
                return o.what == operation::kind::create && o.uuid == id;
            });
            if (made) continue;
            fault("I2", std::string(what) + ": task " + to_string(id) + ", seq " +
                            std::to_string(q.integer(1)));
        }
    }

    // The tasks are what the chain says, each operation having had an effect. Of accounts whose
    // chain begins elsewhere or is longer than memory should hold, only the links are looked at.
    void replay_chains() {
        progress_("the tasks are what the chain says");
        std::int64_t replayed = 0;
        auto q = db_.use(
            "SELECT a.account_id FROM accounts a JOIN versions v ON v.account_id = a.account_id"
            " AND v.seq = 1 AND v.parent_id = zeroblob(16) WHERE a.mode = 1 AND a.last_seq <= ?");
        q.bind(replayed_versions_max);
        for (; q.step(); ++replayed) replay(account_id{q.integer(0)});
        report_.checked.push_back({"chains replayed", replayed});
    }

    void replay(account_id account) {
        const std::string who = "account " + std::to_string(account.value) + ": ";
        task_map tasks;
        auto versions = db_.use(sql::version_all);
        versions.bind(account).bind(0).bind(replayed_versions_max);
        while (versions.step()) {
            for (const operation& o : sqlite::decode_operations(versions.blob(4))) {
                if (carry_out(tasks, o)) continue;
                fault("I6", who + "version " + std::to_string(versions.integer(0)) +
                                " has an operation without effect on task " + to_string(o.uuid));
            }
        }
        auto rows = db_.use("SELECT uuid, purged, attributes FROM tasks WHERE account_id = ?");
        rows.bind(account);
        std::size_t there = 0;
        while (rows.step()) {
            const uuid id = rows.id(0);
            const auto said = tasks.find(id);
            const bool is_there = rows.integer(1) == 0;
            there += is_there ? 1 : 0;
            const bool same = is_there ? said != tasks.end() &&
                                             said->second == sqlite::decode_attributes(rows.blob(2))
                                       : said == tasks.end();
            if (!same) {
                fault("I6", who + "task " + to_string(id) + " is not what the chain says");
            }
        }
        if (there != tasks.size()) fault("I6", who + "the chain has made tasks that are not here");
    }

    // Every slot is found under its key: it is in a run under its hash, or younger than all runs
    // (those are read at start).
    void check_keys() {
        progress_("every key finds its slot");
        std::vector<bool> indexed = slots_in_runs();
        const auto through =
            db_.integer_of("SELECT coalesce(max(through), 0) FROM key_runs WHERE state = 2");
        std::int64_t looked_at = 0;
        auto q = db_.use("SELECT slot_id FROM slots ORDER BY slot_id");
        for (; q.step(); ++looked_at) {
            const auto id = q.integer(0);
            const auto at = static_cast<std::size_t>(id - first_slot_);
            if (id <= through && (at >= indexed.size() || !indexed[at])) {
                fault("I3",
                      "every key finds its slot: slot " + std::to_string(id) + " is not indexed");
            }
        }
        report_.checked.push_back({"keys", looked_at});
    }

    std::vector<bool> slots_in_runs() {
        first_slot_ = db_.integer_of(sql::slot_oldest);
        const auto last = db_.integer_of("SELECT coalesce(max(slot_id), 0) FROM slots");
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
                if (hash < before) fault("I3", "run " + std::to_string(run) + " is not in order");
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

    void fault(const char* invariant, std::string text) {
        if (report_.faults.size() < check_report::faults_max) {
            report_.faults.push_back({invariant, std::move(text)});
        }
    }

    connection db_;
    const std::function<void(std::string_view)>& progress_;
    check_report report_;
    std::int64_t first_slot_ = 0;

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
        throw std::runtime_error("cannot read " + file.string() + ": " + error.what());
    }
}

}  // namespace callsign
