// The first half of a sweep: slots that are still pending.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

namespace callsign {
namespace {

struct pending_slots : managed_account {
    slot_state state_of(const std::string& key) {
        const auto tx = store_->begin_write();
        return slots::find(*tx, account_, key)->state;
    }
    static constexpr milliseconds window{1'000};
};

TEST_F(pending_slots, fail_once_they_are_older_than_the_window_and_not_before) {
    reserved("old");
    const time_point made = now_;
    // the sweep runs when the slot is exactly as old as the window
    now_ = made + window - milliseconds{1};
    EXPECT_EQ(run(reconcile_pending{{}, 10, window, {}}).failed, 0);
    const auto done = run(reconcile_pending{{}, 10, window, {}});
    EXPECT_EQ(done.failed, 1);
    EXPECT_EQ(state_of("old"), slot_state::failed);
    const auto again = run(reserve{account_, "old", {}, {}, ""});
    EXPECT_EQ(std::get<slot_failed>(again).reason, failure_reason::window_passed);
    EXPECT_EQ(std::get<slot_failed>(again).reserved_at, made);
}

TEST_F(pending_slots, are_skipped_while_a_request_works_on_them) {
    reserved("worked on");
    reserved("left");
    now_ += 10 * window;
    const worked_on busy{{account_, "worked on"}};
    EXPECT_EQ(run(reconcile_pending{{}, 10, window, busy}).failed, 1);
    EXPECT_EQ(state_of("worked on"), slot_state::pending);
    EXPECT_EQ(state_of("left"), slot_state::failed);
}

// Every creation of a task commits the slots that wait for it; the sweep finds a missed one at any
// age.
TEST_F(pending_slots, are_committed_when_their_task_exists) {
    const auto slot = reserved("k", uuid_of(1));
    key_attribute_ = "";
    write([&](write_tx& tx) {
        const operations made{create(uuid_of(1))};
        const auto series = all_series::default_of(tx, account_);
        task t;
        t.account = account_;
        t.uuid = uuid_of(1);
        t.created_at = now_;
        t.last_seq = versions::append(tx, account_, uuid_of(2), now_, made);
        t.numbered = receipt{.uuid = t.uuid,
                             .prefix = series->prefix,
                             .period = "",
                             .number = numbers::take(tx, series->id, ""),
                             .seq = t.last_seq,
                             .created_at = now_};
        tasks::put(tx, t, series->id);
    });
    EXPECT_EQ(run(reconcile_pending{{}, 10, window, {}}).committed, 1);
    EXPECT_EQ(state_of("k"), slot_state::committed);
    const auto replayed = std::get<receipted>(run(fulfil{slot, "", {}}));
    EXPECT_TRUE(replayed.replayed);
    EXPECT_FALSE(replayed.receipt.created);
    EXPECT_EQ(key_of(replayed.receipt), "SYN-1");
}

// The store is sound afterwards, although one version created the task and another numbered it.
TEST_F(pending_slots, give_their_task_a_number_if_it_has_none) {
    for (const char* key_attribute : {"key", ""}) {
        key_attribute_ = key_attribute;
        const int n = *key_attribute != 0 ? 1 : 2;
        const std::string key = "k" + std::to_string(n);
        reserved(key, uuid_of(n));
        write([&](write_tx& tx) {
            const operations made{create(uuid_of(n))};
            task t;
            t.account = account_;
            t.uuid = uuid_of(n);
            t.created_at = now_;
            t.last_seq = versions::append(tx, account_, uuid_of(100 + n), now_, made);
            tasks::put(tx, t, all_series::default_of(tx, account_)->id);
        });
        EXPECT_FALSE(testing::audit(*store_).empty());
        EXPECT_EQ(run(reconcile_pending{{}, 10, window, {}}).committed, 1);
        const auto given = ask(find_slot{account_, key})->receipt;
        ASSERT_TRUE(given);
        EXPECT_EQ(given->number, n);
        EXPECT_EQ(given->seq, head().seq);
        EXPECT_EQ(testing::audit(*store_), std::vector<std::string>{});
    }
}

TEST_F(pending_slots, are_read_one_step_at_a_time) {
    for (const char* key : {"a", "b", "c"}) reserved(key);
    now_ += 10 * window;
    const auto first = run(reconcile_pending{{}, 2, window, {}});
    EXPECT_EQ(first.scanned, 2);
    EXPECT_EQ(first.failed, 2);
    ASSERT_TRUE(first.next);
    const auto second = run(reconcile_pending{*first.next, 2, window, {}});
    EXPECT_EQ(second.scanned, 1);
    EXPECT_FALSE(second.next);
    EXPECT_EQ(state_of("c"), slot_state::failed);
}

}  // namespace
}  // namespace callsign
