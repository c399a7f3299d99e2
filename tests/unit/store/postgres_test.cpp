// The PostgreSQL store on a real server: plans, hot rows, lost connections, the log. What is common
// to all stores is in tests/contract.

#include "support/postgres.hpp"

#include "store/postgres/connection.hpp"
#include "store/postgres/log_table.hpp"
#include "store/postgres/statements.hpp"
#include "support/postgres_proxy.hpp"
#include "support/virtual_clock.hpp"
#include "t0.hpp"

#include <callsign/ports/tables/all.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace callsign::postgres {
namespace {

using namespace testing;
using kind = store_failure::kind;
using std::chrono::seconds;

class postgres_stores : public ::testing::Test {
  protected:
    postgres_stores() {
        static int schemas = 0;
        schema_ = "unit_" + std::to_string(++schemas);
    }

    std::unique_ptr<store> open(postgres_options options = {}) {
        return open_postgres_now(schema_, clock_, std::move(options));
    }
    // A standby that may take the store over: its clock has shown six seconds in which the owner,
    // whose clock has stopped, wrote nothing.
    std::unique_ptr<standby_store> standby_after_lease(virtual_clock& its) const {
        auto standby = open_postgres({.url = server_.url(), .schema = schema_, .server = "other"},
                                     its, uuid{{2}});
        EXPECT_FALSE(standby->look());
        its.advance_to_next(seconds{6});
        EXPECT_TRUE(standby->look());
        return standby;
    }
    std::string query(const std::string& sql) const {
        return server_.query("SET search_path = " + schema_ + "; " + sql);
    }
    std::string kinds() const {
        std::string all;
        for (const char c : query("SELECT string_agg(kind::text, '' ORDER BY n) FROM batches")) {
            all += "?tbhnrmM"[c - '0'];
        }
        return all;
    }
    static void put_account(store& to, const std::string& name) {
        const auto tx = to.begin_write();
        const auto id = accounts::put(*tx, name, t0);
        all_series::put(*tx, id, "SYN", "", true, t0);
        tx->commit();
    }
    static std::optional<kind> failure_of_put(store& to, const std::string& name) {
        try {
            put_account(to, name);
        } catch (const store_failure& failure) {
            return failure.reason();
        }
        return std::nullopt;
    }
    static std::string names(store& in) {
        std::string all;
        for (const auto& each : accounts::all(*in.begin_read())) all += each.name + " ";
        return all;
    }
    // A task as the rules make it.
    static void make_task(store& in, int n) {
        const auto tx = in.begin_write();
        const auto home = accounts::find(*tx, "home");
        const auto series = all_series::default_of(*tx, home->id);
        task t;
        t.account = home->id;
        t.uuid = make_uuid_v7(t0, 0, static_cast<std::uint64_t>(n));
        t.created_at = t0;
        t.attributes = {{"description", "task"}};
        const operation made{operation_kind::create, t.uuid, {}, {}, {}};
        receipt r{t.uuid, series->prefix, "",  callsign::numbers::take(*tx, series->id, ""),
                  0,      t.created_at,   true};
        r.seq = versions::append(*tx, home->id, make_uuid_v7(t0, 1, static_cast<std::uint64_t>(n)),
                                 t0, {made});
        t.numbered = r;
        t.last_seq = r.seq;
        tasks::put(*tx, t, series->id);
        tx->commit();
    }

