// The window that the reaper chooses: the retries that it observes, the queries it makes, and that
// a restart loses nothing. The choice of a window is tested with the domain.

#include "support/faulty_store.hpp"
#include "support/test_server.hpp"

#include <callsign/rules/rows/retry_records.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using namespace std::chrono_literals;

struct window_probe final : reaper_probe {
    struct change {
        account_class accounts;
        milliseconds from;
        window_status now;
    };
    void window_changed(account_class c, milliseconds from, const window_status& now) override {
        changes.push_back({c, from, now});
    }
    void sweep_failed(const boost::system::error_code&) override { ++failures; }

    std::vector<change> changes;
    int failures = 0;
};

class windows : public ::testing::Test {
  protected:
    windows() { start(); }

    void start(reaper_options reaper = {}) {
        server_.reset();
        server_.emplace(test_server_options{.reaper = reaper,
                                            .disk = &faulty_,
                                            .clock = &clock_,
                                            .entropy = &entropy_,
                                            .sweeps = &probe_,
                                            .reaping = true});
        if (accounts_.empty()) {
            for (const char* name : {"a", "b", "c"}) {
                accounts_.push_back(server_->make_account(name, "SYN").id);
            }
        }
        server_->settle();
    }

    reserve request(const std::string& key, std::size_t who = 0) const {
        return {accounts_[who], key, sha256("x"), {}, "", {{"description", "x"}}};
    }
    // Creates the task, or retries.
    create_answer create(const std::string& key, std::size_t who = 0) {
        auto made = server_->run(server_->engine().create(request(key, who)));
        EXPECT_TRUE(made);
        return *made;
    }
    // The client disconnects between the two phases.
    void lose(const std::string& key, std::size_t who = 0) {
        ASSERT_TRUE(server_->run(server_->engine().submit(request(key, who))));
    }
    // A number of creations whose responses are lost; the clients retry after `after`.
    void retry(int count, milliseconds after, std::size_t who = 0) {
        const std::string name = "r" + std::to_string(++rounds_) + "-";
        for (int n = 0; n < count; ++n) create(name + std::to_string(n), who);
        server_->advance(after);
        for (int n = 0; n < count; ++n) create(name + std::to_string(n), who);
    }
    window_status here() { return server_->reaper().status().windows.local; }
    milliseconds window() { return here().choice.window; }

    std::unique_ptr<strict_memory_store> disk_ = make_memory_store();
    faulty_store faulty_{*disk_};
    virtual_clock clock_;
    seeded_entropy entropy_{1};
    window_probe probe_;
    std::optional<test_server> server_;
    std::vector<account_id> accounts_;
    int rounds_ = 0;
};

TEST_F(windows, is_ten_minutes_until_there_are_enough_retries) {
    EXPECT_EQ(window(), 10min);
    EXPECT_EQ(here().choice.reason, window_reason::few_samples);
    retry(99, 41s);
    server_->advance(1min);
    EXPECT_EQ(window(), 10min);
    EXPECT_NEAR(here().samples, 99, 0.1);
    EXPECT_TRUE(probe_.changes.empty());
}

TEST_F(windows, follows_retries_down_in_steps_and_up_at_once) {
    retry(150, 41s);
    server_->advance(30min);
    EXPECT_EQ(window(), 10min);
    EXPECT_EQ(here().choice.reason, window_reason::shortening);
    server_->advance(31min);
    EXPECT_EQ(window(), 5min);
    server_->advance(3h);
    // 45 s is the upper edge of the bucket; half of 150 s is within hysteresis of the wanted
    // window.
    EXPECT_EQ(here().choice.wanted, 68s);
    const milliseconds derived = window();
    EXPECT_EQ(derived, 75s);
    EXPECT_EQ(here().choice.reason, window_reason::within_hysteresis);
    EXPECT_EQ(probe_.changes.size(), 3u);
    EXPECT_EQ(probe_.changes.back().now.choice.window, derived);
    EXPECT_EQ(here().changes, 3);

    retry(5, 20min);
    server_->advance(31s);
    EXPECT_GE(window(), 30min);
    EXPECT_EQ(probe_.changes.size(), 4u);
    EXPECT_EQ(probe_.changes.back().from, derived);
    EXPECT_EQ(probe_.changes.back().now.choice.window, window());
}

