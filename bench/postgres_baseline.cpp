// postgres_baseline: the upper limit of creations in a PostgreSQL database. One thread writes the
// rows of creations in a loop, with the server's schema, indexes and session settings: without
// HTTP, rules, reads and other threads, with two durable commits per batch, each of which is one
// round trip, as the server's two phases need.
//
//     postgres_baseline --url postgresql:///postgres --batch 64 --duration 10s
//     postgres_baseline --url URL --batch 64 --series 1000      in this number of series
//     postgres_baseline --url URL --batch 64 --accounts 1000    of accounts with one series each
//
// Uses the schema callsign_baseline, which it removes first and afterwards.

#include "histogram.hpp"
#include "local_store.hpp"
#include "options.hpp"
#include "store/postgres/connection.hpp"
#include "store/postgres/statements.hpp"

#include <callsign/platform/real.hpp>
#include <callsign/store/postgres.hpp>

#include <cstdio>
#include <numeric>
#include <random>
#include <set>

namespace callsign::bench {
namespace {

namespace pg = postgres;

struct settings {
    std::string url = "postgresql:///postgres";
    unsigned batch = 64;
    unsigned series = 1;
    unsigned accounts = 1;
    milliseconds duration = std::chrono::seconds{5};
    bool json = false;
};

constexpr char schema[] = "callsign_baseline";

const std::string begin = "BEGIN";
const std::string commit = "COMMIT";
const std::string last_row = "SELECT n FROM batches ORDER BY n DESC LIMIT 1";
const std::string log_put =
    "INSERT INTO batches (n, owner, kind, schema_version, at, server, lost_through, accounts,"
    " committed, tasks, open_tasks, last_slot, last_task, last_version)"
    " SELECT $1::bigint, owner, 2, schema_version, $2::bigint, server, 0, accounts, $3::bigint,"
    " $3::bigint, $3::bigint, $4::bigint, $4::bigint, $4::bigint FROM batches"
    " WHERE n = $1::bigint - 1";
const std::string slots_put =
    "INSERT INTO slots (slot_id, account_id, created_at, attempts, uuid, created, reason, state,"
    " expires, key, fingerprint) SELECT i, a, $4::bigint, 1, u, 1, 0, 1, 0, k, $6::bytea"
    " FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $5::bytea[]) s (i, a, u, k)";
const std::string slots_commit =
    "UPDATE slots SET state = 2, task_id = i, settled_at = $2::bigint"
    " FROM unnest($1::bigint[]) s (i) WHERE slot_id = i";
const std::string tasks_put =
    "INSERT INTO tasks (task_id, account_id, series_id, counter_id, number, seq, last_seq,"
    " created_at, bytes, way_back, uuid, purged, over, prefix, attributes)"
    " SELECT i, a, c, c, n, s, s, $7::bigint, 120, 0, u, 0, 0, 'BASE', $8::bytea FROM"
    " unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[])"
    " t (i, a, c, n, s, u)";
const std::string versions_put =
    "INSERT INTO versions (version_row, account_id, seq, created_at, bytes, version_id, parent_id,"
    " operations) SELECT i, a, s, $5::bigint, 160, u, u, $6::bytea"
    " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::uuid[]) v (i, a, s, u)";
const std::string account_heads_drop =
    "DELETE FROM account_heads h USING unnest($1::bigint[], $2::bigint[]) d (i, n)"
    " WHERE h.account_id = d.i AND h.n = d.n";
const std::string account_heads_put =
    "INSERT INTO account_heads (account_id, n, last_seq, last_version, sealed_seq, history_from,"
    " stored_bytes, fork_versions, fork_bytes) SELECT i, $3::bigint, s, $4::uuid, 0, 0, s, 0, 0"
    " FROM unnest($1::bigint[], $2::bigint[]) h (i, s)";
const std::string counter_heads_drop =
    "DELETE FROM counter_heads h USING unnest($1::bigint[], $2::bigint[]) d (i, n)"
    " WHERE h.counter_id = d.i AND h.n = d.n";
const std::string counter_heads_put =
    "INSERT INTO counter_heads (counter_id, n, last_number) SELECT i, $3::bigint, l"
    " FROM unnest($1::bigint[], $2::bigint[]) h (i, l)";

// A column of rows.
class integers {
  public:
    void add(std::int64_t value) { all_.add_integer(value); }
    std::string take() { return all_.take(); }

