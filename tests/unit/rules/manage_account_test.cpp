// Conversion of an opaque account to a managed one.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/sealed.hpp>

namespace callsign {
namespace {

using converted_account = managed_account;

// A version is always read as a whole: the keys of a large account are split into several.
TEST_F(converted_account, a_converted_account_gets_its_keys_after_its_history) {
    constexpr int count = 10'001;
    const uuid client = uuid_of(903);
    manage_account c;
    c.account = account_ = run(register_client{client}).account.id;
    run(add_sealed_version{client, {}, "sealed", false, account_});
    c.head = head();
    c.history.push_back({1, c.head.version, {}, now_, {}});
    for (int n = 1; n <= count; ++n) {
        c.history[0].operations.push_back(create(uuid_of(n)));
        c.tasks.push_back({uuid_of(n), 1, now_, {}});
    }
    c.device_name = "shared";
    c.sealed_key = "sealed";
    const auto answer = run(c);
    EXPECT_EQ(std::get<manage_account::managed>(answer).tasks, count);
    const auto all = chain();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[1].operations.size(), count - 1u);
    ASSERT_EQ(all[2].operations.size(), 1u);
    EXPECT_EQ(all[2].operations[0].value, key_of(*find(uuid_of(count))->numbered));
    EXPECT_EQ(find(uuid_of(1))->last_seq, 2);
    EXPECT_EQ(find(uuid_of(count - 1))->last_seq, 2);
    EXPECT_EQ(find(uuid_of(count))->last_seq, 3);
    EXPECT_EQ(find(uuid_of(count))->numbered->number, count);
}

// ---- in steps ----

// An opaque account of `count` tasks, one created in each version; the last version purges the
// second.
class converted_in_steps : public managed_account {
  protected:
    static constexpr int count = 12;

    converted_in_steps() {
        account_ = run(register_client{client_}).account.id;
        for (int n = 1; n <= count + 1; ++n) seal(n);
        run(add_sealed_snapshot{client_, head().version, "snapshot", account_});
        // One task already has a number.
        run(assign_key{.account = account_, .uuid = uuid_of(7), .prefix = {}, .project = {}});
    }

    void seal(int n) {
        const uuid parent = head().version;
        run(add_sealed_version{client_, parent, "sealed", false, account_});
        version v{head().seq, head().version, parent, now_, {}};
        if (n > count) {
            v.operations.push_back(remove(uuid_of(2)));
        } else {
            v.operations = {create(uuid_of(n)), update(uuid_of(n), "p", "secret")};
        }
        history_.push_back(std::move(v));
    }

    std::vector<manage_account::made_task> made() const {
        std::vector<manage_account::made_task> all;
        for (int n = 1; n <= count; ++n) {
            if (n != 2) all.push_back({uuid_of(n), n, t0, {{"p", "secret"}}});
        }
        return all;
    }

    // Imports this many versions and tasks.
    chain_head take(std::size_t versions, std::size_t tasks) {
        chain_head taken{};
        for (std::size_t n = 0; n < versions; ++n) {
            taken = step(
                {.account = account_, .head = head(), .taken = taken, .history = {history_[n]}});
        }
        for (std::size_t n = 0; n < tasks; ++n) {
            taken =
                step({.account = account_, .head = head(), .taken = taken, .tasks = {made()[n]}});
        }
        return taken;
    }
    chain_head step(const take_over_history& c) {
        const auto done = run(c);
        EXPECT_TRUE(std::holds_alternative<take_over_history::went_on>(done));
        const auto* const on = std::get_if<take_over_history::went_on>(&done);
        expect_sound();
        return on ? on->taken : chain_head{};
    }
    manage_account last(const chain_head& taken, std::size_t versions, std::size_t tasks) {
        manage_account c;
        c.account = account_;
        c.head = head();
        c.taken = taken;
        c.taken_tasks = static_cast<std::int64_t>(tasks);
        c.history.assign(history_.begin() + static_cast<std::ptrdiff_t>(versions), history_.end());
        const auto all = made();
        c.tasks.assign(all.begin() + static_cast<std::ptrdiff_t>(tasks), all.end());
        c.device_name = "shared";
        c.sealed_key = "key";
        return c;
    }
    void undo(std::size_t work_max) {
        undo_take_over c{.account = account_, .work_max = work_max};
        for (bool goes_on = true; goes_on;) {
            const auto done = run(c);
            expect_sound();
            goes_on = done.next.has_value();
            if (goes_on) c.from = *done.next;
        }
    }
    int remove_all_sealed(std::size_t work_max) {
        remove_sealed c{.account = account_, .work_max = work_max};
        for (int steps = 1;; ++steps) {
            const auto done = run(c);
            expect_sound();
            if (!done.next) return steps;
            c.from = *done.next;
        }
    }
    void expect_sound() { EXPECT_EQ(testing::audit(*store_), std::vector<std::string>{}); }
    // The state that a start of the server finds.
    std::optional<account_mode> left_over() {
        const auto found = ask(find_half_managed{});
        EXPECT_TRUE(!found.first || found.first->account == account_);
        return found.first ? std::optional(found.first->mode) : std::nullopt;
    }
    account_mode mode() { return accounts::find(*store_->begin_read(), account_)->mode; }

