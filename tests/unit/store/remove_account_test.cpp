// An account's rows go while the store is used: what is left proves itself after each step.

#include "support/check.hpp"
#include "support/counted_ids.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

constexpr time_point made_at{milliseconds{1'700'000'000'000}};

class removal : public ::testing::Test {
  protected:
    template <class Command>
    typename Command::answer run(const Command& c) {
        const auto tx = store_->begin_write();
        now_ += milliseconds{1};
        auto answer = rules::apply(*tx, c, rules::moment{now_, ids_});
        tx->commit();
        return answer;
    }
    account_id make(const std::string& name) {
        const auto id = std::get<account>(run(create_account{name, "SYN", "t", sha256(name)})).id;
        import_tasks some{id, {}};
        for (std::uint8_t n = 1; n <= 30; ++n) {
            some.tasks.push_back({uuid{{n, 1}}, {{"description", name}}});
        }
        run(some);
        // More history than a step takes.
        for (std::uint8_t n = 1; n <= 30; ++n) {
            edit_task edit{id, uuid{{n, 1}}};
            edit.changes = {{"p", "v"}};
            run(edit);
        }
        return id;
    }
    void reopen() {
        store_.reset();
        store_ = open_sqlite({.data_dir = dir_.path(), .buffered_entries_max = 8});
    }

    temp_dir dir_;
    std::unique_ptr<store> store_ = open_sqlite({.data_dir = dir_.path()});
    counted_ids ids_;
    time_point now_ = made_at;
};

TEST_F(removal, leaves_a_sound_store_after_each_step) {
    const auto other = make("other"), gone = make("gone"), third = make("third");
    run(delete_account{gone});
    now_ += std::chrono::hours{1};
    remove_deleted c{milliseconds{1}, 7};
    int steps = 0;
    std::int64_t removed = 0;
    do {
        const auto step = run(c);
        removed += step.removed;
        c.from = step.next;
        if (++steps % 5 == 0) reopen();
        const auto report = report_on(dir_.path());
        ASSERT_TRUE(report.ok()) << steps << ": " << report.faults.front().text;
    } while (c.from);
    EXPECT_EQ(removed, 1);
    EXPECT_GT(steps, 25);
    EXPECT_EQ(store_->totals().accounts, 2);
    EXPECT_EQ(store_->totals().open_tasks, 60);
    // Nothing of it is remembered.
    const auto again = make("gone");
    EXPECT_EQ(store_->begin_read()->default_series(again)->last_number, 30);
    for (const account_id id : {other, third}) {
        EXPECT_EQ(store_->begin_read()->find_task(id, uuid{{30, 1}})->numbered->number, 30);
    }
    EXPECT_TRUE(report_on(dir_.path()).ok());
}

// An account that is made between two steps, whichever, knows nothing of the rows that have gone.
TEST_F(removal, what_is_made_meanwhile_begins_at_its_own_start) {
    make("other");
    int made = 0;
    bool is_between = true;
    for (int at = 1; is_between; ++at) {
        is_between = false;
        // Its rows are the last of each table.
        run(delete_account{make("gone")});
        now_ += std::chrono::hours{1};
        remove_deleted c{milliseconds{1}, 1'000'000};
        int steps = 0;
        do {
            c.from = run(c).next;
            if (++steps != at || !c.from) continue;
            is_between = true;
            const std::string name = "made " + std::to_string(++made);
            const auto id =
                std::get<account>(run(create_account{name, "NEW", "t", sha256(name)})).id;
            create_series later{id, "N"};
            later.next = 5;
            ASSERT_TRUE(std::holds_alternative<series>(run(later)));
            import_tasks one{id, {}};
            one.tasks.push_back({uuid{{1, 2}}, {{"description", name}}});
            run(one);
            const auto tx = store_->begin_read();
            EXPECT_EQ(tx->find_task(id, uuid{{1, 2}})->numbered->number, 1) << name;
            EXPECT_EQ(tx->find_series(id, "N")->last_number, 4) << name;
        } while (c.from);
        const auto report = report_on(dir_.path());
        ASSERT_TRUE(report.ok()) << at << ": " << report.faults.front().text;
    }
    EXPECT_GT(made, 15);
}

// The place where a removal stood is not kept: it begins again.
TEST_F(removal, goes_on_after_a_crash) {
    const auto gone = make("gone");
    run(delete_account{gone});
    now_ += std::chrono::hours{1};
    const remove_deleted c{milliseconds{1}, 7};
    for (int n = 0; n < 3; ++n) EXPECT_EQ(run(c).removed, 0);
    reopen();
    remove_deleted all = c;
    std::int64_t removed = 0;
    do {
        const auto step = run(all);
        removed += step.removed;
        all.from = step.next;
    } while (all.from);
    EXPECT_EQ(removed, 1);
    EXPECT_TRUE(report_on(dir_.path()).ok());
}

}  // namespace
}  // namespace callsign::testing