  private:
    pg::array all_{pg::oid::bigint};
};
class uuids {
  public:
    void add(const uuid& id) {
        all_.add_bytes({reinterpret_cast<const char*>(id.begin()), id.size()});
    }
    std::string take() { return all_.take(); }

  private:
    pg::array all_{pg::oid::uuid};
};

class writer {
  public:
    writer(pg::connection& db, const settings& s)
        : db_(db), ids_(1), random_(1), accounts_(s.accounts), counters_(s.series * s.accounts) {
        db_.add(last_row);
        n_ = pg::integer_in(*db_.run()[0], 0, 0);
    }

    // Phase 1 of a whole batch, durable; then its phase 2, durable.
    void create(unsigned batch) {
        const std::int64_t now = wall_time().time_since_epoch().count();
        const std::int64_t first = last_ + 1;
        last_ += batch;
        std::vector<uuid> tasks;
        for (unsigned i = 0; i < batch; ++i)
            tasks.push_back(ids_.next(time_point{milliseconds{now}}));
        reserve(first, tasks, now);
        fulfil(first, tasks, now);
    }

  private:
    struct head {
        std::int64_t last = 0;
        std::int64_t n = 0;  // of the batch that wrote it
    };

    std::size_t account_of(std::int64_t id) const {
        return static_cast<std::size_t>(id) % accounts_.size();
    }
    void begin_batch(std::int64_t now) {
        db_.add(begin);
        pg::parameters row;
        for (const std::int64_t each : {++n_, now, last_, last_}) {
            row.add_integer(each, pg::oid::bigint);
        }
        db_.add(log_put, std::move(row));
    }
    void commit_batch() {
        db_.add(commit);
        db_.run();
    }

    void reserve(std::int64_t first, const std::vector<uuid>& tasks, std::int64_t now) {
        begin_batch(now);
        integers ids, accounts;
        uuids its;
        pg::array keys(pg::oid::bytea);
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            const std::int64_t id = first + static_cast<std::int64_t>(i);
            ids.add(id);
            accounts.add(1 + static_cast<std::int64_t>(account_of(id)));
            its.add(tasks[i]);
            keys.add_bytes(random_key(random_));
        }
        pg::parameters all;
        all.add(ids.take());
        all.add(accounts.take());
        all.add(its.take());
        all.add_integer(now, pg::oid::bigint);
        all.add(keys.take());
        all.add(std::string(32, 'f'));
        db_.add(slots_put, std::move(all));
        commit_batch();
    }

    void fulfil(std::int64_t first, const std::vector<uuid>& tasks, std::int64_t now) {
        begin_batch(now);
        integers row_ids, row_accounts, row_counters, row_numbers, row_seqs;
        uuids its, versions;
        std::set<std::size_t> accounts, counters;
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            const std::int64_t id = first + static_cast<std::int64_t>(i);
            const std::size_t account = account_of(id);
            const std::size_t counter = static_cast<std::size_t>(id) % counters_.size();
            accounts.insert(account);
            counters.insert(counter);
            row_ids.add(id);
            row_accounts.add(1 + static_cast<std::int64_t>(account));
            row_counters.add(1 + static_cast<std::int64_t>(counter));
            row_numbers.add(++counters_[counter].last);
            row_seqs.add(++accounts_[account].last);
            its.add(tasks[i]);
            versions.add(ids_.next(time_point{milliseconds{now}}));
        }
        // A slot, its task and its version have one ID.
        const std::string ids = row_ids.take(), in = row_accounts.take(), seqs = row_seqs.take();
        pg::parameters t;
        t.add(ids);
        t.add(in);
        t.add(row_counters.take());
        t.add(row_numbers.take());
        t.add(seqs);
        t.add(its.take());
        t.add_integer(now, pg::oid::bigint);
        t.add(attributes_);
        db_.add(tasks_put, std::move(t));
        pg::parameters v;
        v.add(ids);
        v.add(in);
        v.add(seqs);
        v.add(versions.take());
        v.add_integer(now, pg::oid::bigint);
        v.add(operations_);
        db_.add(versions_put, std::move(v));
        pg::parameters s;
        s.add(ids);
        s.add_integer(now, pg::oid::bigint);
        db_.add(slots_commit, std::move(s));
        put_heads(account_heads_drop, account_heads_put, accounts, accounts_, true);
        put_heads(counter_heads_drop, counter_heads_put, counters, counters_, false);
        commit_batch();
    }

