// Snapshots that the server makes: one for concurrent requests, cached for a while, within limits.

#include "support/test_server.hpp"

#include <callsign/jobs/snapshots.hpp>
#include <callsign/wire/segment.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using jobs::server_snapshot;
using jobs::server_snapshots;
using made_snapshot = std::optional<result<server_snapshots::shared>>;

struct snapshots : ::testing::Test {
    void add_tasks(int count, const std::string& text = std::string(200, 'x')) {
        import_tasks c{account, {}, 0};
        for (int n = 0; n < count; ++n) {
            const auto id = make_uuid_v7({}, 1, static_cast<std::uint64_t>(++drawn));
            c.tasks.push_back({id, {{"description", text}}});
        }
        ASSERT_TRUE(h.run(h.engine().submit(std::move(c))));
    }
    static boost::asio::awaitable<void> waited_for(
        boost::asio::awaitable<result<server_snapshots::shared>> asked,
        std::shared_ptr<made_snapshot> told) {
        *told = co_await std::move(asked);
    }
    static boost::asio::awaitable<void> without_memory(
        boost::asio::awaitable<result<server_snapshots::shared>> asked) {
        try {
            co_await std::move(asked);
            ADD_FAILURE() << "allocation succeeded";
        } catch (const std::bad_alloc&) {
        }
    }
    std::shared_ptr<made_snapshot> start(account_id of, reserve_bytes room) {
        auto told = std::make_shared<made_snapshot>();
        h.spawn(waited_for(made.of(of, std::move(room)), told));
        return told;
    }
    std::shared_ptr<made_snapshot> start() {
        return start(account, [](std::size_t) { return true; });
    }
    server_snapshots::shared ask() {
        const auto told = start();
        h.settle();
        return *told && **told ? ***told : nullptr;
    }
    static std::size_t tasks_in(const server_snapshot& s) {
        return std::get<task_map>(wire::decode_snapshot(s.packed)).size();
    }

    test_server h;
    account_id account = h.make_account("syn", "SYN").id;
    int drawn = 0;
    server_snapshots made{h.engine(), h.clock(), 1'000'000};
};

TEST_F(snapshots, concurrent_and_later_requests_share_one) {
    EXPECT_EQ(ask(), nullptr);  // no tasks yet
    add_tasks(300);
    std::vector<std::shared_ptr<made_snapshot>> told;
    for (int n = 0; n < 64; ++n) {
        told.push_back(start());
        h.step();
    }
    h.settle();
    const auto last = ask();
    ASSERT_TRUE(last);
    EXPECT_EQ(tasks_in(*last), 300u);
    for (const auto& each : told) {
        ASSERT_TRUE(*each && **each);
        EXPECT_EQ(***each, last);
    }
    EXPECT_EQ(made.made(), 1);
    add_tasks(1);
    EXPECT_EQ(tasks_in(*ask()), 301u);
    EXPECT_EQ(made.made(), 2);
}

// A request during the making of a snapshot gets no state older than the request.
TEST_F(snapshots, holds_changes_that_were_made_during_its_making) {
    add_tasks(300);
    const auto first = start();
    for (int n = 0; n < 4; ++n) h.step();
    ASSERT_FALSE(*first);
    import_tasks late{account, {{make_uuid_v7({}, 2, 7), {{"description", "late"}}}}, 0};
    boost::asio::co_spawn(h.io(), h.engine().submit(std::move(late)), boost::asio::detached);
    while (!*first && h.step()) {
    }
    const auto now = ask();
    EXPECT_EQ(tasks_in(*now), 301u);
    EXPECT_LE(made.made(), 2);
}

TEST_F(snapshots, is_complete_though_it_is_compressed_in_steps) {
    server_snapshots large(h.engine(), h.clock(), 64u << 20);
    for (int n = 0; n < 6; ++n) add_tasks(17, std::string(20'000, 'x'));
    auto told = std::make_shared<made_snapshot>();
    h.spawn(waited_for(large.of(account, [](std::size_t) { return true; }), told));
    h.settle();
    ASSERT_TRUE(*told && **told);
    EXPECT_EQ(tasks_in(****told), 6u * 17);
}

TEST_F(snapshots, is_not_made_beyond_the_limit) {
    for (int n = 0; n < 3; ++n) add_tasks(2, std::string(200'000, 'x'));
    EXPECT_EQ(ask(), nullptr);
    EXPECT_EQ(ask(), nullptr);
}

// A snapshot without enough memory is rejected; the next one may succeed.
TEST_F(snapshots, reserves_memory_before_it_is_allocated) {
    add_tasks(300);
    std::size_t asked = 0;
    const auto rejected = start(account, [&](std::size_t bytes) {
        asked += bytes;
        return false;
    });
    const auto waits = start();
    h.settle();
    ASSERT_TRUE(*rejected);
    EXPECT_EQ((*rejected)->error(), errc::overloaded);
    EXPECT_GE(asked, 300u * 200u);
    ASSERT_TRUE(*waits);
    EXPECT_EQ((*waits)->error(), errc::overloaded);
    EXPECT_TRUE(ask());
}

TEST_F(snapshots, of_several_accounts_take_turns) {
    std::vector<account_id> accounts;
    for (int n = 0; n < 6; ++n) {
        account = h.make_account("a" + std::to_string(n), "A").id;
        add_tasks(50);
        accounts.push_back(account);
    }
    std::vector<std::shared_ptr<made_snapshot>> told;
    for (const account_id each : accounts) {
        told.push_back(start(each, [](std::size_t) { return true; }));
    }
    h.settle();
    EXPECT_EQ(made.made(), 6);
    for (const auto& each : told) {
        ASSERT_TRUE(*each && **each);
        EXPECT_EQ(tasks_in(****each), 50u);
    }
}

// The allocation may fail; its slot is free for the next snapshot.
TEST_F(snapshots, one_that_fails_releases_its_slot) {
    add_tasks(300);
    for (std::size_t n = 0; n < server_snapshots::made_at_once_max; ++n) {
        auto fails = [](std::size_t) -> bool { throw std::bad_alloc(); };
        h.spawn(without_memory(made.of(account, fails)));
        h.settle();
    }
    EXPECT_TRUE(ask());
}

// The server is destroyed in the middle: waiting requests end, and nothing is left.
TEST_F(snapshots, may_be_abandoned_in_progress) {
    add_tasks(300);
    auto io = std::make_unique<test_server>(test_server_options{.disk = &h.disk()});
    auto there = std::make_unique<server_snapshots>(io->engine(), io->clock(), 1'000'000);
    for (int n = 0; n < 3; ++n) {
        io->spawn(waited_for(there->of(account, [](std::size_t) { return true; }),
                             std::make_shared<made_snapshot>()));
    }
    for (int n = 0; n < 12; ++n) io->step();
    there.reset();
    io.reset();
    EXPECT_TRUE(ask());
}

}  // namespace
}  // namespace callsign::testing
