// Goal: no client gets a result that a power cut could revert: responses, events and query results
// wait for the next sync, while the writer continues. Network, writer, reader and sync are separate
// io_contexts, so that a test chooses the order of execution.

#include "engine_by_turns.hpp"
#include "support/forwarding_store.hpp"

#include <callsign/rules/rows/accounts.hpp>

#include <future>
#include <gtest/gtest.h>
#include <thread>

namespace callsign {
namespace {

using namespace callsign::testing;

// Runs a hook during its syncs; a sync can fail.
class watched_store final : public forwarding_store {
  public:
    using forwarding_store::forwarding_store;

    std::unique_ptr<write_tx> begin_write() override {
        ++writes;
        return within_.begin_write();
    }
    void sync() override {
        ++syncs;
        if (during) std::exchange(during, nullptr)();
        if (syncs == fails_at) throw store_failure(store_failure::kind::unknown, "the disk fails");
        within_.sync();
    }

    std::function<void()> during;  // hook of the next sync
    int writes = 0;
    int syncs = 0;
    int fails_at = 0;
};

struct commit_times final : engine_probe {
    void batch_committed(std::size_t commands, std::chrono::nanoseconds,
                         std::chrono::nanoseconds) override {
        batches.push_back(commands);
    }
    void slots_counted(const slot_counts&) override {  // called right after each commit
        ++commits;
        if (on_commit) on_commit();
    }
    std::vector<std::size_t> batches;
    std::function<void()> on_commit;
    int commits = 0;
};

class durable : public engine_by_turns {
  protected:
    durable() {
        engine_.emplace(store_, clock_, entropy_,
                        executors{.network = network_.get_executor(),
                                  .writer = writer_.get_executor(),
                                  .reader = reader_.get_executor(),
                                  .sync = sync_.get_executor()},
                        engine_options{.batch_commands_max = 10}, probe_,
                        [this](std::string why) { fatal_ = std::move(why); });
        told_of_ = engine_->events().subscribe([this](const event& happened) {
            if (std::holds_alternative<events::version_appended>(happened)) ++told_;
        });
        home_ = make_account("home");
        store_.syncs = probe_.commits = 0;
        told_ = 0;
        probe_.batches.clear();
    }
    later<create_token::answer> write(const std::string& name) {
        return submit(create_token{"home", name, token_scope::read, sha256(name)});
    }
    later<create_answer> create(std::string key) {
        return engine_by_turns::create(home_, std::move(key), "x");
    }
    later<find_head::answer> ask() {
        auto asked = start(engine_->ask(find_head{home_}));
        run(reader_);
        run(network_);
        return asked;
    }

    void run_sync() {
        run(sync_);
        run(network_);
    }
    std::int64_t durable_tasks() {
        return accounts::head_of(*memory_->begin_durable_read(), home_).seq;
    }
    std::int64_t committed_tasks() { return accounts::head_of(*memory_->begin_read(), home_).seq; }