    virtual_clock clock_;
    postgres_server& server_ = postgres_server::shared();
    std::string schema_;
};

// ---- plans ----

// A plan that was made for an empty table would scan it for ever. With the session's settings each
// statement uses an index, and no scan sorts.
TEST_F(postgres_stores, each_statement_uses_an_index) {
    open();
    connection db({.url = server_.url(), .schema = schema_, .settings = session_settings});
    statements texts(column_types::read(db, schema_));
    const auto plan_of = [&](const std::string& text) {
        int parameters = 0;
        while (text.find("$" + std::to_string(parameters + 1)) != std::string::npos) ++parameters;
        std::string nulls;
        for (int n = 0; n < parameters; ++n) nulls += n == 0 ? "(NULL" : ", NULL";
        if (parameters > 0) nulls += ")";
        db.execute("PREPARE each AS " + text);
        const std::string explain = "EXPLAIN (COSTS OFF) EXECUTE each" + nulls;
        db.add(explain);
        const auto rows = db.run();
        std::string plan;
        for (int n = 0; n < PQntuples(rows[0].get()); ++n) {
            plan.append(bytes_in(*rows[0], n, 0)).append("\n");
        }
        db.execute("DEALLOCATE each");
        db.close();  // statements are identified by the address of their text
        return plan;
    };
    int plans = 0;
    const auto expect_index = [&](const std::string& text, bool may_sort) {
        const std::string plan = plan_of(text);
        EXPECT_EQ(plan.find("Seq Scan"), std::string::npos) << text << "\n" << plan;
        EXPECT_TRUE(may_sort || plan.find("Sort") == std::string::npos) << text << "\n" << plan;
        ++plans;
    };
    for (const table_info* t : all_tables()) {
        if (t == &info_of_table<store_totals>()) continue;  // the last row of the log
        for (const index_info& i : t->indexes) {
            const bool is_listed = i.form == index_form::brief;
            expect_index(texts.fetch(i, false), false);
            expect_index(texts.fetch_all(i, true), false);
            if (i.form == index_form::hash) continue;
            for (std::size_t prefix = 0; prefix <= i.columns.size(); ++prefix) {
                for (const std::size_t after : {std::size_t{0}, i.columns.size() - prefix}) {
                    for (const bool descending : {false, true}) {
                        const row_range r{.index = &i,
                                          .prefix_parts = prefix,
                                          .after_parts = after,
                                          .descending = descending};
                        expect_index(texts.scan(r), is_listed);
                    }
                }
            }
        }
        const layout& l = texts.layout_of(*t);
        if (l.changes.columns.size() > l.changes.key_columns) expect_index(texts.update(*t), false);
        expect_index(texts.erase(*t, false), false);
        if (!l.heads.name.empty()) expect_index(texts.erase(*t, true), false);
    }
    EXPECT_GT(plans, 200);
}

// ---- hot rows ----

// An old snapshot, such as that of pg_dump, keeps all former versions of a row: a row that each
// batch updates would be read through all of them.
TEST_F(postgres_stores, no_row_is_updated_by_each_batch) {
    const auto disk = open();
    put_account(*disk, "home");
    for (int n = 0; n < 5; ++n) make_task(*disk, n);
    const std::string before = query("SELECT ctid FROM account_rows");
    const std::string counter = query("SELECT ctid FROM counter_rows");
    for (int n = 5; n < 30; ++n) make_task(*disk, n);
    EXPECT_EQ(query("SELECT ctid FROM account_rows"), before);
    EXPECT_EQ(query("SELECT ctid FROM counter_rows"), counter);
    // One row of each remains: the last.
    EXPECT_EQ(query("SELECT count(*), max(last_seq) FROM account_heads"), "1|30");
    EXPECT_EQ(query("SELECT count(*), max(last_number) FROM counter_heads"), "1|30");
    EXPECT_EQ(query("SELECT last_seq FROM accounts"), "30");
    EXPECT_EQ(query("SELECT last_task FROM totals"), "30");
}

TEST_F(postgres_stores, another_server_finds_the_heads_and_supersedes_them) {
    for (int life = 0; life < 3; ++life) {
        const auto disk = open();
        if (life == 0) put_account(*disk, "home");
        for (int n = 0; n < 4; ++n) make_task(*disk, 4 * life + n);
    }
    EXPECT_EQ(query("SELECT count(*), max(last_number) FROM counter_heads"), "1|12");
    EXPECT_EQ(query("SELECT count(*) FROM account_heads"), "1");
}

// ---- open slots ----

TEST_F(postgres_stores, only_slots_that_stay_open_are_listed) {
    const auto put = [](store& to, const std::string& key) {
        const auto tx = to.begin_write();
        slot s;
        s.account = accounts::find(*tx, "home")->id;
        s.key = key;
        s.uuid = make_uuid_v7(t0, 2, std::hash<std::string>{}(key));
        s.created_at = t0;
        const auto id = slots::put(*tx, s);
        tx->commit();
        return id;
    };
    const auto fail = [](store& in, slot_id id) {
        const auto tx = in.begin_write();
        slots::fail(*tx, id, failure_reason::window_passed, t0);
        tx->commit();
    };
    const auto open_ones = [](read_tx& tx) {
        std::string all;
        for (const auto& each : tx.all(range_of<slots_open>())) all += each->key + " ";
        return all;
    };
    std::vector<slot_id> stay;
    {
        const auto disk = open({.pending_window = 8});
        put_account(*disk, "home");
        stay.push_back(put(*disk, "first"));
        for (int n = 0; n < 40; ++n) {
            const auto id = put(*disk, "k" + std::to_string(n));
            n == 20 ? stay.push_back(id) : fail(*disk, id);
        }
        EXPECT_EQ(query("SELECT count(*) FROM pending_slots"), "2");
        EXPECT_EQ(open_ones(*disk->begin_read()), "first k20 ");
        EXPECT_EQ(open_ones(*disk->begin_write()), "first k20 ");
    }
    const auto disk = open({.pending_window = 8});
    EXPECT_EQ(open_ones(*disk->begin_write()), "first k20 ");
    for (const slot_id id : stay) fail(*disk, id);
    EXPECT_EQ(query("SELECT count(*) FROM pending_slots"), "0");
    EXPECT_EQ(open_ones(*disk->begin_write()), "");
    EXPECT_EQ(open_ones(*disk->begin_read()), "");
}

TEST_F(postgres_stores, round_trips_are_counted_by_purpose) {
    const auto disk = open();
    put_account(*disk, "a");
    auto before = disk->shared()->usage();
    // Returns the trips since the last call: commits, prefetches, misses, reads, heartbeats.
    const auto trips = [&] {
        const auto now = disk->shared()->usage();
        std::string all;
        for (std::size_t n = 0; n < trips_size; ++n) {
            all += std::to_string(now.trips[n] - before.trips[n]) + " ";
        }
        before = now;
        return all;
    };
    {
        const auto tx = disk->begin_write();
        const auto named = [](const char* name) {
            return row_name{&info_of<accounts_by_name>(),
                            key_from<accounts_by_name, 0>(std::string(name))};
        };
        tx->fetch_ahead([&] { return std::vector{named("x"), named("b")}; });
        EXPECT_EQ(trips(), "0 1 0 0 0 ");
        EXPECT_FALSE(accounts::find(*tx, "x"));
        EXPECT_FALSE(accounts::find(*tx, "b"));
        EXPECT_EQ(trips(), "0 0 0 0 0 ") << "both were prefetched";
        EXPECT_FALSE(accounts::find(*tx, "c"));
        EXPECT_EQ(trips(), "0 0 1 0 0 ");
        accounts::put(*tx, "b", t0);
        tx->commit();
        EXPECT_EQ(trips(), "1 0 0 0 0 ");
    }
    EXPECT_TRUE(accounts::find(*disk->begin_read(), "b"));
    EXPECT_EQ(trips(), "0 0 0 1 0 ");
    clock_.advance_to_next(seconds{2});
    disk->shared()->keep();
    EXPECT_EQ(trips(), "0 0 0 0 1 ");
    EXPECT_EQ(disk->shared()->usage().last_row, 4);
    EXPECT_EQ(disk->shared()->usage().taken_over_at.time_since_epoch().count(),
              std::stoll(query("SELECT at FROM batches WHERE n = 1")));
}

// ---- the log ----

TEST_F(postgres_stores, a_stale_owner_writes_and_reads_nothing) {
    const auto one = open();
    put_account(*one, "a");
    const auto before = one->begin_read();
    virtual_clock other;
    const auto standby = standby_after_lease(other);
    const auto two = standby->take_over();
    ASSERT_TRUE(two);
    EXPECT_TRUE(one->shared()->is_held());
    EXPECT_THROW(names(*one), store_failure);
    EXPECT_EQ(failure_of_put(*one, "stale"), kind::moved);
    EXPECT_FALSE(one->shared()->is_held());
    put_account(*two, "b");
    EXPECT_EQ(names(*two), "a b ");
    EXPECT_EQ(kinds(), "tbtb");
}

// A failover ends connections. The row that was seen may have vanished with it, and the owner may
// have written another one in its place.
TEST_F(postgres_stores, a_takeover_is_sent_on_the_connection_of_the_look) {
    const auto one = open();
    put_account(*one, "a");
    connection db({.url = server_.url(), .schema = schema_, .settings = session_settings});
    trip_counts trips;
    log_table table(db, clock_, schema_, "other", trips);
    const auto last = table.last();
    ASSERT_TRUE(last);
    const log_row takeover{.n = last->n + 1, .owner = uuid{{2}}, .kind = log_kind::takeover};
    db.close();
    EXPECT_EQ(table.append(takeover, last->owner, nullptr), log_database::outcome::conflict);
    EXPECT_EQ(table.last(), last);
    EXPECT_EQ(table.append(takeover, last->owner, nullptr), log_database::outcome::committed);
    db.close();
    const log_row next{.n = last->n + 2, .owner = uuid{{2}}, .kind = log_kind::heartbeat};
    EXPECT_EQ(table.append(next, uuid{{2}}, nullptr), log_database::outcome::committed)
        << "an owner's next row follows its own";
}

TEST_F(postgres_stores, a_silent_owner_reads_nothing) {
    const auto disk = open();
    put_account(*disk, "a");
    const auto tx = disk->begin_read();
    EXPECT_TRUE(accounts::find(*tx, "a"));
    clock_.advance_to_next(seconds{4});
    EXPECT_THROW(accounts::find(*tx, "b"), store_failure);
    EXPECT_THROW(disk->begin_read(), store_failure);
    // A batch without changes is answered from reads, too.
    disk->begin_write()->commit();
    EXPECT_EQ(kinds(), "tbh");
    EXPECT_EQ(names(*disk), "a ");
}

TEST_F(postgres_stores, lost_batches_are_noticed) {
    auto disk = open();
    for (const char* name : {"a", "b", "c"}) put_account(*disk, name);
    // As a promoted standby that lacked them.
    query(
        "DELETE FROM batches WHERE n > 2; DELETE FROM account_rows WHERE account_id > 1;"
        " DELETE FROM account_heads WHERE account_id > 1");
    EXPECT_EQ(failure_of_put(*disk, "d"), kind::unknown);
    disk.reset();
    EXPECT_EQ(query("SELECT kind, lost_through FROM batches ORDER BY n DESC LIMIT 1"), "1|4");
}

// After a failover that lost this server's last row, another one has written a row in its place.
TEST_F(postgres_stores, a_batch_follows_its_owners_rows_only) {
    auto disk = open();
    put_account(*disk, "a");
    query("UPDATE batches SET owner = '00000000-0000-0000-0000-000000000007' WHERE n = 2");
    EXPECT_EQ(failure_of_put(*disk, "b"), kind::unknown);
    disk.reset();
    EXPECT_EQ(kinds(), "tb");
}

TEST_F(postgres_stores, a_newer_schema_is_not_taken_over) {
    open();
    query("UPDATE batches SET schema_version = 99");
    EXPECT_THROW(open(), std::runtime_error);
}

TEST_F(postgres_stores, old_rows_of_the_log_are_removed) {
    open();
    // The log has grown.
    query(
        "INSERT INTO batches (n, owner, kind, schema_version, at, server, lost_through)"
        " SELECT g, owner, 5, schema_version, at, server, 0"
        " FROM (SELECT * FROM batches WHERE n = 1) b, generate_series(3, 12000) g");
    const auto disk = open();
    put_account(*disk, "a");
    EXPECT_EQ(query("SELECT min(n), max(n) FROM batches"), "2002|12002");
    put_account(*disk, "b");
    EXPECT_EQ(query("SELECT min(n), max(n) FROM batches"), "2002|12003");
    EXPECT_EQ(names(*disk), "a b ");
}

// ---- connections ----

TEST_F(postgres_stores, a_closed_connection_is_replaced) {
    const auto disk = open();
    put_account(*disk, "a");
    EXPECT_EQ(names(*disk), "a ");
    query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'callsignd'");
    EXPECT_EQ(names(*disk), "a ");
    put_account(*disk, "b");
    EXPECT_EQ(names(*disk), "a b ");
}

TEST_F(postgres_stores, a_commit_without_an_answer_is_decided) {
    postgres_proxy proxy(server_.socket());
    const auto disk = open({.url = proxy.url(), .round_trip = milliseconds{300}});
    std::string expected;
    int number = 0;
    for (const auto& [fate, is_written] :
         {std::pair(trip_fate::cut_before, false), std::pair(trip_fate::cut_after, true),
          std::pair(trip_fate::swallowed, false), std::pair(trip_fate::unanswered, true),
          std::pair(trip_fate::passed, true)}) {
        const std::string name = "n" + std::to_string(++number);
        const auto tx = disk->begin_write();
        accounts::put(*tx, name, t0);
        tx->flush();
        proxy.lose_next(fate);
        if (is_written) {
            tx->commit();
            expected += name + " ";
        } else {
            EXPECT_THROW(tx->commit(), store_failure);
        }
        EXPECT_EQ(query("SELECT string_agg(convert_from(name, 'UTF8') || ' ', '' ORDER BY name)"
                        " FROM accounts"),
                  expected);
    }
    EXPECT_EQ(kinds(), "tnbhnbhb");
}

// pg_cancel_backend() on a commit that waits for its standby: PostgreSQL reports success, with a
// warning.
TEST_F(postgres_stores, a_commit_with_a_warning_counts_once_a_later_row_is_acknowledged) {
    const auto disk = open();
    put_account(*disk, "a");
    const auto set_standby = [&](const std::string& name) {
        server_.query("ALTER SYSTEM SET synchronous_standby_names = '" + name + "'");
        server_.query("SELECT pg_reload_conf()");
    };
    set_standby("nobody");
    std::atomic<bool> is_cancelled = false;
    std::thread operators([&] {
        const std::string waits =
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        while (server_.query(waits).empty()) {
        }
        set_standby("");
        is_cancelled = true;
    });
    // PostgreSQL applies the setting some time later.
    std::string expected = "a ";
    for (int n = 0; !is_cancelled && n < 100'000; ++n) {
        const std::string name = "n" + std::to_string(n);
        put_account(*disk, name);
        expected += name + " ";
    }
    operators.join();
    EXPECT_EQ(names(*disk), expected);
    EXPECT_NE(kinds().find("bh"), std::string::npos) << kinds();
}

// ---- rows ----

// A row that the store believes to exist was removed by another program.
TEST_F(postgres_stores, a_change_of_a_row_that_is_gone_is_not_committed) {
    const auto disk = open();
    put_account(*disk, "home");
    const auto id = accounts::find(*disk->begin_read(), "home")->id;
    ASSERT_TRUE(all_series::default_of(*disk->begin_write(), id));  // is cached from now on
    query("DELETE FROM series");
    const auto tx = disk->begin_write();
    auto series = *all_series::default_of(*tx, id);
    series.archived = true;
    all_series::update(*tx, series, t0);
    accounts::put(*tx, "other", t0);
    try {
        tx->commit();
        FAIL() << "committed";
    } catch (const store_failure& failure) {
        EXPECT_EQ(failure.reason(), kind::damaged) << failure.what();
    }
    EXPECT_EQ(names(*disk), "home ");
    EXPECT_EQ(kinds(), "tb");
}

TEST_F(postgres_stores, keeps_text_of_any_bytes) {
    const std::string any("\0\xFF\xC3 \xE2\x82", 6);
    {
        const auto disk = open();
        put_account(*disk, "home" + any);
    }
    EXPECT_EQ(names(*open()), "home" + any + " ");
}

// More than any socket's buffers, in both directions.
TEST_F(postgres_stores, large_values_pass_in_pieces) {
    const auto disk = open();
    put_account(*disk, "home");
    const std::string large(24u << 20, 'x');
    {
        const auto tx = disk->begin_write();
        const auto home = accounts::find(*tx, "home")->id;
        std::vector<operation> all;
        for (int n = 0; n < 2; ++n) {
            all.push_back({operation_kind::update, uuid{{1}}, "note", large, t0});
        }
        versions::append(*tx, home, uuid{{9}}, t0, all);
        tx->commit();
    }
    const auto tx = disk->begin_read();
    const auto found = versions::some(*tx, accounts::find(*tx, "home")->id, 0, 10);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].operations[1].value, large);
}