// Slots outlive the window, so late retries are seen, and lengthen it.
TEST_F(windows, late_retries_are_counted) {
    retry(150, 5s);
    server_->advance(5h);
    ASSERT_EQ(window(), 1min);
    for (int n = 0; n < 10; ++n) lose("lost-" + std::to_string(n));
    server_->advance(10min);
    EXPECT_EQ(disk_->totals()->slots.failed, 10);
    for (int n = 0; n < 8; ++n) {
        EXPECT_TRUE(std::holds_alternative<slot_failed>(create("lost-" + std::to_string(n))));
    }
    EXPECT_NEAR(here().failed, 10, 0.01);
    EXPECT_NEAR(here().late, 8, 0.01);
    server_->advance(31s);
    EXPECT_GE(window(), 15min);
    for (const auto& other : here().others) {
        EXPECT_NEAR(other.would_have.failed, other.window <= 1min ? 8 : 0, 0.01);
    }
    // The retries behind the quantiles, and the outcome with the window of each bucket.
    double retries = 0;
    milliseconds before{0};
    for (const auto& [count, up_to] : here().retries) {
        EXPECT_GT(count, 0);
        EXPECT_GT(up_to.window, before);
        before = up_to.window;
        retries += count;
        EXPECT_NEAR(up_to.would_have.failed, up_to.window < 10min ? 8 : 0, 0.01);
    }
    EXPECT_GT(here().samples, 150);
    EXPECT_NEAR(retries, 100, 0.01) << "one account counts for no more than samples_min";
}

TEST_F(windows, a_slot_counts_once_regardless_of_the_number_of_retries) {
    create("k");
    for (int n = 0; n < 1000; ++n) create("k");
    server_->advance(24h);
    for (int n = 0; n < 1000; ++n) create("k");
    EXPECT_NEAR(here().samples, 1, 0.1);
    lose("lost");
    server_->advance(1h);
    for (int n = 0; n < 1000; ++n) create("lost");
    EXPECT_NEAR(here().samples, 2, 0.2);
    EXPECT_NEAR(here().late, 1, 0.1);
}

// A retry that failed is a new sample each time the age of its slot has doubled.
TEST_F(windows, a_slot_that_stays_pending_counts_again_at_twice_its_age) {
    lose("k");
    for (const milliseconds wait : {10s, 1s, 1s, 10s, 1s, 30s}) {
        server_->advance(wait);
        faulty_.arm(fault_point::before_fulfil_commit, fault_kind::reject);
        const auto rejected = server_->run(server_->engine().create(request("k")));
        EXPECT_FALSE(rejected);
    }
    EXPECT_NEAR(here().samples, 3, 0.01);  // at 10, 22 and 53 seconds
    server_->advance(1h);
    create("k");  // the late retry also counts
    EXPECT_NEAR(here().samples, 4, 0.1);
}

// A request that waits for a concurrent one with its key gets the same response: no slot was at
// risk.
TEST_F(windows, a_duplicate_of_a_running_request_does_not_count) {
    for (int n = 0; n < 5; ++n) {
        boost::asio::co_spawn(server_->io(), server_->engine().create(request("k")),
                              [](std::exception_ptr, const result<create_answer>&) {});
    }
    server_->settle();
    EXPECT_EQ(here().samples, 0);
}

// One account that retries constantly, and two with usual retries.
TEST_F(windows, one_account_does_not_choose_for_all) {
    retry(120, 40s, 1);
    retry(120, 40s, 2);
    server_->advance(5h);
    const milliseconds usual = window();
    retry(500, 0s, 0);
    server_->advance(5h);
    EXPECT_EQ(window(), usual);
    EXPECT_NEAR(here().choice.inputs.samples, 300, 20);
}

TEST_F(windows, a_restart_loses_nothing) {
    retry(150, 41s);
    server_->advance(5h);
    retry(5, 30min);
    server_->advance(31s);
    const window_status before = here();
    ASSERT_GE(before.choice.window, 45min);
    server_.reset();  // killed
    clock_.advance_to_next(24h);
    clock_.step_wall(24h * 3650);
    start();
    EXPECT_EQ(window(), before.choice.window);
    EXPECT_EQ(here().p99, before.p99);
    EXPECT_NEAR(here().samples, before.samples, 0.1);
    // The restored window is not reported as a change.
    EXPECT_EQ(here().changes, 0);
    server_->advance(50min);
    EXPECT_EQ(window(), before.choice.window);
}

