// When the reaper sweeps, and what a sweep reports. The effect of a sweep on slots belongs to the
// rules and is tested with them (tests/contract); tests/property interrupts sweeps at any point.

#include "support/faulty_store.hpp"
#include "support/test_server.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <gtest/gtest.h>
#include <new>
#include <utility>

namespace callsign::testing {
namespace {

using namespace std::chrono_literals;

struct counting_probe final : reaper_probe {
    void swept(const sweep_result& result, milliseconds) override { sweeps.push_back(result); }
    void sweep_failed(const boost::system::error_code&) override { ++failures; }

    std::vector<sweep_result> sweeps;
    void clock_compared(milliseconds behind) override { behinds.push_back(behind); }

    int failures = 0;
    std::vector<milliseconds> behinds;
};

class reaper_test : public ::testing::Test {
  protected:
    // Slots whose clients disconnected between the two phases.
    void lose_clients(int count) {
        test_server first({.disk = &disk_, .clock = &clock_, .entropy = &entropy_});
        const auto account = first.make_account("home", "TASK").id;
        for (int n = 0; n < count; ++n) {
            reserve c{account, "lost-" + std::to_string(n), sha256("x"), {}, ""};
            ASSERT_TRUE(first.run(first.engine().submit(std::move(c))));
        }
    }

    test_server_options options(reaper_options reaper, bool reaping) {
        return {.reaper = reaper,
                .disk = &faulty_,
                .clock = &clock_,
                .entropy = &entropy_,
                .sweeps = &probe_,
                .reaping = reaping};
    }

    std::unique_ptr<strict_memory_store> memory_ = make_memory_store();
    store& disk_ = *memory_;
    faulty_store faulty_{disk_};
    virtual_clock clock_;
    seeded_entropy entropy_{1};
    counting_probe probe_;
};

struct throwing_probe final : reaper_probe {
    void window_chosen(account_class, const window_status&) override {
        if (std::exchange(throws, false)) throw std::bad_alloc();
    }

    bool throws = true;
};

TEST_F(reaper_test, a_sweep_that_threw_does_not_block_the_next) {
    throwing_probe probe;
    auto given = options({.interval = 1h}, false);
    given.sweeps = &probe;
    test_server h(std::move(given));
    EXPECT_THROW(h.run(h.reaper().sweep_once()), std::bad_alloc);
    EXPECT_TRUE(h.run(h.reaper().sweep_once()));
}

TEST_F(reaper_test, removes_deleted_accounts_after_the_grace_period) {
    test_server h(options({.interval = 1h, .account_grace = 24h}, true));
    const account_id gone[] = {h.make_account("gone", "OLD").id, h.make_account("too", "OLD").id};
    for (const account_id id : gone) ASSERT_TRUE(h.run(h.engine().submit(delete_account{id})));
    // One sweep removes all of them.
    const auto is_there = [&] {
        auto question = [&](read_tx& tx) {
            return std::ranges::any_of(
                gone, [&](account_id id) { return accounts::find(tx, id).has_value(); });
        };
        return h.look(question);
    };
    h.advance(23h);
    EXPECT_TRUE(is_there());
    h.advance(2h + 30min);
    EXPECT_FALSE(is_there());
    EXPECT_EQ(probe_.failures, 0);
}

// One task is as large as the work of a step.
TEST_F(reaper_test, numbers_the_tasks_of_resumed_series) {
    std::vector<account_id> accounts;
    {
        test_server first({.disk = &disk_, .clock = &clock_, .entropy = &entropy_});
        for (const char* name : {"a", "b"}) accounts.push_back(first.make_account(name, "SYN").id);
    }
    const auto tx = disk_.begin_write();
    for (const account_id account : accounts) {
        series its = *all_series::default_of(*tx, account);
        its.numbering = account == accounts[0];
        its.held = !its.numbering;
        all_series::update(*tx, its, clock_.now());
        for (int n = 0; n < 3; ++n) {
            task t;
            t.account = account;
            t.uuid = make_uuid_v7(clock_.now(), 0, static_cast<std::uint64_t>(n));
            t.attributes = {{"description", std::string(step_work_max, 'x')}};
            tasks::put(*tx, t, its.id);
        }
    }
    tx->commit();
    test_server h(options({.interval = 1h}, true));
    const auto numbered = [&](account_id account) {
        auto question = [&](read_tx& now) {
            return numbers::with_last(now, *all_series::default_of(now, account));
        };
        const series its = h.look(question);
        return its.numbering ? -1 : its.last_number;
    };
    h.settle();
    EXPECT_EQ(numbered(accounts[0]), 3);
    EXPECT_EQ(numbered(accounts[1]), 0);
    // The sweep runs at once, not at the next interval.
    ASSERT_TRUE(h.run(h.engine().submit(resume_series{account_ref{accounts[1]}, "SYN"})));
    h.settle();
    EXPECT_EQ(numbered(accounts[1]), 3);
    EXPECT_EQ(probe_.sweeps.size(), 2u);
    EXPECT_EQ(probe_.failures, 0);
}

// Renamed series, each of whose tasks is as large as a step.
class reaper_renaming_test : public reaper_test {
  protected:
    static constexpr int tasks_of_each = 3;