// A database needs time to write a large batch, in which no data moves.
TEST_F(postgres_stores, a_large_batch_has_more_time) {
    postgres_proxy proxy(server_.socket());
    const auto disk = open({.url = proxy.url(), .round_trip = milliseconds{300}});
    put_account(*disk, "home");
    for (const std::size_t size : {std::size_t{16} << 20, std::size_t{1}}) {
        const auto tx = disk->begin_write();
        const auto home = accounts::find(*tx, "home")->id;
        versions::append(*tx, home, uuid{{static_cast<std::uint8_t>(size > 1 ? 8 : 9)}}, t0,
                         {{operation_kind::update, uuid{{1}}, "note", std::string(size, 'x'), t0}});
        tx->flush();
        proxy.lose_next(trip_fate::late);
        tx->commit();
    }
    // The small one was given up, and found.
    EXPECT_EQ(kinds(), "tbbbh");
}

// A row of the log is sent before what else its batch writes. Another server cannot write its own
// until the batch has ended, however long that takes.
TEST_F(postgres_stores, a_batch_in_progress_is_not_overtaken) {
    const auto one = open();
    put_account(*one, "a");
    virtual_clock other;
    const auto standby = standby_after_lease(other);
    connection batch({.url = server_.url(), .schema = schema_, .settings = session_settings});
    batch.execute(
        "BEGIN; INSERT INTO batches (n, owner, kind, schema_version, at, server, lost_through)"
        " SELECT 3, owner, 2, schema_version, at, server, 0 FROM batches WHERE n = 2");
    EXPECT_THROW(standby->take_over(), store_failure);
    batch.execute("COMMIT");
    EXPECT_FALSE(standby->look());
    EXPECT_EQ(kinds(), "tbb");
}

