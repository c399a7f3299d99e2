// The window that the reaper chooses: what it sees of retries, what it asks for, and that a restart
// forgets nothing. How a window is chosen is tested with the domain.

#include "support/faulty_store.hpp"
#include "support/house.hpp"

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
        house_.reset();
        house_.emplace(house_options{.reaper = reaper,
                                     .disk = &faulty_,
                                     .clock = &clock_,
                                     .entropy = &entropy_,
                                     .sweeps = &probe_,
                                     .reaping = true});
        if (accounts_.empty()) {
            for (const char* name : {"a", "b", "c"}) {
                accounts_.push_back(house_->make_account(name, "SYN").id);
            }
        }
        house_->settle();
    }

    reserve request(const std::string& key, std::size_t who = 0) const {
        return {accounts_[who], key, sha256("x"), {}, "", {{"description", "x"}}};
    }
    // Done, or done again.
    create_answer create(const std::string& key, std::size_t who = 0) {
        auto made = house_->run(house_->engine().create(request(key, who)));
        EXPECT_TRUE(made);
        return *made;
    }
    // Its client is lost between the two phases.
    void lose(const std::string& key, std::size_t who = 0) {
        ASSERT_TRUE(house_->run(house_->engine().submit(request(key, who))));
    }
    // So many creations whose answers are lost; the clients ask again after that.
    void retry(int count, milliseconds after, std::size_t who = 0) {
        const std::string name = "r" + std::to_string(++rounds_) + "-";
        for (int n = 0; n < count; ++n) create(name + std::to_string(n), who);
        house_->advance(after);
        for (int n = 0; n < count; ++n) create(name + std::to_string(n), who);
    }
    window_status here() { return house_->reaper().status().windows.here; }
    milliseconds window() { return here().choice.window; }

    std::unique_ptr<strict_memory_store> disk_ = make_memory_store();
    faulty_store faulty_{*disk_};
    virtual_clock clock_;
    seeded_entropy entropy_{1};
    window_probe probe_;
    std::optional<house> house_;
    std::vector<account_id> accounts_;
    int rounds_ = 0;
};

TEST_F(windows, is_ten_minutes_until_there_are_retries_enough) {
    EXPECT_EQ(window(), 10min);
    EXPECT_EQ(here().choice.reason, window_reason::few_samples);
    retry(99, 41s);
    house_->advance(1min);
    EXPECT_EQ(window(), 10min);
    EXPECT_NEAR(here().samples, 99, 0.1);
    EXPECT_TRUE(probe_.changes.empty());
}

TEST_F(windows, follows_retries_down_in_steps_and_up_at_once) {
    retry(150, 41s);
    house_->advance(30min);
    EXPECT_EQ(window(), 10min);
    EXPECT_EQ(here().choice.reason, window_reason::kept_longer);
    house_->advance(31min);
    EXPECT_EQ(window(), 5min);
    house_->advance(3h);
    // 45 s is the bucket's upper edge, and half of 150 s is next to what it wants.
    EXPECT_EQ(here().choice.wanted, 68s);
    const milliseconds derived = window();
    EXPECT_EQ(derived, 75s);
    EXPECT_EQ(here().choice.reason, window_reason::kept_close);
    EXPECT_EQ(probe_.changes.size(), 3u);
    EXPECT_EQ(probe_.changes.back().now.choice.window, derived);
    EXPECT_EQ(here().changes, 3);

    retry(5, 20min);
    house_->advance(31s);
    EXPECT_GE(window(), 30min);
    EXPECT_EQ(probe_.changes.size(), 4u);
    EXPECT_EQ(probe_.changes.back().from, derived);
    EXPECT_EQ(probe_.changes.back().now.choice.window, window());
}

