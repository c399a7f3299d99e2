// The queue, the writer and the workflow of a creation: limits, deadlines, waiting, errors,
// shutdown. Network and writer are separate io_contexts, so that a test chooses the order of
// execution.

#include "engine_by_turns.hpp"
#include "support/faulty_store.hpp"

#include <callsign/rules/rows/tasks.hpp>

namespace callsign {
namespace {

using namespace callsign::testing;
using namespace std::chrono_literals;

struct counting_probe final : engine_probe {
    void batch_committed(std::size_t commands, std::chrono::nanoseconds,
                         std::chrono::nanoseconds) override {
        batches.push_back(commands);
    }
    void create_answered(create_outcome outcome) override { outcomes.push_back(outcome); }
    void retry_seen(milliseconds after, bool late) override { retries.emplace_back(after, late); }

    std::vector<std::size_t> batches;
    std::vector<create_outcome> outcomes;
    std::vector<std::pair<milliseconds, bool>> retries;
};

class engine_test : public engine_by_turns {
  protected:
    void build(engine_options options = {}) {
        engine_.emplace(
            store_, clock_, entropy_,
            executors{network_.get_executor(), writer_.get_executor(), network_.get_executor()},
            options, probe_, [this](std::string why) { fatal_ = std::move(why); });
        account_ = make_account("home");
        probe_.batches.clear();
    }

    later<create_answer> create(std::string key, std::string description = "x",
                                std::optional<account_id> who = {}) {
        return engine_by_turns::create(who.value_or(account_), std::move(key),
                                       std::move(description));
    }

    static const receipted& given(const later<create_answer>& r) {
        return std::get<receipted>(r->value().value());
    }

    faulty_store store_{*memory_};
    counting_probe probe_;
    std::optional<std::string> fatal_;
    account_id account_;
};

// Throws once, at an admission.
struct throwing_probe final : engine_probe {
    void queue_depth_changed(std::size_t depth) override {
        if (depth > 0 && left > 0 && --left == 0) throw std::bad_alloc();
    }
    void batch_committed(std::size_t, std::chrono::nanoseconds, std::chrono::nanoseconds) override {
        ++batches;
    }