TEST_F(windows, retries_before_the_first_sweep_are_added) {
    retry(60, 1s);
    server_->advance(1min);
    faulty_.reject_reads(store_failure::kind::rejected);
    start();
    EXPECT_EQ(probe_.failures, 1);
    retry(60, 1s);
    EXPECT_NEAR(here().samples, 60, 0.1);
    faulty_.reject_reads({});
    server_->advance(1min);
    EXPECT_NEAR(here().samples, 120, 0.1);
}

// The fallback alone could fail slots that the chosen window would not.
TEST_F(windows, no_slot_fails_before_the_stored_record_is_read) {
    retry(150, 1h);
    server_->advance(31s);
    ASSERT_GE(window(), 90min);
    lose("k");
    faulty_.reject_reads(store_failure::kind::rejected);
    start();
    server_->advance(1h);
    EXPECT_EQ(disk_->totals()->slots.failed, 0);
    EXPECT_GT(probe_.failures, 100);
    faulty_.reject_reads({});
    server_->advance(1min);
    EXPECT_GE(window(), 90min);
    EXPECT_EQ(disk_->totals()->slots.failed, 0);
    server_->advance(1h);
    EXPECT_EQ(disk_->totals()->slots.failed, 1);
}

TEST_F(windows, a_corrupt_record_is_replaced) {
    retry(150, 41s);
    server_->advance(5h);
    faulty_.reject_reads(store_failure::kind::damaged);
    start();
    EXPECT_EQ(probe_.failures, 1);  // the sweep then fails at its next read, of purged tasks
    EXPECT_EQ(window(), 10min);
    faulty_.reject_reads({});
    retry(20, 1s);
    server_->advance(1min);
    EXPECT_NEAR(here().samples, 20, 0.01);
    start();
    EXPECT_NEAR(here().samples, 20, 0.01);
}

TEST_F(windows, a_record_that_cannot_be_stored_is_stored_later) {
    retry(150, 41s);
    faulty_.arm(fault_point::before_any_commit, fault_kind::reject);
    server_->advance(5min);
    start();
    EXPECT_NEAR(here().samples, 150, 0.1);
}

TEST_F(windows, a_reload_sets_and_resets_it) {
    retry(150, 41s);
    server_->advance(5h);
    const milliseconds derived = window();
    probe_.changes.clear();
    server_->reaper().reload({.window = 5min});
    EXPECT_EQ(window(), 5min);
    EXPECT_EQ(here().choice.reason, window_reason::fixed);
    EXPECT_EQ(here().choice.wanted, 68s);
    server_->reaper().reload({});
    EXPECT_EQ(window(), derived);
    server_->reaper().reload({.automatic = {.window_min = 20min}});
    EXPECT_EQ(window(), 20min);
    EXPECT_EQ(here().choice.reason, window_reason::at_floor);
    ASSERT_EQ(probe_.changes.size(), 3u);
    EXPECT_EQ(probe_.changes[0].from, derived);
    EXPECT_EQ(probe_.changes[1].from, 5min);
    EXPECT_EQ(probe_.changes[2].from, derived);
}

// A wall clock in the wrong year makes neither a retry nor a sample older.
TEST_F(windows, a_wrong_wall_clock_changes_nothing) {
    retry(150, 41s);
    for (int n = 0; n < 20; ++n) create("k" + std::to_string(n));
    clock_.step_wall(24h * 3650);
    server_->advance(10s);
    for (int n = 0; n < 20; ++n) create("k" + std::to_string(n));
    clock_.step_wall(-24h * 3650);
    server_->advance(1min);
    EXPECT_NEAR(here().samples, 170, 0.1);
    EXPECT_LE(*here().p99, 45s);
}

// Without retries nothing is written, so an idle server does not use its disk.
TEST_F(windows, an_idle_server_writes_nothing) {
    server_->advance(1min);
    const auto before = retry_records::find(*disk_->begin_read(), account_class::local);
    EXPECT_FALSE(before);
    retry(3, 1s);
    server_->advance(1min);
    const auto kept = *retry_records::find(*disk_->begin_read(), account_class::local);
    server_->advance(30min);
    EXPECT_EQ(*retry_records::find(*disk_->begin_read(), account_class::local), kept);
    // The elapsed time is stored occasionally.
    server_->advance(2h);
    EXPECT_NE(*retry_records::find(*disk_->begin_read(), account_class::local), kept);
    EXPECT_FALSE(retry_records::find(*disk_->begin_read(), account_class::remote));
}

}  // namespace
}  // namespace callsign::testing
