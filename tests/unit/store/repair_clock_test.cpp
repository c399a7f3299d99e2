// A store with stamps ten years ahead, set back.

#include "support/check.hpp"
#include "support/temp_dir.hpp"
#include "support/unsafe_disk.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/store/sqlite.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using namespace std::chrono_literals;

constexpr time_point wall_now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 20};
constexpr time_point ahead = wall_now + 24h * 3650;

class repair_clock : public ::testing::Test {
  protected:
    std::unique_ptr<store> open() { return open_sqlite({.data_dir = dir_.path()}); }

    static slot pending(account_id account, std::string key, time_point at) {
        slot s;
        s.account = account;
        s.key = std::move(key);
        s.uuid = make_uuid_v7(at, 1, 1);
        s.created_at = at;
        return s;
    }

    // One slot from before, and a pending and a failed one ten years ahead.
    void fill() {
        const auto disk = open();
        const auto tx = disk->begin_write();
        const account_id account = accounts::put(*tx, "home", wall_now);
        slots::put(*tx, pending(account, "before", wall_now));
        slots::put(*tx, pending(account, "waits", ahead));
        const slot_id failed = slots::put(*tx, pending(account, "failed", ahead));
        slots::fail(*tx, failed, failure_reason::window_passed, ahead + 1min);
        tx->commit();
    }

    temp_dir dir_;
};

TEST_F(repair_clock, sets_back_all_times_of_the_store) {
    fill();
    EXPECT_EQ(open()->totals()->last_moment, ahead + 1min);
    const clock_repair done = repair_sqlite_clock(dir_.path(), wall_now + 1h);
    EXPECT_TRUE(done.repaired);
    EXPECT_EQ(done.last_moment, ahead + 1min);
    EXPECT_EQ(done.slots, 2);

    const auto disk = open();
    EXPECT_EQ(disk->totals()->last_moment, wall_now + 1h);
    const auto slots = slots::some(*disk->begin_read(), slot_id{}, 10, {}, {});
    ASSERT_EQ(slots.size(), 3u);
    EXPECT_EQ(slots[0].created_at, wall_now);
    EXPECT_EQ(slots[1].created_at, wall_now + 1h);
    EXPECT_FALSE(slots[1].settled_at);
    EXPECT_EQ(slots[2].settled_at, wall_now + 1h);
    EXPECT_TRUE(testing::report_on(dir_.path()).ok());
}

// For each sync: its failure is reported, and the data survive a power cut.
TEST_F(repair_clock, a_failed_sync_is_reported) {
    auto& disk = unsafe_disk::install();
    seeded_entropy chance{1};
    fill();
    bool has_struck = true;
    for (int nth = 1; has_struck; ++nth) {
        const temp_dir at, next;
        std::filesystem::copy_file(dir_.path() / "callsign.sqlite3",
                                   at.path() / "callsign.sqlite3");
        disk.arm(disk_fault::sync_fails, nth, 1, static_cast<std::uint64_t>(nth));
        bool is_said = false;
        try {
            repair_sqlite_clock(at.path(), wall_now + 1h);
        } catch (const std::runtime_error&) {
            is_said = true;
        }
        has_struck = disk.has_struck();
        disk.strike(at.path(), next.path(), chance);
        disk.heal();
        EXPECT_EQ(is_said, has_struck) << nth;
        const auto opened = open_sqlite({.data_dir = next.path()});
        EXPECT_EQ(slots::some(*opened->begin_read(), slot_id{}, 10, {}, {}).size(), 3u) << nth;
        if (!has_struck) {
            EXPECT_EQ(opened->totals()->last_moment, wall_now + 1h);
            EXPECT_GT(nth, 4);
        }
        disk.forget(next.path());
    }
}

// Otherwise the history would be retained until then.
TEST_F(repair_clock, task_history_ends_at_the_present) {
    {
        const auto disk = open();
        const auto tx = disk->begin_write();
        task t;
        t.account = accounts::put(*tx, "home", wall_now);
        t.uuid = make_uuid_v7(wall_now, 1, 1);
        t.created_at = wall_now;
        t.last_seq = 1;
        tasks::put(*tx, t, all_series::put(*tx, t.account, "SYN", "", true, wall_now));
        tasks::update(*tx, *tasks::find(*tx, t.account, t.uuid), {{"a", "b"}}, false, 2, ahead);
        tx->commit();
    }
    repair_sqlite_clock(dir_.path(), wall_now + 1h);
    const auto disk = open();
    const auto tx = disk->begin_write();
    callsign::history::forget(*tx, wall_now + 2h, 10);
    EXPECT_EQ(accounts::history_from(*tx, accounts::find(*tx, "home")->id), 1);
}

TEST_F(repair_clock, does_not_change_a_store_that_is_not_ahead) {
    fill();
    EXPECT_FALSE(repair_sqlite_clock(dir_.path(), ahead + 1h).repaired);
    EXPECT_EQ(open()->totals()->last_moment, ahead + 1min);
}

TEST_F(repair_clock, is_rejected_while_a_server_has_the_store_open) {
    fill();
    const auto server = open();
    EXPECT_THROW(repair_sqlite_clock(dir_.path(), wall_now), std::runtime_error);
    EXPECT_EQ(server->totals()->last_moment, ahead + 1min);
}

TEST_F(repair_clock, check_reports_the_latest_time) {
    fill();
    EXPECT_EQ(testing::report_on(dir_.path()).last_moment, ahead + 1min);
}

}  // namespace
}  // namespace callsign::testing