    int left = 0;  // throws at the last of this many admissions
    int batches = 0;
};

struct engine_that_throws : engine_test {
    throwing_probe throwing_;
};

// The creation throws in progress, while its task is being sent to a remote server.
TEST_F(engine_that_throws, a_creation_that_threw_is_not_waited_for) {
    engine_.emplace(
        store_, clock_, entropy_,
        executors{network_.get_executor(), writer_.get_executor(), network_.get_executor()},
        engine_options{}, throwing_, [this](std::string why) { fatal_ = std::move(why); });
    create_account c{"team", "SYN", "t", sha256("team")};
    c.remote = create_account::remote_endpoint{"http://127.0.0.1:1", uuid{}, "key"};
    const auto made = submit(std::move(c));
    settle();
    const account_id team = std::get<account>(made->value().value()).id;
    const auto request = [&] {
        reserve r;
        r.account = team;
        r.key = "k";
        r.attributes = {{"description", "x"}};
        return r;
    };
    throwing_.left = 2;  // its admission, then its look-up of the outcome
    const auto first = start(engine_->create(request()), true);
    const auto beside = start(engine_->create(request()));
    settle();
    EXPECT_EQ(throwing_.left, 0);
    EXPECT_FALSE(*first);

    // The duplicate has retried by itself, and now waits for the remote server.
    EXPECT_FALSE(*beside);
    const int before = throwing_.batches;
    while (clock_.advance_to_next(engine_->request_deadline())) settle();
    ASSERT_TRUE(*beside);
    EXPECT_TRUE(std::holds_alternative<in_progress>((*beside)->value()));
    // A later duplicate waits for no other request.
    const auto later = start(engine_->create(request()));
    settle();
    EXPECT_GT(throwing_.batches, before);
    while (clock_.advance_to_next(engine_->request_deadline())) settle();
    ASSERT_TRUE(*later);
    EXPECT_TRUE(std::holds_alternative<in_progress>((*later)->value()));
    EXPECT_EQ(engine_->queue_depth(), 0u);
}

TEST_F(engine_test, all_waiting_commands_share_a_commit) {
    build();
    std::vector<later<create_answer>> all;
    for (int n = 0; n < 10; ++n) all.push_back(create("k" + std::to_string(n)));
    settle();
    EXPECT_EQ(probe_.batches, (std::vector<std::size_t>{10, 10}));  // reserve, then fulfil
    for (int n = 0; n < 10; ++n)
        EXPECT_EQ(given(all[static_cast<std::size_t>(n)]).receipt.number, n + 1);
}

TEST_F(engine_test, a_batch_is_limited_by_commands) {
    build({.batch_commands_max = 3});
    for (int n = 0; n < 7; ++n) create("k" + std::to_string(n));
    run_batch();
    EXPECT_EQ(probe_.batches, (std::vector<std::size_t>{3}));
    settle();
}

TEST_F(engine_test, a_batch_of_large_requests_is_small) {
    build({.batch_bytes_max = 1000});
    for (int n = 0; n < 4; ++n) create("k" + std::to_string(n), std::string(400, 'x'));
    run_batch();  // a reservation carries the key only, whatever the size of its task
    run_batch();
    run_batch();
    EXPECT_EQ(probe_.batches, (std::vector<std::size_t>{4, 2, 2}));
    settle();
}

// The cost of an edit depends on its task, which is unknown until it is read.
TEST_F(engine_test, a_batch_ends_by_the_work_that_was_done) {
    build({.batch_work_max = 1'000'000});
    const auto other = make_account("other");
    const auto large = create("large", std::string(300'000, 'x'));
    settle();
    const task_ref of = given(large).receipt.uuid;
    probe_.batches.clear();
    std::vector<later<edit_task::answer>> edits;
    for (int n = 0; n < 20; ++n) {
        edits.push_back(submit(edit_task{account_, of, {{"n", std::to_string(n)}}}));
    }
    const auto light = create("light", "x", other);
    const auto done = [&] {
        return std::count_if(edits.begin(), edits.end(), [](const auto& e) { return bool(*e); });
    };
    run_batch();
    const std::size_t first = probe_.batches.at(0);
    EXPECT_GE(first, 1u);
    EXPECT_LE(first, 4u);
    EXPECT_EQ(done(), static_cast<std::ptrdiff_t>(first));
    // This command was taken from the queue with the others, and is not queued behind later ones.
    run_batch();
    run_batch();
    EXPECT_TRUE(*light);
    EXPECT_LT(done(), 12);
    settle();
    EXPECT_EQ(done(), 20);
    // The edits were applied in their order, each once.
    const auto now = tasks::find(*memory_->begin_read(), account_, given(large).receipt.uuid);
    EXPECT_EQ(now->attributes.at("n"), "19");
    EXPECT_EQ(now->last_seq, given(large).receipt.seq + 20);
}

// Wherever the batch ends, and whichever of its parts did not fit into it.
class failed_batches : public engine_test, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(failed_batches, apply_each_command_once_and_in_order) {
    build({.batch_work_max = GetParam()});
    const auto large = create("large", std::string(300'000, 'x'));
    settle();
    const task_ref of = given(large).receipt.uuid;
    store_.reject_key("guilty", store_failure::kind::rejected);
    std::vector<later<edit_task::answer>> edits;
    std::vector<later<create_answer>> made;
    for (int n = 0; n < 12; ++n) {
        edits.push_back(submit(edit_task{account_, of, {{"n", std::to_string(n)}}}));
        made.push_back(create(n == 5 ? "guilty" : "k" + std::to_string(n)));
    }
    settle();
    std::int64_t last = 0;
    for (const auto& e : edits) {
        const auto* const done = std::get_if<edit_task::edited>(&**(*e));
        ASSERT_TRUE(done);
        EXPECT_GT(done->now.last_seq, last);
        last = done->now.last_seq;
    }
    for (std::size_t n = 0; n < made.size(); ++n) {
        ASSERT_TRUE(*made[n]) << n;
        EXPECT_EQ((*made[n])->has_value(), n != 5) << n;
    }
    EXPECT_EQ(tasks::find(*memory_->begin_read(), account_, given(large).receipt.uuid)
                  ->attributes.at("n"),
              "11");
}

INSTANTIATE_TEST_SUITE_P(work, failed_batches,
                         ::testing::Values(1, 500'000, 1'000'000, 1'500'000, 2'500'000, 4'000'000));

TEST_F(engine_test, no_response_is_sent_before_the_commit) {
    build();
    const auto one = create("k");
    EXPECT_FALSE(*one);
    run_batch();  // reserved, no task yet
    EXPECT_FALSE(*one);
    EXPECT_EQ(store_.totals()->slots.pending, 1);
    run_batch();
    ASSERT_TRUE(*one);
    EXPECT_EQ(store_.totals()->slots.committed, 1);
}

TEST_F(engine_test, a_full_queue_rejects_and_changes_nothing) {
    build({.queue_depth_max = 2});
    create("a");
    create("b");
    const auto rejected = create("c");
    EXPECT_EQ(rejected->value().error(), errc::overloaded);
    settle();
    EXPECT_EQ(store_.totals()->slots.committed, 2);
    const auto again = create("c");
    settle();
    EXPECT_EQ(given(again).receipt.number, 3);
}

TEST_F(engine_test, a_queue_is_full_of_bytes_too) {
    build({.queue_bytes_max = 1000});
    create("half", std::string(600, 'x'));
    EXPECT_EQ(create("other half", std::string(600, 'x'))->value().error(), errc::overloaded);
    settle();
    const auto after = create("other half", std::string(600, 'x'));
    settle();
    EXPECT_EQ(given(after).receipt.number, 2);
}

TEST_F(engine_test, one_request_larger_than_the_queue_is_accepted) {
    build({.queue_bytes_max = 1000});
    create("small");
    create("large", std::string(5000, 'x'));
    EXPECT_EQ(create("large too", std::string(5000, 'x'))->value().error(), errc::overloaded);
    create("small too");
    settle();
    EXPECT_EQ(store_.totals()->slots.committed, 3);
    const auto after = create("large too", std::string(5000, 'x'));
    settle();
    EXPECT_EQ(given(after).receipt.number, 4);
}

TEST_F(engine_test, an_account_cannot_fill_the_queue_alone) {
    build({.queue_depth_max = 10, .account_depth_max = 2});
    create_account other{"other", "OTH", "t", sha256("other")};
    const auto made = submit(std::move(other));
    settle();
    const auto neighbour = std::get<account>(made->value().value()).id;
    create("a");
    create("b");
    EXPECT_EQ(create("c")->value().error(), errc::overloaded);
    const auto served = create("a", "x", neighbour);
    settle();
    EXPECT_EQ(given(served).receipt.number, 1);
}

TEST_F(engine_test, a_request_past_its_deadline_is_dropped_without_effect) {
    build({.request_deadline = 5s});
    const auto late = create("a");
    clock_.advance_to_next(6s);
    settle();
    EXPECT_EQ(late->value().error(), errc::deadline_exceeded);
    EXPECT_EQ(store_.totals()->slots.pending, 0);
}

TEST_F(engine_test, setting_the_wall_clock_ends_no_deadline) {
    build({.request_deadline = 5s});
    const auto one = create("a");
    clock_.step_wall(24h);
    const auto other = create("b");
    clock_.step_wall(-48h);
    settle();
    EXPECT_EQ(given(one).receipt.number, 1);
    EXPECT_EQ(given(other).receipt.number, 2);
}

TEST_F(engine_test, a_begun_creation_runs_to_its_end) {
    build({.request_deadline = 5s});
    const auto slow = create("a");
    run_batch();
    clock_.advance_to_next(6s);
    settle();
    EXPECT_EQ(given(slow).receipt.number, 1);
}

TEST_F(engine_test, a_retry_waits_for_the_outcome_of_the_first) {
    build();
    const auto first = create("k");
    const auto second = create("k");
    const auto third = create("k", "another payload");
    EXPECT_FALSE(*second);
    settle();
    EXPECT_FALSE(given(first).replayed);
    EXPECT_TRUE(given(second).replayed);
    EXPECT_EQ(given(second).receipt, given(first).receipt);
    EXPECT_TRUE(std::holds_alternative<key_conflict>(third->value().value()));
    EXPECT_EQ(store_.totals()->slots.committed, 1);
}

TEST_F(engine_test, a_retry_that_waits_until_its_deadline_gets_in_progress) {
    build({.request_deadline = 5s});
    create("k");
    const auto second = create("k");
    while (clock_.advance_to_next(5s)) run(network_);
    ASSERT_TRUE(*second);
    EXPECT_TRUE(std::holds_alternative<in_progress>(second->value().value()));
}

TEST_F(engine_test, a_retry_whose_first_was_rejected_is_executed) {
    build();
    store_.arm(fault_point::before_reserve_commit, fault_kind::reject);
    const auto first = create("k");
    const auto second = create("k");
    settle();
    EXPECT_EQ(first->value().error(), errc::store_rejected);
    EXPECT_EQ(given(second).receipt.number, 1);
}

TEST_F(engine_test, a_rejected_phase_2_leaves_a_slot_that_a_retry_fulfils) {
    build();
    store_.arm(fault_point::before_fulfil_commit, fault_kind::reject);
    const auto first = create("k");
    settle();
    EXPECT_EQ(first->value().error(), errc::store_rejected);
    EXPECT_EQ(store_.totals()->slots.pending, 1);
    clock_.step_wall(3s);
    const auto second = create("k");
    settle();
    EXPECT_EQ(given(second).receipt.number, 1);
    ASSERT_EQ(probe_.retries.size(), 1u);
    EXPECT_EQ(probe_.retries[0], std::pair(milliseconds{3s}, false));
}

TEST_F(engine_test, an_unknown_outcome_is_the_end) {
    build();
    store_.arm(fault_point::before_reserve_commit, fault_kind::unknown_durable);
    const auto in_batch = create("k");
    run_batch();
    EXPECT_EQ(in_batch->value().error(), errc::outcome_unknown);
    ASSERT_TRUE(fatal_);
    EXPECT_FALSE(engine_->accepting());
    EXPECT_EQ(create("next")->value().error(), errc::shutting_down);
}

TEST_F(engine_test, stopping_completes_queued_commands) {
    build();
    const auto queued = create("a");
    engine_->stop();
    EXPECT_EQ(create("b")->value().error(), errc::shutting_down);
    bool drained = false;
    boost::asio::co_spawn(network_, engine_->drained(),
                          [&](std::exception_ptr) { drained = true; });
    run(network_);
    EXPECT_FALSE(drained);
    settle();
    EXPECT_TRUE(drained);
    EXPECT_EQ(given(queued).receipt.number, 1);
}

TEST_F(engine_test, time_in_a_store_never_goes_back) {
    build();
    const auto first = create("a");
    settle();
    clock_.step_wall(-1h);
    const auto second = create("b");
    settle();
    EXPECT_GE(given(second).receipt.created_at, given(first).receipt.created_at);
}

TEST_F(engine_test, a_query_sees_committed_data) {
    build();
    create("a");
    settle();
    const auto asked = start(engine_->ask(find_account{account_}));
    settle();
    EXPECT_EQ(asked->value().value()->head.seq, 1);
}

TEST_F(engine_test, queries_submitted_together_share_a_transaction) {
    build();
    const auto before = store_.reads_begun();
    std::vector<later<find_account::answer>> asked;
    for (int i = 0; i < 3; ++i) asked.push_back(spawn(engine_->ask(find_account{account_})));
    settle();
    for (const auto& answer : asked) EXPECT_EQ(answer->value().value()->name, "home");
    EXPECT_EQ(store_.reads_begun() - before, 1u);
}

TEST_F(engine_test, many_queries_are_spread_over_the_readers) {
    build();
    const auto before = store_.reads_begun();
    std::vector<later<find_account::answer>> asked;
    for (int i = 0; i < 100; ++i) asked.push_back(spawn(engine_->ask(find_account{account_})));
    settle();
    for (const auto& answer : asked) EXPECT_EQ(answer->value().value()->name, "home");
    EXPECT_GT(store_.reads_begun() - before, 1u);
    EXPECT_LT(store_.reads_begun() - before, 10u);
}

TEST_F(engine_test, a_failed_query_fails_alone) {
    build();
    const auto fails = [](std::size_t) -> bool {
        throw store_failure(store_failure::kind::unknown, "a bad page");
    };
    const auto one = spawn(engine_->ask(find_account{account_}));
    const auto none = spawn(engine_->ask(find_sealed_child{.account = account_, .reserve = fails}));
    const auto two = spawn(engine_->ask(find_account{account_}));
    settle();
    EXPECT_EQ(one->value().value()->name, "home");
    EXPECT_EQ(none->value().error(), errc::store_unavailable);
    EXPECT_EQ(two->value().value()->name, "home");
}

// ---- work outside the network thread ----

class aside : public engine_by_turns {
  protected:
    aside() {
        engine_.emplace(
            *memory_, clock_, entropy_,
            executors{network_.get_executor(), network_.get_executor(), reader_.get_executor()},
            engine_options{}, probe_, [](const std::string&) {});
    }

    engine_probe probe_;
};

TEST_F(aside, runs_on_the_reader_and_resumes_on_the_network) {
    std::optional<std::string> done;
    const boost::asio::io_context* ran_on = nullptr;
    auto work = [&] {
        ran_on = reader_.get_executor().running_in_this_thread() ? &reader_ : &network_;
        return std::string("made");
    };
    boost::asio::co_spawn(network_, engine_->offload(payer::system(), std::move(work)),
                          [&](std::exception_ptr, result<std::string> made) {
                              EXPECT_TRUE(network_.get_executor().running_in_this_thread());
                              done = std::move(*made);
                          });
    run(network_);
    EXPECT_EQ(ran_on, nullptr) << "the network must be free during the work";
    run(reader_);
    EXPECT_EQ(ran_on, &reader_);
    EXPECT_FALSE(done);
    run(network_);
    EXPECT_EQ(done, "made");
}

TEST_F(aside, an_exception_is_rethrown_on_the_network) {
    bool thrown = false;
    auto work = []() -> int { throw std::bad_alloc(); };
    boost::asio::co_spawn(network_, engine_->offload(payer::system(), work),
                          [&](std::exception_ptr what, const result<int>&) {
                              EXPECT_THROW(std::rethrow_exception(what), std::bad_alloc);
                              thrown = true;
                          });
    run(network_);
    run(reader_);
    run(network_);
    EXPECT_TRUE(thrown);
}

}  // namespace
}  // namespace callsign
