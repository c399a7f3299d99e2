// Admission and order of commands, queries and long work of several accounts. Network, writer,
// readers and the thread for long work are separate io_contexts, so that a test chooses the order
// of execution. At the end of each test every share must have been released.

#include "engine_by_turns.hpp"
#include "support/faulty_store.hpp"

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <future>
#include <gtest/gtest.h>
#include <map>

namespace callsign {
namespace {

using namespace callsign::testing;
using namespace std::chrono_literals;

struct admission_probe final : engine_probe {
    void rejected(limit what) override { ++turned[what]; }
    std::map<limit, int> turned;
};

class admission : public engine_by_turns {
  protected:
    // Without `offload`: aside_.
    void build(engine_options options = {}, std::size_t readers = 2,
               boost::asio::any_io_executor offload = {}) {
        if (!offload) offload = aside_.get_executor();
        engine_.emplace(store_, clock_, entropy_,
                        executors{.network = network_.get_executor(),
                                  .writer = writer_.get_executor(),
                                  .reader = reader_.get_executor(),
                                  .offload = offload,
                                  .readers = readers},
                        options, probe_, [](const std::string&) {});
        loud_ = make_account("loud");
        quiet_ = make_account("quiet");
    }

    later<create_answer> create(account_id who, std::string key, std::size_t bytes = 1) {
        return engine_by_turns::create(who, std::move(key), std::string(bytes, 'x'));
    }

    template <class T>
    static boost::asio::awaitable<result<int>> one(boost::asio::awaitable<result<T>> asked) {
        const result<T> answer = co_await std::move(asked);
        if (!answer) co_return answer.error();
        co_return 1;
    }
    later<int> ask(account_id who) { return start(one(engine_->ask(find_head{who}))); }
    // A long query: it reads many rows.
    later<int> ask_long(account_id who) {
        return start(one(engine_->ask(list_tokens{account_ref(who), {}})));
    }
    later<int> ask_as_stranger() { return start(one(engine_->ask(find_device{}))); }
    // `what` runs while the query is answered.
    void ask_and(const std::function<bool(std::size_t)>& what) {
        start(one(engine_->ask(find_sealed_snapshot{loud_, what})), true);
    }
    later<int> work_aside(payer who) {
        return start(engine_->offload({who}, [] { return 1; }));
    }

    void run_reader() {
        run_one(reader_);
        run(network_);
    }
    template <class T>
    static bool is_overloaded(const later<T>& r) {
        return *r && (*r)->has_error() && (*r)->error() == errc::overloaded;
    }