    test_server_options sweeping(std::int64_t steps_max, bool reaping) {
        return options({.interval = 1h, .series_steps_max = steps_max}, reaping);
    }

    account_id make_series(test_server& h, const std::string& account, std::size_t bytes) {
        const account_id its = h.make_account(account, "SYN").id;
        for (int n = 0; n < tasks_of_each; ++n) {
            import_tasks wanted{its, {{uuid_of(n), {{"description", std::string(bytes, 'x')}}}}};
            EXPECT_TRUE(h.run(h.engine().submit(std::move(wanted))));
        }
        h.settle();
        return its;
    }

    static void rename(test_server& h, account_id account) {
        edit_series c{.account = account_ref{account}, .named = "SYN"};
        c.prefix = "NEW";
        ASSERT_TRUE(h.run(h.engine().submit(c)));
    }

    // How many tasks have the new key.
    int updated(test_server& h, account_id account) {
        return h.look([&](read_tx& tx) {
            int count = 0;
            for (int n = 0; n < tasks_of_each; ++n) {
                const task t = *tasks::find(tx, account, uuid_of(n));
                if (value_of(t.attributes, "key") == "NEW-" + std::to_string(n + 1)) ++count;
            }
            return count;
        });
    }

  private:
    uuid uuid_of(int n) const {
        return make_uuid_v7(clock_.now(), 0, static_cast<std::uint64_t>(n));
    }
};

TEST_F(reaper_renaming_test, keys_are_updated_at_once_and_not_at_the_next_interval) {
    test_server h(sweeping(1, true));
    const account_id account = make_series(h, "a", step_work_max);
    rename(h, account);
    h.settle();
    EXPECT_EQ(updated(h, account), tasks_of_each);
    EXPECT_EQ(probe_.failures, 0);
}

TEST_F(reaper_renaming_test, each_series_has_a_step_in_turn) {
    test_server h(sweeping(1, false));
    const account_id a = make_series(h, "a", step_work_max);
    const account_id b = make_series(h, "b", step_work_max);
    rename(h, a);
    rename(h, b);
    const int a_first = updated(h, a);
    const int b_first = updated(h, b);
    for (int sweep = 0; sweep < 2; ++sweep) ASSERT_TRUE(h.run(h.reaper().sweep_once()));
    EXPECT_EQ(updated(h, a), a_first + 1);
    EXPECT_EQ(updated(h, b), b_first + 1);
}

TEST_F(reaper_renaming_test, a_series_that_fails_does_not_affect_the_others) {
    test_server h(sweeping(100, false));
    const account_id a = make_series(h, "a", step_work_max + step_work_max / 4);
    const account_id b = make_series(h, "b", step_work_max);
    rename(h, a);
    rename(h, b);
    const int a_first = updated(h, a);
    faulty_.reject_tasks_over(step_work_max + step_work_max / 8);
    EXPECT_FALSE(h.run(h.reaper().sweep_once()));
    EXPECT_EQ(updated(h, a), a_first);
    EXPECT_EQ(updated(h, b), tasks_of_each);
}

// The next sweep retries a failed one.
TEST_F(reaper_test, removes_the_text_of_purged_tasks) {
    test_server h(options({.interval = 30s}, true));
    std::vector<account_id> accounts;
    for (const char* name : {"a", "b"}) {
        accounts.push_back(h.make_account(name, "SYN").id);
        for (int n = 0; n < 3; ++n) {
            reserve c{accounts.back(),
                      std::to_string(n),
                      sha256("x"),
                      {},
                      "",
                      {{"description", "secret"}}};
            const auto made = h.run(h.engine().create(std::move(c)));
            ASSERT_TRUE(made);
            if (n == 0) continue;
            edit_task purge{accounts.back(), std::get<receipted>(*made).receipt.uuid};
            purge.purge = true;
            ASSERT_TRUE(h.run(h.engine().submit(std::move(purge))));
        }
    }
    const auto said = [&](account_id of) {
        int all = 0;
        auto question = [&](read_tx& tx) {
            for (const version& v : versions::some(tx, of, 0, 1'000)) {
                for (const operation& o : v.operations) all += o.value == "secret" ? 1 : 0;
            }
            return all;
        };
        return h.look(question);
    };
    EXPECT_EQ(said(accounts[0]), 3);
    faulty_.reject_reads(store_failure::kind::rejected);
    h.advance(1min);
    EXPECT_GT(probe_.failures, 0);
    faulty_.reject_reads({});
    EXPECT_EQ(said(accounts[0]), 3);
    probe_.sweeps.clear();
    h.advance(1min);
    ASSERT_FALSE(probe_.sweeps.empty());
    EXPECT_EQ(probe_.sweeps.front().scrubbed, 4);
    EXPECT_EQ(probe_.sweeps.back().scrubbed, 0);
    for (const account_id of : accounts) EXPECT_EQ(said(of), 1);
    EXPECT_EQ(faulty_.logs_cleared(), 1);
}

TEST_F(reaper_test, a_failure_in_one_part_does_not_block_the_others) {
    test_server h(options({.interval = 30s, .account_grace = 1h}, true));
    const auto id = h.make_account("a", "SYN").id;
    ASSERT_TRUE(h.run(h.engine().submit(delete_account{account_ref{id}})));
    faulty_.reject_forgetting(true);
    h.advance(2h);
    EXPECT_GT(probe_.failures, 0);
    EXPECT_FALSE(h.look([&](read_tx& tx) { return accounts::find(tx, id).has_value(); }));
    EXPECT_EQ(faulty_.logs_cleared(), 1);
}

TEST_F(reaper_test, sweeps_at_once_and_then_at_each_interval) {
    test_server h(options({.interval = 30s}, true));
    h.settle();
    EXPECT_EQ(probe_.sweeps.size(), 1u);
    h.advance(29s);
    EXPECT_EQ(probe_.sweeps.size(), 1u);
    h.advance(62s);
    EXPECT_EQ(probe_.sweeps.size(), 4u);
    EXPECT_EQ(h.reaper().status().sweeps, 4);
}

TEST_F(reaper_test, fails_slots_older_than_the_window_and_reports_them) {
    lose_clients(5);
    test_server h(options({.interval = 1min, .window = 10min, .batch = 2}, true));
    h.advance(9min);
    EXPECT_EQ(disk_.totals()->slots.pending, 5);
    h.advance(3min);
    EXPECT_EQ(disk_.totals()->slots.pending, 0);
    EXPECT_EQ(disk_.totals()->slots.failed, 5);
    std::int64_t failed = 0;
    for (const auto& s : probe_.sweeps) failed += s.failed;
    EXPECT_EQ(failed, 5);
}

TEST_F(reaper_test, deletes_slots_older_than_the_retention) {
    lose_clients(3);
    test_server h(options({.interval = 1min, .window = 2min, .retention = 1h, .batch = 2}, true));
    h.advance(30min);
    EXPECT_EQ(disk_.totals()->slots.failed, 3);
    h.advance(40min);
    EXPECT_EQ(disk_.totals()->slots.failed, 0);
}

TEST_F(reaper_test, a_reload_applies_at_once) {
    lose_clients(1);
    test_server h(options({.interval = 24h, .window = 10h}, true));
    h.advance(5min);
    EXPECT_EQ(disk_.totals()->slots.pending, 1);
    h.reaper().reload({.interval = 1s, .window = 1min});
    h.advance(2s);
    EXPECT_EQ(disk_.totals()->slots.failed, 1);
    EXPECT_EQ(h.reaper().status().options.window, milliseconds{1min});
}

TEST_F(reaper_test, reports_when_the_wall_clock_is_behind_the_store) {
    test_server h(options({.interval = 1min}, true));
    h.make_account("home", "TASK");
    h.advance(1min);
    EXPECT_EQ(probe_.behinds.back(), 0s);
    EXPECT_EQ(h.reaper().status().clock_behind, 0s);
    clock_.step_wall(-1h);
    h.advance(1min);
    EXPECT_EQ(probe_.behinds.back(), 1h);
    EXPECT_EQ(h.reaper().status().clock_behind, 1h);
}

// The wall clock goes to a wrong year and back: a slot fails once the window has elapsed.
TEST_F(reaper_test, a_step_of_the_wall_clock_neither_shortens_nor_extends_the_window) {
    test_server h(options({.interval = 1min, .window = 10min}, true));
    const auto account = h.make_account("home", "TASK").id;
    const auto lose_client = [&](const char* key) {
        reserve c{account, key, sha256("x"), {}, ""};
        ASSERT_TRUE(h.run(h.engine().submit(std::move(c))));
    };
    constexpr milliseconds ten_years = 24h * 3650;
    lose_client("before");
    clock_.step_wall(ten_years);
    lose_client("in the wrong year");
    h.advance(9min);
    EXPECT_EQ(disk_.totals()->slots.pending, 2);
    clock_.step_wall(-ten_years);
    lose_client("after");
    h.advance(3min);
    EXPECT_EQ(disk_.totals()->slots.pending, 1);
    h.advance(9min);
    EXPECT_EQ(disk_.totals()->slots.pending, 0);
    EXPECT_EQ(disk_.totals()->slots.failed, 3);
}

TEST_F(reaper_test, a_start_in_the_wrong_year_deletes_no_receipt) {
    lose_clients(3);
    {
        test_server h(options({.interval = 1min, .window = 1min, .retention = 24h * 7}, true));
        h.advance(5min);
        EXPECT_EQ(disk_.totals()->slots.failed, 3);
    }
    clock_.step_wall(24h * 3650);
    {
        test_server h(options({.interval = 1min, .window = 1min, .retention = 24h * 7}, true));
        h.make_account("other", "OTH");
        h.advance(50min);
        EXPECT_EQ(disk_.totals()->slots.failed, 3);
    }
    clock_.step_wall(-24h * 3650);
    test_server h(options({.interval = 10min, .window = 1min, .retention = 24h * 7}, true));
    h.advance(5h);
    EXPECT_EQ(disk_.totals()->slots.failed, 3);
    h.advance(24h * 7);
    EXPECT_EQ(disk_.totals()->slots.failed, 0);
}

TEST_F(reaper_test, sweeps_do_not_overlap) {
    lose_clients(20);
    test_server h(options({.window = 1min, .batch = 1}, false));
    h.advance(2min);
    std::vector<std::int64_t> scanned;
    for (int n = 0; n < 3; ++n) {
        boost::asio::co_spawn(h.io(), h.reaper().sweep_once(),
                              [&](std::exception_ptr, result<sweep_result> swept) {
                                  scanned.push_back(swept->failed);
                              });
    }
    h.settle();
    EXPECT_EQ(scanned, (std::vector<std::int64_t>{20, 0, 0}));
}

// Never responds.
class silent_sink final : public task_sink {
  public:
    explicit silent_sink(virtual_clock& clock) : clock_(clock) {}
    boost::asio::awaitable<sink_add_answer> add_version(uuid, std::vector<operation>) override {
        co_await wait();
        co_return sink_failure{};
    }
    boost::asio::awaitable<sink_child_answer> get_child(uuid) override {
        co_await wait();
        co_return sink_failure{};
    }
    boost::asio::awaitable<sink_snapshot_answer> get_snapshot() override {
        co_await wait();
        co_return sink_failure{};
    }
    void cancel() override {}

  private:
    boost::asio::awaitable<void> wait() {
        const auto timer = clock_.make_timer(co_await boost::asio::this_coro::executor);
        co_await timer->wait(24h);
    }
    virtual_clock& clock_;
};

TEST_F(reaper_test, remote_servers_are_queried_concurrently_and_do_not_delay_deletions) {
    lose_clients(3);
    auto with = options({.window = 1min, .retention = 1h}, false);
    with.engine.request_deadline = 10s;
    with.sinks = [&](const remote_chain&) { return std::make_unique<silent_sink>(clock_); };
    test_server h(std::move(with));
    h.advance(2min);
    ASSERT_TRUE(h.run(h.reaper().sweep_once()));
    ASSERT_EQ(disk_.totals()->slots.failed, 3);
    constexpr int accounts = 5;
    for (int n = 0; n < accounts; ++n) {
        const std::string name = "far" + std::to_string(n);
        create_account c{name, "FAR", "t", sha256(name), {}};
        c.remote = create_account::remote_endpoint{"http://127.0.0.1:1/",
                                                   make_uuid_v7({}, 1, std::uint64_t(n)), "key"};
        const auto made = h.run(h.engine().submit(std::move(c)));
        const auto id = std::get<account>(*made).id;
        ASSERT_TRUE(h.run(h.engine().submit(reserve{id, "lost", sha256("x"), {}, ""})));
    }
    h.advance(2h);
    std::optional<result<sweep_result>> swept;
    boost::asio::co_spawn(
        h.io(), h.reaper().sweep_once(),
        [&](std::exception_ptr, result<sweep_result> done) { swept = std::move(done); });
    h.settle();
    EXPECT_FALSE(swept);
    EXPECT_EQ(disk_.totals()->slots.failed, 0);
    h.advance(10s);
    EXPECT_TRUE(swept);
    EXPECT_EQ(disk_.totals()->slots.pending, accounts);
}

TEST_F(reaper_test, a_sweep_that_the_store_rejects_is_reported_and_retried) {
    lose_clients(1);
    test_server h(options({.interval = 1min, .window = 1min}, true));
    h.settle();
    faulty_.arm(fault_point::before_sweep_commit, fault_kind::reject);
    h.advance(150s);
    EXPECT_EQ(probe_.failures, 1);
    EXPECT_EQ(disk_.totals()->slots.pending, 1);
    h.advance(1min);
    EXPECT_EQ(disk_.totals()->slots.failed, 1);
}

}  // namespace
}  // namespace callsign::testing