// ---- check ----

TEST_F(postgres_stores, check_finds_what_only_a_database_has) {
    {
        const auto disk = open();
        put_account(*disk, "home");
        for (int n = 0; n < 3; ++n) make_task(*disk, n);
    }
    const auto faults = [&] {
        std::string all;
        const auto report = check_postgres(
            {.url = server_.url(), .schema = schema_, .server = {}}, [](read_tx&, findings&) {},
            [](std::string_view) {}, t0);
        for (const auto& [invariant, text] : report.faults) all += text + "; ";
        return all;
    };
    EXPECT_EQ(faults(), "");
    query("DELETE FROM batches WHERE n = 3");
    EXPECT_EQ(faults(), "the batch log has no gap: row 4 follows row 2; ");
    query("UPDATE batches SET n = 3 WHERE n = 2; DELETE FROM batches WHERE n = 1");
    query("INSERT INTO pending_slots VALUES (7)");
    EXPECT_EQ(faults(),
              "pending_slots has every pending slot, and no other: slot 7 is listed but not "
              "pending; ");
    query("DELETE FROM pending_slots; DELETE FROM counter_heads");
    EXPECT_EQ(faults(), "each account and each counter has its latest columns: counter 1; ");
    query("UPDATE batches SET schema_version = 9");
    EXPECT_THROW(faults(), std::runtime_error);
}

}  // namespace
}  // namespace callsign::postgres