// Slots outlive the window, so what comes too late is seen, and lengthens it.
TEST_F(windows, late_retries_are_counted) {
    retry(150, 5s);
    house_->advance(5h);
    ASSERT_EQ(window(), 1min);
    for (int n = 0; n < 10; ++n) lose("lost-" + std::to_string(n));
    house_->advance(10min);
    EXPECT_EQ(disk_->totals()->slots.failed, 10);
    for (int n = 0; n < 8; ++n) {
        EXPECT_TRUE(std::holds_alternative<slot_failed>(create("lost-" + std::to_string(n))));
    }
    EXPECT_NEAR(here().failed, 10, 0.01);
    EXPECT_NEAR(here().late, 8, 0.01);
    house_->advance(31s);
    EXPECT_GE(window(), 15min);
    for (const auto& other : here().others) {
        EXPECT_NEAR(other.would_have.failed, other.window <= 1min ? 8 : 0, 0.01);
    }
    // What the quantiles are of, and what a window as long as each bucket would have done.
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

TEST_F(windows, a_slot_counts_once_however_often_its_client_asks) {
    create("k");
    for (int n = 0; n < 1000; ++n) create("k");
    house_->advance(24h);
    for (int n = 0; n < 1000; ++n) create("k");
    EXPECT_NEAR(here().samples, 1, 0.1);
    lose("lost");
    house_->advance(1h);
    for (int n = 0; n < 1000; ++n) create("lost");
    EXPECT_NEAR(here().samples, 2, 0.2);
    EXPECT_NEAR(here().late, 1, 0.1);
}

// A client that could not be served tells something new each time its slot is twice as old.
TEST_F(windows, a_slot_that_stays_pending_counts_again_at_twice_its_age) {
    lose("k");
    for (const milliseconds wait : {10s, 1s, 1s, 10s, 1s, 30s}) {
        house_->advance(wait);
        faulty_.arm(fault_point::before_fulfil_commit, fault_kind::refuse);
        const auto refused = house_->run(house_->engine().create(request("k")));
        EXPECT_FALSE(refused);
    }
    EXPECT_NEAR(here().samples, 3, 0.01);  // at 10, 22 and 53 seconds
    house_->advance(1h);
    create("k");  // and when it is too late
    EXPECT_NEAR(here().samples, 4, 0.1);
}

// Who waits for another request with the key is answered with it: nothing could have failed.
TEST_F(windows, who_waits_beside_another_request_does_not_count) {
    for (int n = 0; n < 5; ++n) {
        boost::asio::co_spawn(house_->io(), house_->engine().create(request("k")),
                              [](std::exception_ptr, const result<create_answer>&) {});
    }
    house_->settle();
    EXPECT_EQ(here().samples, 0);
}

// One that asks all the time, and two that do as usual.
TEST_F(windows, one_account_does_not_choose_for_all) {
    retry(120, 40s, 1);
    retry(120, 40s, 2);
    house_->advance(5h);
    const milliseconds usual = window();
    retry(500, 0s, 0);
    house_->advance(5h);
    EXPECT_EQ(window(), usual);
    EXPECT_NEAR(here().choice.inputs.samples, 300, 20);
}

TEST_F(windows, a_restart_forgets_nothing) {
    retry(150, 41s);
    house_->advance(5h);
    retry(5, 30min);
    house_->advance(31s);
    const window_status before = here();
    ASSERT_GE(before.choice.window, 45min);
    house_.reset();  // killed
    clock_.advance_to_next(24h);
    clock_.step_wall(24h * 3650);
    start();
    EXPECT_EQ(window(), before.choice.window);
    EXPECT_EQ(here().p99, before.p99);
    EXPECT_NEAR(here().samples, before.samples, 0.1);
    // And it is not news.
    EXPECT_EQ(here().changes, 0);
    house_->advance(50min);
    EXPECT_EQ(window(), before.choice.window);
}

TEST_F(windows, what_is_seen_before_the_first_sweep_is_added) {
    retry(60, 1s);
    house_->advance(1min);
    faulty_.refuse_reads(store_failure::kind::refused);
    start();
    EXPECT_EQ(probe_.failures, 1);
    retry(60, 1s);
    EXPECT_NEAR(here().samples, 60, 0.1);
    faulty_.refuse_reads({});
    house_->advance(1min);
    EXPECT_NEAR(here().samples, 120, 0.1);
}

// With the fallback alone it could fail what the window that was chosen would not.
TEST_F(windows, nothing_is_failed_before_what_was_kept_is_read) {
    retry(150, 1h);
    house_->advance(31s);
    ASSERT_GE(window(), 90min);
    lose("k");
    faulty_.refuse_reads(store_failure::kind::refused);
    start();
    house_->advance(1h);
    EXPECT_EQ(disk_->totals()->slots.failed, 0);
    EXPECT_GT(probe_.failures, 100);
    faulty_.refuse_reads({});
    house_->advance(1min);
    EXPECT_GE(window(), 90min);
    EXPECT_EQ(disk_->totals()->slots.failed, 0);
    house_->advance(1h);
    EXPECT_EQ(disk_->totals()->slots.failed, 1);
}

TEST_F(windows, what_was_kept_and_is_damaged_is_begun_anew) {
    retry(150, 41s);
    house_->advance(5h);
    faulty_.refuse_reads(store_failure::kind::damaged);
    start();
    EXPECT_EQ(probe_.failures, 1);  // it goes on as far as what else it reads, purged tasks
    EXPECT_EQ(window(), 10min);
    faulty_.refuse_reads({});
    retry(20, 1s);
    house_->advance(1min);
    EXPECT_NEAR(here().samples, 20, 0.01);
    start();
    EXPECT_NEAR(here().samples, 20, 0.01);
}

TEST_F(windows, what_cannot_be_kept_is_kept_another_time) {
    retry(150, 41s);
    faulty_.arm(fault_point::before_any_commit, fault_kind::refuse);
    house_->advance(5min);
    start();
    EXPECT_NEAR(here().samples, 150, 0.1);
}

TEST_F(windows, a_reload_sets_it_and_gives_it_back) {
    retry(150, 41s);
    house_->advance(5h);
    const milliseconds derived = window();
    probe_.changes.clear();
    house_->reaper().reload({.window = 5min});
    EXPECT_EQ(window(), 5min);
    EXPECT_EQ(here().choice.reason, window_reason::fixed);
    EXPECT_EQ(here().choice.wanted, 68s);
    house_->reaper().reload({});
    EXPECT_EQ(window(), derived);
    house_->reaper().reload({.automatic = {.window_min = 20min}});
    EXPECT_EQ(window(), 20min);
    EXPECT_EQ(here().choice.reason, window_reason::at_floor);
    ASSERT_EQ(probe_.changes.size(), 3u);
    EXPECT_EQ(probe_.changes[0].from, derived);
    EXPECT_EQ(probe_.changes[1].from, 5min);
    EXPECT_EQ(probe_.changes[2].from, derived);
}

// A wall clock in the wrong year makes no retry seem older, and no sample.
TEST_F(windows, a_wrong_reading_of_the_clock_moves_nothing) {
    retry(150, 41s);
    for (int n = 0; n < 20; ++n) create("k" + std::to_string(n));
    clock_.step_wall(24h * 3650);
    house_->advance(10s);
    for (int n = 0; n < 20; ++n) create("k" + std::to_string(n));
    clock_.step_wall(-24h * 3650);
    house_->advance(1min);
    EXPECT_NEAR(here().samples, 170, 0.1);
    EXPECT_LE(*here().p99, 45s);
}

// Nothing was seen: nothing is written, so an idle server's disk rests.
TEST_F(windows, an_idle_server_writes_nothing) {
    house_->advance(1min);
    const auto before = retry_records::find(*disk_->begin_read(), account_class::here);
    EXPECT_FALSE(before);
    retry(3, 1s);
    house_->advance(1min);
    const auto kept = *retry_records::find(*disk_->begin_read(), account_class::here);
    house_->advance(30min);
    EXPECT_EQ(*retry_records::find(*disk_->begin_read(), account_class::here), kept);
    // But for the time that goes by, now and then.
    house_->advance(2h);
    EXPECT_NE(*retry_records::find(*disk_->begin_read(), account_class::here), kept);
    EXPECT_FALSE(retry_records::find(*disk_->begin_read(), account_class::elsewhere));
}

}  // namespace
}  // namespace callsign::testing