    faulty_store store_{*memory_};
    admission_probe probe_;
    account_id loud_;
    account_id quiet_;
};

// ---- commands ----

TEST_F(admission, a_quiet_accounts_command_is_in_the_next_batch) {
    build({.batch_bytes_max = 300'000});
    for (int n = 0; n < 40; ++n) create(loud_, "l" + std::to_string(n), 100'000);
    run_batch();  // reserves all of them
    run_batch();  // fulfils the first ones
    const auto made = create(quiet_, "q");
    EXPECT_FALSE(*made);
    run_batch();
    run_batch();
    EXPECT_TRUE(*made) << "two batches, one for each phase";
    EXPECT_LT(store_.totals()->slots.committed, 20);
    settle();
    EXPECT_EQ(store_.totals()->slots.committed, 41);
}

TEST_F(admission, a_heavy_command_is_a_batch_by_itself) {
    build();
    const auto heavy = create(loud_, "heavy", 600'000);
    const auto light = create(quiet_, "light");
    run_batch();  // both are reserved
    run_batch();
    EXPECT_TRUE(*light);
    EXPECT_FALSE(*heavy);
    run_batch();
    EXPECT_TRUE(*heavy);
}

TEST_F(admission, a_batch_is_limited_by_operations) {
    build({.batch_operations_max = 10});
    std::vector<later<add_version::answer>> all;
    for (int n = 0; n < 4; ++n) {
        add_version segment;
        segment.account = loud_;
        segment.operations.resize(3);
        all.push_back(submit(std::move(segment)));
    }
    run_batch();
    EXPECT_TRUE(*all[1]);
    EXPECT_FALSE(*all[2]) << "4 + 4 + 4 operations";
    run_batch();
    EXPECT_TRUE(*all[3]);
}

// A sweep knows the creations in progress when it was submitted: later ones are applied after it.
TEST_F(admission, no_command_overtakes_a_sweep) {
    build({.batch_commands_max = 1});
    for (int n = 0; n < 3; ++n) create(loud_, "l" + std::to_string(n));
    const auto swept = start(engine_->reconcile({}, 100, 1min));
    const auto after = create(quiet_, "k");
    run_batch();
    ASSERT_TRUE(*swept);
    EXPECT_EQ((*swept)->value().scanned, 0);
    settle();
    EXPECT_TRUE(*after);
}

TEST_F(admission, anonymous_clients_have_one_share) {
    build({.queue_depth_max = 10, .account_depth_max = 2});
    const auto add = [&](std::uint8_t client) {
        add_sealed_version c;
        c.client_id.data[0] = client;
        c.segment = "s";
        c.may_register = true;
        return submit(std::move(c));
    };
    const auto first = add(1);
    const auto second = add(2);
    const auto third = add(3);
    EXPECT_TRUE(is_overloaded(third));
    EXPECT_TRUE(is_overloaded(ask_as_stranger())) << "queries count with commands";
    EXPECT_EQ(probe_.turned[engine_probe::limit::account_depth], 2);
    const auto neighbour = create(quiet_, "k");
    EXPECT_FALSE(is_overloaded(neighbour));
    settle();
    EXPECT_TRUE((*first)->has_value());
    EXPECT_TRUE((*second)->has_value());
    EXPECT_TRUE((*neighbour)->has_value());
}

// ---- queries ----

TEST_F(admission, a_short_query_does_not_wait_for_long_ones) {
    build();
    std::vector<later<int>> longs;
    for (int n = 0; n < 64; ++n) longs.push_back(ask_long(loud_));
    const auto quick = ask(quiet_);
    run_reader();
    run_reader();
    EXPECT_TRUE(*quick) << "with two readers, one has a long query and one is free";
    settle();
    for (const auto& l : longs) EXPECT_EQ((*l)->value(), 1);
}

TEST_F(admission, long_queries_have_a_transaction_each) {
    build();
    const auto before = store_.reads_begun();
    for (int n = 0; n < 3; ++n) ask_long(loud_);
    settle();
    EXPECT_EQ(store_.reads_begun() - before, 3u);
}

TEST_F(admission, an_account_has_its_share_of_the_readers) {
    build({.account_readers_max = 1}, 4);
    std::vector<later<int>> loud;
    for (int n = 0; n < 10; ++n) loud.push_back(ask_long(loud_));
    const auto other = ask_long(quiet_);
    run_reader();
    run_reader();
    EXPECT_TRUE(*loud[0]);
    EXPECT_TRUE(*other);
    EXPECT_FALSE(*loud[2]);
    settle();
    EXPECT_TRUE(*loud[9]);
}

TEST_F(admission, with_one_reader_long_and_short_queries_take_turns) {
    build({}, 1);
    for (int n = 0; n < 10; ++n) ask_long(loud_);
    const auto quick = ask(quiet_);
    run_reader();
    run_reader();
    EXPECT_TRUE(*quick);
}

TEST_F(admission, a_query_past_its_deadline_is_not_executed) {
    build({.request_deadline = 5s});
    const auto before = store_.reads_begun();
    std::vector<later<int>> all;
    for (int n = 0; n < 3; ++n) all.push_back(ask_long(loud_));
    all.push_back(work_aside(loud_));
    all.push_back(work_aside(loud_));
    clock_.advance_to_next(6s);
    settle();
    EXPECT_EQ(store_.reads_begun() - before, 1u) << "a reader had already taken the first";
    EXPECT_EQ((*all[1])->error(), errc::deadline_exceeded);
    EXPECT_EQ((*all[2])->error(), errc::deadline_exceeded);
    EXPECT_EQ((*all[4])->error(), errc::deadline_exceeded);
    EXPECT_EQ(probe_.turned[engine_probe::limit::time], 3);
    EXPECT_EQ(engine_->queue_depth(), 0u);
}

TEST_F(admission, a_short_query_past_its_deadline_is_not_executed_either) {
    build({.request_deadline = 5s}, 1);
    const auto before = store_.reads_begun();
    const auto first = ask(loud_);  // occupies the only reader
    const auto second = ask(loud_);
    clock_.advance_to_next(6s);
    settle();
    EXPECT_EQ(store_.reads_begun() - before, 1u);
    EXPECT_EQ((*first)->value(), 1);
    EXPECT_EQ((*second)->error(), errc::deadline_exceeded);
}

TEST_F(admission, queries_have_a_limit) {
    build({.queue_depth_max = 2, .account_depth_max = 2});
    ask(loud_);
    ask(loud_);
    EXPECT_TRUE(is_overloaded(ask(quiet_)));
    settle();
    const auto again = ask(quiet_);
    settle();
    EXPECT_EQ((*again)->value(), 1);
}

// ---- long work ----

TEST_F(admission, long_work_runs_one_at_a_time_by_account_and_leaves_the_readers_free) {
    build();
    std::vector<later<int>> loud;
    for (int n = 0; n < 10; ++n) loud.push_back(work_aside(loud_));
    const auto other = work_aside(quiet_);
    const auto quick = ask(quiet_);
    run_reader();
    EXPECT_TRUE(*quick);
    for (int n = 0; n < 3; ++n) {
        run_one(aside_);
        EXPECT_EQ(run(aside_), 0u) << "one at a time";
        run(network_);
    }
    EXPECT_TRUE(*loud[0]);
    EXPECT_FALSE(*loud[9]);
    settle();
    EXPECT_TRUE(*other);
    EXPECT_TRUE(*loud[9]);
}

TEST_F(admission, long_work_of_another_account_is_next_in_turn) {
    build();
    constexpr cost heavy{.operations = 20'000};
    std::vector<later<int>> loud;
    const auto work = [&](payer who) {
        return start(engine_->offload({who, heavy}, [] { return 1; }));
    };
    for (int n = 0; n < 10; ++n) loud.push_back(work(loud_));
    const auto other = work(quiet_);
    for (int n = 0; n < 3; ++n) {
        run_one(aside_);
        run(network_);
    }
    EXPECT_TRUE(*other);
    EXPECT_FALSE(*loud[2]);
}

TEST_F(admission, long_work_has_a_pool_of_which_an_account_has_one_thread) {
    build({.offload_threads = 2});
    std::vector<later<int>> loud;
    for (int n = 0; n < 3; ++n) loud.push_back(work_aside(loud_));
    const auto other = work_aside(quiet_);
    EXPECT_EQ(run(aside_), 2u) << "one of each account";
    run(network_);
    EXPECT_TRUE(*loud[0]);
    EXPECT_TRUE(*other);
    EXPECT_FALSE(*loud[1]);
    EXPECT_EQ(run(aside_), 1u);
    settle();
    EXPECT_TRUE(*loud[2]);
}

TEST_F(admission, the_pool_frees_the_place_of_whose_work_has_ended) {
    boost::asio::thread_pool pool(2);
    build({.offload_threads = 2}, 2, pool.get_executor());
    const auto await = [&](const later<int>& done) {
        network_.restart();
        while (!*done) network_.run_one();
    };
    std::promise<void> may_end;
    const auto slow = start(engine_->offload({loud_}, [ends = may_end.get_future().share()] {
        ends.wait();
        return 1;
    }));
    await(work_aside(quiet_));
    std::atomic<bool> begun = false;
    const auto second = start(engine_->offload({loud_}, [&] {
        begun = true;
        return 2;
    }));
    await(work_aside(quiet_));
    EXPECT_FALSE(begun) << "the first one of this account is still running";
    may_end.set_value();
    await(second);
    EXPECT_TRUE(*slow);
    pool.join();
}

// ---- every share is released ----

TEST_F(admission, shares_are_released_on_every_path) {
    build({.queue_bytes_max = 1000, .account_bytes_max = 900, .request_deadline = 5s});
    const auto everything_is_back = [&] {
        EXPECT_EQ(engine_->queue_depth(), 0u);
        // All bytes are free: a command that needs all of them is accepted.
        const auto whole = create(quiet_,
                                  "whole" + std::to_string(clock_.elapsed().count()) +
                                      std::to_string(store_.totals()->slots.committed),
                                  850);
        EXPECT_FALSE(is_overloaded(whole));
        settle();
        EXPECT_TRUE((*whole)->has_value());
    };
    everything_is_back();

    // Commands are rejected repeatedly for lack of a share.
    create(loud_, "large", 800);
    for (int n = 0; n < 50; ++n) EXPECT_TRUE(is_overloaded(create(loud_, "no", 800)));
    settle();
    everything_is_back();

    // The store rejects the commit.
    for (const auto at : {fault_point::before_reserve_commit, fault_point::before_fulfil_commit}) {
        store_.arm(at, fault_kind::reject);
        const auto rejected = create(loud_, "rejected" + std::to_string(int(at)), 800);
        settle();
        EXPECT_EQ((*rejected)->error(), errc::store_rejected);
        everything_is_back();
    }

    // Past the deadline.
    create(loud_, "late", 800);
    clock_.advance_to_next(6s);
    settle();
    everything_is_back();

    // A query or long work throws.
    ask_and([](std::size_t) -> bool { throw std::bad_alloc(); });
    settle();
    ask_and([](std::size_t) -> bool {
        throw store_failure(store_failure::kind::unknown, "a bad page");
    });
    settle();
    start(engine_->offload({loud_, {.bytes = 800}}, []() -> int { throw std::bad_alloc(); }), true);
    settle();
    everything_is_back();

    // Shutdown: queued commands are completed, new ones rejected.
    create(loud_, "last", 800);
    engine_->stop();
    EXPECT_EQ((*create(loud_, "too late"))->error(), errc::shutting_down);
    settle();
    EXPECT_EQ(engine_->queue_depth(), 0u);
}

TEST_F(admission, an_unknown_outcome_releases_shares) {
    build();
    store_.arm(fault_point::before_reserve_commit, fault_kind::unknown_durable);
    create(loud_, "k", 100);
    create(quiet_, "k", 100);
    settle();
    EXPECT_EQ(engine_->queue_depth(), 0u);
    const auto read = ask(quiet_);
    settle();
    EXPECT_EQ((*read)->value(), 1) << "queries still run";
}

// Destroyed coroutine frames release their shares too, before the engine is destroyed or after.
TEST_F(admission, abandoned_work_releases_its_share_and_touches_nothing) {
    build();
    create(loud_, "queued", 100);
    ask_long(loud_);
    ask(loud_);
    work_aside(loud_);
    work_aside(quiet_);
    EXPECT_EQ(engine_->queue_depth(), 5u);
    // Work on a reader or aside is destroyed with it. Frames end on the network's executor.
    reader_.shutdown();
    aside_.shutdown();
    run(network_);
    EXPECT_EQ(engine_->queue_depth(), 2u) << "the engine's own queues hold these";
    engine_.reset();
    run(network_);
}

// ---- waiting for the outcome of a duplicate ----

TEST_F(admission, a_duplicate_past_its_deadline_is_not_notified) {
    build({.request_deadline = 5s});
    const auto first = create(quiet_, "k");
    const auto second = create(quiet_, "k");
    run_batch();  // begun: the first one will be completed
    while (clock_.advance_to_next(5s)) run(network_);
    ASSERT_TRUE(*second);
    EXPECT_TRUE(std::holds_alternative<in_progress>((*second)->value()));
    // The frame of the duplicate is gone; the outcome of the first must not refer to it (verified
    // by AddressSanitizer).
    settle();
    EXPECT_TRUE(std::holds_alternative<receipted>((*first)->value()));
    const auto third = create(quiet_, "k");
    settle();
    EXPECT_TRUE(std::get<receipted>((*third)->value()).replayed);
}

}  // namespace
}  // namespace callsign