    const uuid client_ = uuid_of(903);
    std::vector<version> history_;
};

TEST_F(converted_in_steps, it_is_visible_only_after_the_last_step) {
    const auto sealed_bytes = accounts::find(*store_->begin_read(), account_)->stored_bytes;
    const auto taken = take(history_.size(), 8);
    EXPECT_EQ(mode(), account_mode::opaque);
    EXPECT_EQ(head().seq, count + 1);
    // Its clients can still read.
    EXPECT_TRUE(std::holds_alternative<sealed_version>(ask(find_sealed_child{account_, {}})));
    const auto done = std::get<manage_account::managed>(run(last(taken, history_.size(), 8)));
    EXPECT_EQ(done.versions, count + 1);
    EXPECT_EQ(done.tasks, count - 1);
    EXPECT_EQ(mode(), account_mode::managed);
    EXPECT_EQ(left_over(), account_mode::managed);
    expect_sound();
    EXPECT_GT(remove_all_sealed(1), count);
    EXPECT_EQ(left_over(), std::nullopt);
    EXPECT_FALSE(sealed::find_child(*store_->begin_read(), account_, {}));
    EXPECT_FALSE(snapshots::find_mark(*store_->begin_read(), account_));
    EXPECT_NE(accounts::find(*store_->begin_read(), account_)->stored_bytes, sealed_bytes);

    task_map seen;
    follow({}, seen);
    EXPECT_EQ(seen, tasks());
    EXPECT_EQ(seen.size(), count - 1u);
    EXPECT_EQ(seen.at(uuid_of(7)).at("key"), "TASK-1");
    EXPECT_EQ(seen.at(uuid_of(1)).at("key"), "TASK-2");
    // A purged task is removed as in any account.
    const auto purged = ask(find_purged{});
    ASSERT_EQ(purged.tasks.size(), 1u);
    EXPECT_EQ(purged.tasks.front().through, count + 1);
}

TEST_F(converted_in_steps, a_cancelled_import_changes_no_numbers) {
    for (const std::size_t tasks : {std::size_t{0}, std::size_t{5}, made().size()}) {
        const auto before = accounts::find(*store_->begin_read(), account_)->stored_bytes;
        take(history_.size(), tasks);
        EXPECT_EQ(left_over(), account_mode::opaque);
        undo(1);
        EXPECT_EQ(left_over(), std::nullopt);
        EXPECT_TRUE(chain().empty());
        EXPECT_EQ(accounts::find(*store_->begin_read(), account_)->stored_bytes, before);
        for (std::size_t n = 0; n < tasks; ++n) {
            const auto known = find(made()[n].uuid);
            ASSERT_TRUE(known && is_unseen(*known));
            EXPECT_TRUE(known->attributes.empty());
        }
    }
    // In a second import each task has the number it got.
    const auto taken = take(history_.size(), made().size());
    run(last(taken, history_.size(), made().size()));
    undo(1);  // for a managed account there is nothing to undo
    remove_all_sealed(1u << 20);
    EXPECT_EQ(find(uuid_of(1))->numbered->number, 2);
    EXPECT_EQ(find(uuid_of(count))->numbered->number, count - 1);
    EXPECT_EQ(attribute(uuid_of(3), "p"), "secret");
}

TEST_F(converted_in_steps, a_version_added_during_the_conversion_is_not_lost) {
    const auto opened = head();
    const auto taken = take(3, 0);
    seal(count + 1);
    take_over_history next{.account = account_, .head = opened, .taken = taken};
    EXPECT_TRUE(std::holds_alternative<manage_account::head_changed>(run(next)));
    auto c = last(taken, 3, 0);
    c.head = opened;
    EXPECT_TRUE(std::holds_alternative<manage_account::head_changed>(run(c)));
    EXPECT_EQ(mode(), account_mode::opaque);
    undo(1u << 20);
}

}  // namespace
}  // namespace callsign