    watched_store store_{*memory_};
    commit_times probe_;
    std::optional<std::string> fatal_;
    hub::subscription told_of_;
    int told_ = 0;
    account_id home_;
};

TEST_F(durable, a_creations_second_phase_is_applied_during_the_sync_of_the_first) {
    const auto made = create("k");
    run_batch();  // reserved; its sync waits for the sync thread
    run_batch();  // fulfilled before the sync
    EXPECT_EQ(store_.syncs, 0);
    EXPECT_EQ(committed_tasks(), 1);
    EXPECT_EQ(durable_tasks(), 0);
    EXPECT_FALSE(*made);
    EXPECT_EQ(told_, 0);
    EXPECT_TRUE(probe_.batches.empty());
    run_sync();
    EXPECT_EQ(store_.syncs, 2) << "one for each phase";
    EXPECT_EQ(durable_tasks(), 1);
    EXPECT_TRUE(*made && (*made)->has_value());
    EXPECT_EQ(told_, 1);
    EXPECT_EQ(probe_.batches, (std::vector<std::size_t>{1, 1}));
}

TEST_F(durable, a_commit_during_a_sync_waits_for_the_next_one) {
    const auto made = create("k");
    run_batch();
    store_.during = [this] {
        run_batch();
        EXPECT_EQ(committed_tasks(), 1);
    };
    store_.fails_at = 2;
    run_sync();
    ASSERT_TRUE(*made);
    EXPECT_EQ((*made)->error(), errc::outcome_unknown) << "the second sync was its own";
    EXPECT_EQ(told_, 0);
    EXPECT_TRUE(fatal_);
}

TEST_F(durable, responses_come_in_the_order_of_the_commits) {
    std::vector<int> order;
    const auto note = [&](int n, std::string name) -> boost::asio::awaitable<result<int>> {
        create_token asked{"home", name, token_scope::read, sha256(name)};
        co_await engine_->submit(std::move(asked));
        order.push_back(n);
        co_return n;
    };
    std::vector<later<int>> all;
    for (int n = 0; n < 13; ++n) all.push_back(start(note(n, std::to_string(n))));
    run_batch();  // ten commands; three more are applied before the sync
    run_batch();
    EXPECT_TRUE(order.empty());
    for (int n = 13; n < 15; ++n) all.push_back(start(note(n, std::to_string(n))));
    run_batch();
    run_sync();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
    EXPECT_EQ(store_.syncs, 2) << "the second was for two batches";
    EXPECT_EQ(probe_.batches, (std::vector<std::size_t>{10, 3, 2}));
}

TEST_F(durable, the_writer_syncs_itself_where_nothing_waits) {
    const auto made = write("a");
    run_batch();
    EXPECT_EQ(store_.syncs, 1);
    EXPECT_TRUE(*made);
}

TEST_F(durable, a_large_batch_is_committed_after_the_sync_before_it) {
    std::vector<later<create_token::answer>> all;
    for (int n = 0; n < 15; ++n) all.push_back(write(std::to_string(n)));
    run_batch();  // five are left
    EXPECT_EQ(store_.syncs, 0);
    bool seen = false;
    store_.during = [&] {
        seen = true;
        EXPECT_EQ(probe_.commits, 1);
    };
    run_batch();  // the sync has not begun, so the writer makes it
    EXPECT_TRUE(seen);
    EXPECT_TRUE(*all[9]);
    EXPECT_TRUE(*all[14]);
    EXPECT_EQ(store_.syncs, 2);
    run_sync();
    EXPECT_EQ(store_.syncs, 2) << "the sync thread finds nothing to do";
}

// The sync runs on a thread of its own until the batch is committed, or for a moment.
TEST_F(durable, a_large_batch_waits_for_a_running_sync) {
    for (int n = 0; n < 15; ++n) write(std::to_string(n));
    run_batch();
    std::promise<void> goes_on, committed;
    store_.during = [&] {
        goes_on.set_value();
        const auto meanwhile = committed.get_future().wait_for(std::chrono::milliseconds(100));
        EXPECT_EQ(meanwhile, std::future_status::timeout);
    };
    std::thread syncs([this] { run(sync_); });
    goes_on.get_future().wait();
    probe_.on_commit = [&] { committed.set_value(); };
    run(writer_);
    syncs.join();
    EXPECT_EQ(probe_.commits, 2);
    EXPECT_EQ(store_.syncs, 2);
}

TEST_F(durable, a_large_batch_after_a_failed_sync_is_not_committed) {
    std::vector<later<create_token::answer>> all;
    for (int n = 0; n < 15; ++n) all.push_back(write(std::to_string(n)));
    run_batch();
    store_.fails_at = 1;
    settle();
    EXPECT_EQ((*all[9])->error(), errc::outcome_unknown);
    EXPECT_EQ((*all[14])->error(), errc::shutting_down);
    EXPECT_EQ(probe_.commits, 1);
    EXPECT_EQ(fatal_, "the disk fails");
}

TEST_F(durable, a_query_that_saw_undurable_data_waits_for_its_sync) {
    const auto before = ask();
    EXPECT_TRUE(*before) << "there is no pending sync";
    create("k");
    run_batch();
    run_batch();
    const auto saw_it = ask();
    EXPECT_FALSE(*saw_it);
    run_sync();
    ASSERT_TRUE(*saw_it);
    EXPECT_EQ((*saw_it)->value().seq, 1);
}

TEST_F(durable, a_query_waits_for_the_sync_that_covers_it) {
    create("k");
    run_batch();
    later<find_head::answer> saw_it;
    store_.during = [&] {
        run_batch();
        saw_it = ask();
        store_.during = [&] {  // the second sync
            run(network_);
            EXPECT_FALSE(*saw_it) << "the first sync did not cover it";
        };
    };
    run_sync();
    EXPECT_EQ(store_.syncs, 2);
    EXPECT_TRUE(*saw_it);
}

TEST_F(durable, after_a_failed_sync_outcomes_are_unknown_and_nothing_is_written) {
    const auto known = write("a");
    run_batch();
    store_.fails_at = 2;
    const auto made = create("k");
    run_batch();
    const auto saw_it = ask();
    EXPECT_FALSE(*saw_it);
    run_sync();
    EXPECT_TRUE((*known)->has_value());
    const int writes_before = store_.writes;
    // The second phase was queued.
    settle();
    ASSERT_TRUE(*made && *saw_it);
    EXPECT_EQ((*made)->error(), errc::outcome_unknown) << "its first phase may be durable";
    EXPECT_EQ((*saw_it)->error(), errc::shutting_down);
    EXPECT_EQ(fatal_, "the disk fails");
    const auto begun_too_late = write("b");
    settle();
    EXPECT_EQ((*begun_too_late)->error(), errc::shutting_down);
    EXPECT_EQ(store_.writes, writes_before) << "no transaction is begun";
    EXPECT_EQ(committed_tasks(), 0);
    EXPECT_EQ(store_.syncs, 2);
}

TEST_F(durable, a_commit_after_a_failed_sync_has_an_unknown_outcome_too) {
    const auto first = create("k");
    run_batch();
    store_.during = [this] { run_batch(); };
    store_.fails_at = 1;
    run_sync();
    settle();
    EXPECT_EQ((*first)->error(), errc::outcome_unknown);
    EXPECT_EQ(told_, 0);
    EXPECT_EQ(durable_tasks(), 0);
}

TEST_F(durable, a_query_that_ends_after_a_failed_sync_gets_an_error) {
    create("k");
    run_batch();
    run_batch();
    const auto asked = start(engine_->ask(find_head{home_}));
    run(reader_);  // the query has seen the task, and is returning
    store_.fails_at = 1;
    run(sync_);
    run(network_);
    ASSERT_TRUE(*asked);
    EXPECT_EQ((*asked)->error(), errc::shutting_down);
}

TEST_F(durable, a_wait_for_a_sync_is_abandoned_with_the_engine) {
    const auto made = create("k");
    run_batch();
    const auto saw_it = ask();
    sync_.shutdown();
    writer_.shutdown();
    engine_.reset();
    run(network_);  // coroutines end on this executor
    EXPECT_FALSE(*made);
    EXPECT_EQ(made.use_count(), 1) << "its coroutine is destroyed";
    EXPECT_EQ(saw_it.use_count(), 1);
}

TEST_F(durable, stopping_waits_for_the_pending_sync) {
    const auto made = create("k");
    run_batch();
    engine_->stop();
    bool rests = false;
    boost::asio::co_spawn(network_, engine_->drained(), [&](std::exception_ptr) { rests = true; });
    run(network_);
    run_batch();
    EXPECT_FALSE(rests);
    settle();
    EXPECT_TRUE(rests);
    EXPECT_TRUE((*made)->has_value());
    EXPECT_EQ(durable_tasks(), 1);
}

}  // namespace
}  // namespace callsign
