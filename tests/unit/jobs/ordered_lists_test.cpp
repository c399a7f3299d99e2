// Sorted lists: few are built at a time, their memory is limited, and each belongs to one account.

#include "support/test_server.hpp"

#include <callsign/jobs/ordered_lists.hpp>

#include <algorithm>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using jobs::ordered_lists;
using outcome = std::optional<result<ordered_lists::made>>;

struct lists : ::testing::Test {
    void add_tasks(account_id to, int count, std::size_t depends = 0) {
        import_tasks c{to, {}};
        for (int n = 0; n < count; ++n) {
            attributes all{{"due", std::to_string(2'000'000'000 - drawn)}};
            for (std::size_t i = 0; i < depends; ++i) {
                all.emplace("dep_" + to_string(make_uuid_v7({}, 2, ++drawn)), "");
            }
            c.tasks.push_back({make_uuid_v7({}, 1, ++drawn), std::move(all)});
            if (c.tasks.size() == import_tasks::tasks_max || n + 1 == count) {
                while (!c.tasks.empty()) {
                    const auto done = h.run(h.engine().submit(c));
                    ASSERT_TRUE(done && std::holds_alternative<import_tasks::done>(*done));
                    const auto taken = std::get<import_tasks::done>(*done).taken;
                    c.tasks.erase(c.tasks.begin(),
                                  c.tasks.begin() + static_cast<std::ptrdiff_t>(taken));
                }
            }
        }
    }
    static boost::asio::awaitable<void> tell(
        boost::asio::awaitable<result<ordered_lists::made>> asked, std::shared_ptr<outcome> told) {
        *told = co_await std::move(asked);
    }
    std::shared_ptr<outcome> start(account_id of, task_filter filter = {}) {
        auto told = std::make_shared<outcome>();
        h.spawn(
            tell(made.make(of, std::move(filter), {task_sort::due, false}, h.clock().now()), told));
        return told;
    }
    ordered_lists::shared ask(account_id of) {
        const auto told = start(of);
        h.settle();
        return std::get<ordered_lists::shared>(***told);
    }

    test_server h;
    account_id account = h.make_account("syn", "SYN").id;
    account_id other = h.make_account("ops", "OPS").id;
    std::uint64_t drawn = 0;
    ordered_lists made{h.engine(), h.clock(), h.entropy()};
};

TEST_F(lists, are_kept_for_the_account_that_queried) {
    add_tasks(account, 3);
    const auto list = ask(account);
    ASSERT_EQ(list->tasks.size(), 3u);
    EXPECT_GT(list->tasks[0], list->tasks[2]) << "the last one made is due first";
    EXPECT_EQ(made.find(account, list->id), list);
    EXPECT_EQ(made.find(other, list->id), nullptr);
    EXPECT_EQ(made.find(account, list->id + 1), nullptr);
    h.advance(ordered_lists::kept_for);
    EXPECT_EQ(made.find(account, list->id), list);
    h.advance(milliseconds{1});
    EXPECT_EQ(made.find(account, list->id), nullptr);
}

TEST_F(lists, of_one_account_evict_no_others) {
    add_tasks(account, 3);
    add_tasks(other, 2);
    const auto theirs = ask(other);
    std::vector<std::uint64_t> ids;
    for (std::size_t n = 0; n <= ordered_lists::account_lists_max; ++n) {
        ids.push_back(ask(account)->id);
    }
    EXPECT_EQ(made.find(account, ids[0]), nullptr);
    EXPECT_NE(made.find(account, ids[1]), nullptr);
    EXPECT_NE(made.find(account, ids.back()), nullptr);
    EXPECT_EQ(made.find(other, theirs->id), theirs);
}

TEST_F(lists, are_made_few_at_a_time) {
    add_tasks(account, 3);
    std::vector<std::shared_ptr<outcome>> told;
    const auto last_is_rejected = [&] {
        for (int n = 0; n < 1'000 && !*told.back(); ++n) h.step();
        return *told.back() && !**told.back() && (*told.back())->error() == errc::overloaded;
    };
    const auto others_end_well = [&] {
        h.settle();
        told.pop_back();
        return std::all_of(told.begin(), told.end(),
                           [](const auto& each) { return *each && each->value().has_value(); });
    };
    for (int n = 0; n < 3; ++n) told.push_back(start(account));
    EXPECT_TRUE(last_is_rejected());
    EXPECT_TRUE(others_end_well());
    EXPECT_NE(ask(account), nullptr) << "the slot of the last one was released";
    told.clear();
    std::vector<account_id> more;
    for (int n = 0; n < 4; ++n) more.push_back(h.make_account("a" + std::to_string(n), "A").id);
    for (const account_id id : more) {
        told.push_back(start(id));
        told.push_back(start(id));
    }
    told.push_back(start(account));
    EXPECT_TRUE(last_is_rejected());
    EXPECT_TRUE(others_end_well());
}

TEST_F(lists, have_a_limit) {
    add_tasks(account, 25, 8'100);
    task_filter f;
    const auto fits = start(account, f);
    h.settle();
    EXPECT_TRUE(std::holds_alternative<ordered_lists::shared>(***fits))
        << "dependencies are ignored without a filter for them";
    f.is = {virtual_tag::blocked};
    const auto told = start(account, f);
    h.settle();
    EXPECT_TRUE(std::holds_alternative<ordered_lists::too_many>(***told));
    f.prefix = "NONE";
    const auto unknown = start(account, f);
    h.settle();
    EXPECT_TRUE(std::holds_alternative<unknown_series>(***unknown));
}

}  // namespace
}  // namespace callsign::testing