    void put_heads(const std::string& drop, const std::string& put,
                   const std::set<std::size_t>& changed, std::vector<head>& heads, bool versions) {
        integers row_ids, former, last;
        for (const std::size_t each : changed) {
            head& h = heads[each];
            row_ids.add(1 + static_cast<std::int64_t>(each));
            former.add(std::exchange(h.n, n_));
            last.add(h.last);
        }
        const std::string ids = row_ids.take();
        pg::parameters dropped;
        dropped.add(ids);
        dropped.add(former.take());
        db_.add(drop, std::move(dropped));
        pg::parameters rows;
        rows.add(ids);
        rows.add(last.take());
        rows.add_integer(n_, pg::oid::bigint);
        if (versions) {
            const uuid version = ids_.next(wall_time());
            rows.add(std::string(version.begin(), version.end()));
        }
        db_.add(put, std::move(rows));
    }

    pg::connection& db_;
    seeded_ids ids_;
    std::mt19937_64 random_;
    std::vector<head> accounts_;
    std::vector<head> counters_;
    std::int64_t n_ = 0;
    std::int64_t last_ = 0;  // of slots, tasks and versions
    // Of realistic size; their content is irrelevant to PostgreSQL.
    const std::string attributes_ = std::string(130, 'a');
    const std::string operations_ = std::string(200, 'o');
};

void drop_schema(const settings& s) {
    pg::connection db(
        {.url = s.url, .schema = schema, .settings = "SET client_min_messages = error"});
    db.execute(std::string("DROP SCHEMA IF EXISTS ") + schema + " CASCADE");
}

void measure(const settings& s) {
    drop_schema(s);
    {
        const auto time = platform::make_real_clock();
        const auto standby =
            open_postgres({.url = s.url, .schema = schema, .server = "baseline"}, *time, uuid{{1}});
        if (!standby->look() || !standby->take_over()) throw std::runtime_error("no schema");
    }
    pg::connection db({.url = s.url, .schema = schema, .settings = pg::session_settings});
    writer w(db, s);
    w.create(s.batch);  // prepares statements
    const auto started = std::chrono::steady_clock::now();
    histogram batches;
    auto now = started;
    while (now - started < s.duration) {
        w.create(s.batch);
        const auto before = std::exchange(now, std::chrono::steady_clock::now());
        batches.record(now - before);
    }
    const std::chrono::duration<double> took = now - started;
    const double rate = static_cast<double>(batches.total() * s.batch) / took.count();
    const auto ms = [&](double share) {
        return std::chrono::duration<double, std::milli>(batches.quantile(share)).count();
    };
    std::printf(
        s.json ? "{\"batch\":%u,\"series\":%u,\"accounts\":%u,\"perSecond\":%.1f,"
                 "\"p50\":%.3f,\"p99\":%.3f}\n"
               : "batches of %u, %u series of %u accounts: %.0f creates/s, a batch p50 %.2f ms, "
                 "p99 %.2f ms\n",
        s.batch, s.series, s.accounts, rate, ms(0.5), ms(0.99));
    drop_schema(s);
}

int run(int argc, char** argv) {
    settings s;
    options flags("postgres_baseline: a creation's rows, written by libpq alone.");
    flags.add("--url", s.url, "the database");
    flags.add("--batch", s.batch, "creations that share their two commits");
    flags.add("--series", s.series, "of each account, each creation in the next one");
    flags.add("--accounts", s.accounts, "each creation in the next one");
    flags.add("--duration", s.duration, "how long");
    flags.add("--json", s.json, "print one JSON object");
    flags.parse(argc, argv);
    if (s.batch == 0 || s.series == 0 || s.accounts == 0) options::fail("each is at least 1");
    measure(s);
    return 0;
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    using namespace callsign::bench;
    return run_program("postgres_baseline", [&] { return run(argc, argv); });
}
