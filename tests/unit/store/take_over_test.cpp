// Conversion of an opaque account in steps, first undone and then completed: the files are verified
// after each step, in any state of the bulk indexes.

#include "support/check.hpp"
#include "support/counted_ids.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/sealed.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

class taken_over : public ::testing::Test {
  protected:
    static constexpr int count = 30;

    taken_over() {
        reopen();
        account_ = run(register_client{client_}).account.id;
        for (int n = 1; n <= count; ++n) {
            const uuid parent = accounts::head_of(*store_->begin_read(), account_).version;
            run(add_sealed_version{client_, parent, "sealed", false, account_});
            const chain_head head = accounts::head_of(*store_->begin_read(), account_);
            version v{head.seq, head.version, parent, now_, {}};
            const std::string status = n % 3 == 0 ? "completed" : "pending";
            v.operations = {{operation_kind::create, task_of(n), {}, {}, {}},
                            {operation_kind::update, task_of(n), "status", status, now_}};
            history_.push_back(std::move(v));
            tasks_.push_back({task_of(n), n, now_, {{"status", status}}});
        }
        run(add_sealed_snapshot{client_, head().version, "snapshot", account_});
    }

    template <class Command>
    typename Command::answer run(const Command& c) {
        const auto tx = store_->begin_write();
        now_ += milliseconds{1};
        const rules::moment m{.now = now_, .ids = ids_, .key_attribute = "key"};
        auto answer = rules::apply(*tx, c, m);
        tx->commit();
        return answer;
    }
    void reopen() {
        store_.reset();
        store_ = open_sqlite({.data_dir = dir_.path(), .buffered_entries_max = 8});
    }
    void expect_sound() {
        const auto report = report_on(dir_.path());
        ASSERT_TRUE(report.ok()) << report.faults.front().text;
    }
    static uuid task_of(int n) { return uuid{{static_cast<std::uint8_t>(n), 1}}; }
    chain_head head() { return accounts::head_of(*store_->begin_read(), account_); }
    std::int64_t stored() { return accounts::find(*store_->begin_read(), account_)->stored_bytes; }

    // Imports all except the last task.
    chain_head take() {
        chain_head taken{};
        const auto step = [&](take_over_history c) {
            c.account = account_;
            c.head = head();
            c.taken = taken;
            taken = std::get<take_over_history::went_on>(run(c)).taken;
        };
        for (std::size_t n = 0; n < count; n += 10) {
            take_over_history c;
            c.history.assign(history_.begin() + static_cast<std::ptrdiff_t>(n),
                             history_.begin() + static_cast<std::ptrdiff_t>(n + 10));
            step(c);
            expect_sound();
        }
        for (std::size_t n = 0; n + 1 < count; ++n) {
            take_over_history c;
            c.tasks = {tasks_[n]};
            step(c);
            if (n % 7 == 0) expect_sound();
        }
        return taken;
    }

    temp_dir dir_;
    std::unique_ptr<store> store_;
    counted_ids ids_;
    time_point now_{milliseconds{1'700'000'000'000}};
    const uuid client_ = uuid{{9, 9}};
    account_id account_;
    std::vector<version> history_;
    std::vector<manage_account::made_task> tasks_;
};

TEST_F(taken_over, undone_and_then_completed) {
    const std::int64_t sealed_bytes = stored();
    for (const bool is_reopened : {false, true}) {
        take();
        EXPECT_EQ(store_->totals()->open_tasks, 20);
        if (is_reopened) reopen();
        undo_take_over undo{.account = account_, .work_max = 1};
        for (int n = 0;; ++n) {
            const auto done = run(undo);
            if (n % 7 == 0) expect_sound();
            if (!done.next) break;
            undo.from = *done.next;
        }
        EXPECT_EQ(store_->totals()->open_tasks, 0);
        EXPECT_EQ(stored(), sealed_bytes);
        EXPECT_TRUE(versions::some(*store_->begin_read(), account_, 0, 1).empty());
        expect_sound();
    }
    manage_account last;
    last.taken = take();
    last.account = account_;
    last.head = head();
    last.tasks = {tasks_.back()};
    last.device_name = "shared";
    last.sealed_key = "key";
    EXPECT_TRUE(std::holds_alternative<manage_account::managed>(run(last)));
    expect_sound();
    reopen();
    remove_sealed rest{.account = account_, .work_max = 1};
    for (int n = 0;; ++n) {
        const auto done = run(rest);
        if (n % 7 == 0) expect_sound();
        if (!done.next) break;
        rest.from = *done.next;
    }
    expect_sound();
    const auto tx = store_->begin_read();
    EXPECT_EQ(store_->totals()->open_tasks, 20);
    EXPECT_EQ(accounts::head_of(*tx, account_).sealed_seq, count);
    EXPECT_EQ(versions::some(*tx, account_, 0, 1000).size(), 2u * count);
    for (int n = 1; n <= count; ++n) {
        const auto known = tasks::find(*tx, account_, task_of(n));
        ASSERT_TRUE(known && known->numbered);
        EXPECT_FALSE(known->purged);
        EXPECT_EQ(known->numbered->number, n);
        EXPECT_EQ(value_of(known->attributes, "key"), key_of(*known->numbered));
    }
    EXPECT_FALSE(snapshots::find_mark(*tx, account_));
    EXPECT_FALSE(sealed::find_child(*tx, account_, {}));
}

}  // namespace
}  // namespace callsign::testing
