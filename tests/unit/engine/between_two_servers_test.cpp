// Faults between two servers: one test for each row of the table in docs/remote-accounts.md, with
// the name of the row. Each verifies what the client sees, what the operator sees, and the
// recovery.

#include "between_two_servers.hpp"

#include <gtest/gtest.h>
#include <set>

namespace callsign::testing {
namespace {

using fate = faulty_wire::fate;

// Tests without a row in that table.
class between_steps : public between {};

TEST_F(between, request_lost) {
    wire_.sends = {fate::lose_request};
    EXPECT_EQ(create("one").status, 201u);
    expect_made("one", "SYN-1");
}

TEST_F(between, response_lost) {
    wire_.sends = {fate::lose_answer};
    EXPECT_EQ(create("one").status, 201u);
    expect_made("one", "SYN-1");
}

TEST_F(between, response_truncated) {
    wire_.sends = {fate::broken};
    wire_.asks = {fate::none, fate::broken};
    EXPECT_EQ(create("one").status, 201u);
    expect_made("one", "SYN-1");
}

TEST_F(between, copy_arrives_late) {
    wire_.sends = {fate::delay};
    EXPECT_EQ(create("one").status, 201u);
    EXPECT_TRUE(wire_.deliver_late(chain_));
    EXPECT_EQ(wire_.late_landed, 0);
    expect_made("one", "SYN-1");
}

TEST_F(between, copy_arrives_before_it_is_sent_again) {
    wire_.sends = {fate::delay};
    const auto answer = begin("one");
    server_->settle();
    ASSERT_FALSE(answer->has_value());
    EXPECT_TRUE(wire_.deliver_late(chain_));
    EXPECT_EQ(wire_.late_landed, 1);
    advance(2s);
    ASSERT_TRUE(answer->has_value());
    EXPECT_EQ((*answer)->status, 201u);
    expect_made("one", "SYN-1");
}

TEST_F(between, request_doubled) {
    wire_.sends = {fate::twice};
    EXPECT_EQ(create("one").status, 201u);
    EXPECT_TRUE(wire_.deliver_late(chain_));
    EXPECT_EQ(wire_.late_landed, 0);
    expect_made("one", "SYN-1");
}

TEST_F(between, another_was_first) {
    wire_.meanwhile = [this, n = 0]() mutable {
        if (n++ < 2) work_elsewhere(n);
    };
    EXPECT_EQ(create("one").status, 201u);
    expect_made("one", "SYN-3");  // the versions of another replica came first
}

TEST_F(between, untrue_conflict) {
    wire_.sends = {fate::untrue};
    EXPECT_EQ(create("one").status, 201u);
    expect_made("one", "SYN-1");
}

TEST_F(between, untrue_gone) {
    create("one");
    wire_.asks = {fate::untrue};
    advance(10s);
    EXPECT_EQ(status().halted, remote_halt::none);
    expect_made("one", "SYN-1");
}

TEST_F(between, unreachable) {
    wire_.is_down = true;
    const auto answer = create("one");
    EXPECT_EQ(answer.status, 409u);
    EXPECT_EQ(field(answer, "code"), "request-in-progress");
    EXPECT_FALSE(header(answer, "Retry-After").empty());
    EXPECT_FALSE(status().last_error.empty());
    EXPECT_EQ(status().now, remote_status::state::waiting);
    advance(10min);
    sweep();
    EXPECT_EQ(state_of("one"), slot_state::in_flight);  // the slot does not fail
    wire_.is_down = false;
    advance(10s);
    EXPECT_TRUE(status().last_error.empty());
    expect_made("one", "SYN-1");
}

TEST_F(between, edit_while_unreachable) {
    create("one");
    advance(5s);
    wire_.is_down = true;
    auto edit = make_request(boost::beast::http::verb::patch, "/v1/tasks/SYN-1",
                             R"({"description":"x"})", bearer(token_));
    edit.set("Content-Type", "application/json");
    const auto answer = server_->call(edit);
    EXPECT_EQ(answer.status, 503u);
    EXPECT_EQ(field(answer, "code"), "remote-unavailable");
    wire_.is_down = false;
    advance(10s);
    EXPECT_EQ(chain_.times_said(*parse_uuid(field(create("one"), "uuid")), "x"), 0);
    const auto again = server_->call(edit);
    EXPECT_EQ(again.status, 200u) << again.body;
}

TEST_F(between, full) {
    wire_.is_full = true;
    EXPECT_EQ(create("one").status, 409u);
    advance(2min);
    sweep();
    EXPECT_EQ(state_of("one"), slot_state::in_flight);  // without a fence no slot fails
    wire_.is_full = false;
    advance(10s);
    sweep();
    advance(10s);
    // The slot is now older than the window and behind a fence: its outcome is final.
    const auto answer = create("one");
    EXPECT_TRUE(answer.status == 201 || field(answer, "code") == "slot-failed") << answer.body;
}

TEST_F(between, rejected) {
    wire_.is_choosy = true;
    EXPECT_EQ(create("one").status, 409u);
    advance(40s);
    wire_.is_choosy = false;
    sweep();  // the slot fails behind a fence
    const auto answer = create("one");
    EXPECT_EQ(answer.status, 409u);
    EXPECT_EQ(field(answer, "code"), "slot-failed");
    EXPECT_NE(answer.body.find("not-delivered"), std::string::npos);
    EXPECT_EQ(create("two").status, 201u);
    expect_made("two", "SYN-1");  // the failed creation has taken no number
}

TEST_F(between, wrong_secret) {
    wire_.answer = sink_failure{sink_failure::kind::wrong_secret, "It does not open.", {}};
    EXPECT_EQ(create("one").status, 409u);
    EXPECT_EQ(status().last_error, "It does not open.");
    wire_.answer.reset();
    advance(10s);
    expect_made("one", "SYN-1");
}

TEST_F(between, client_rejected) {
    wire_.answer = sink_failure{sink_failure::kind::unknown_client, "Status 403.", {}};
    EXPECT_EQ(create("one").status, 409u);
    EXPECT_EQ(status().last_error, "Status 403.");
    wire_.answer.reset();
    advance(10s);
    expect_made("one", "SYN-1");
}

TEST_F(between, invalid_response) {
    wire_.answer = sink_failure{sink_failure::kind::unreadable, "It does not parse.", {}};
    EXPECT_EQ(create("one").status, 409u);
    EXPECT_EQ(status().last_error, "It does not parse.");
    wire_.answer.reset();
    advance(10s);
    expect_made("one", "SYN-1");
}

TEST_F(between, certificate_not_valid) {
    wire_.answer = sink_failure{sink_failure::kind::unreachable, "certificate verify failed", {}};
    EXPECT_EQ(create("one").status, 409u);
    EXPECT_EQ(status().last_error, "certificate verify failed");
    wire_.answer.reset();
    advance(10s);
    expect_made("one", "SYN-1");
}

TEST_F(between, master_key_missing) {
    has_key_ = false;
    kill();
    EXPECT_EQ(create("one").status, 409u);
    EXPECT_NE(status().last_error.find("master key"), std::string::npos);
    has_key_ = true;
    kill();
    advance(10s);
    expect_made("one", "SYN-1");
}

// ---- killed ----

TEST_F(between, killed_before_delivery) {
    wire_.is_down = true;
    begin("one");
    server_->settle();
    EXPECT_EQ(state_of("one"), slot_state::in_flight);
    kill();
    wire_.is_down = false;
    advance(10s);
    EXPECT_EQ(state_of("one"), slot_state::committed);  // no client had to retry
    expect_made("one", "SYN-1");
}

TEST_F(between, killed_after_delivery) {
    wire_.sends = {fate::lose_answer};
    begin("one");
    server_->settle();
    EXPECT_EQ(chain_.links().size(), 1u);
    EXPECT_EQ(state_of("one"), slot_state::in_flight);
    kill();
    advance(10s);
    EXPECT_EQ(state_of("one"), slot_state::committed);
    expect_made("one", "SYN-1");
}

TEST_F(between, killed_before_settling) {
    begin("one");
    const auto strike = [&] {
        for (int n = 0; n < 100; ++n) server_->step();
    };
    // Killed at the commit that settles the slot: the version is on the chain.
    wire_.meanwhile = [&] { faulty_->arm(fault_point::before_any_commit, fault_kind::kill); };
    EXPECT_THROW(strike(), killed);
    wire_.meanwhile = {};
    EXPECT_EQ(chain_.links().size(), 1u);
    EXPECT_EQ(disk_->totals()->slots.in_flight, 1);
    kill();
    advance(10s);
    EXPECT_EQ(state_of("one"), slot_state::committed);
    expect_made("one", "SYN-1");
}

// The client retries at any step of the settlement, even in its batch: the response comes when the
// settlement is durable, not at the deadline.
TEST_F(between_steps, retry_during_the_settlement) {
    bool is_over = false;
    for (int steps = 0; !is_over; ++steps) {
        const std::string key = "at-" + std::to_string(steps);
        wire_.is_down = true;
        begin(key);
        server_->settle();
        kill();
        wire_.is_down = false;
        for (int n = 0; n < steps; ++n) {
            if (!server_->step()) clock_.advance_to_next(10s);
        }
        is_over = state_on_disk(key) != slot_state::in_flight;
        const auto retried = begin(key);
        for (milliseconds waited{0}; waited < 1s && !*retried; waited += 50ms) advance(50ms);
        ASSERT_TRUE(*retried) << "no response after a retry at step " << steps;
        EXPECT_EQ((**retried).status, 201u) << (**retried).body;
        ASSERT_LT(steps, 1'000);
    }
}

TEST_F(between, killed_before_the_key) {
    wire_.sends = {fate::none, fate::unreachable};
    begin("one");
    server_->settle();
    EXPECT_EQ(state_of("one"), slot_state::committed);
    EXPECT_EQ(chain_.times_said(chain_.tasks().begin()->first, "SYN-1"), 0);
    kill();
    advance(10s);
    expect_made("one", "SYN-1");
}

TEST_F(between, killed_inside_a_lookup) {
    wire_.sends = {fate::lose_answer};
    begin("one");
    server_->settle();
    faulty_->arm(fault_point::before_any_commit, fault_kind::kill);
    EXPECT_THROW(advance(10s), killed);
    kill();
    advance(10s);
    EXPECT_EQ(state_of("one"), slot_state::committed);
    expect_made("one", "SYN-1");
}

TEST_F(between, killed_inside_a_fence) {
    wire_.is_choosy = true;
    create("one");
    advance(40s);
    wire_.is_choosy = false;
    wire_.meanwhile = [&] { faulty_->arm(fault_point::before_any_commit, fault_kind::kill); };
    // the fence is on the chain, and the local server has not recorded it
    EXPECT_THROW(sweep(), killed);
    wire_.meanwhile = {};
    EXPECT_EQ(chain_.links().size(), 1u);
    kill();
    advance(10s);
    sweep();
    advance(10s);
    const auto answer = create("one");
    EXPECT_TRUE(answer.status == 201 || field(answer, "code") == "slot-failed") << answer.body;
}

// ---- remote data loss ----

TEST_F(between, restored_from_a_backup) {
    create("one");
    advance(10s);
    create("two");
    advance(10s);
    // One report does not halt the account; meanwhile status shows it as the last error.
    const chain_in_memory whole = chain_;
    chain_.go_back(2);
    EXPECT_EQ(awaited_error(1min), "The remote server reports missing versions; rechecking.");
    EXPECT_TRUE(status().last_error_at);
    EXPECT_EQ(status().now, remote_status::state::waiting);
    EXPECT_EQ(status().halted, remote_halt::none);
    chain_ = whole;
    advance(10s);
    EXPECT_EQ(status().last_error, "");
    EXPECT_EQ(status().now, remote_status::state::up_to_date);
    chain_.go_back(2);
    advance(10min);
    EXPECT_EQ(status().halted, remote_halt::history_lost);
    const auto rejected = create("three");
    EXPECT_EQ(rejected.status, 503u);
    EXPECT_EQ(field(rejected, "code"), "remote-halted");
    const auto links = chain_.links().size();
    edit_remote go_on{.account = account_, .accept_loss = true};
    ASSERT_TRUE(server_->run(server_->engine().submit(go_on)));
    advance(10s);
    EXPECT_EQ(status().halted, remote_halt::none);
    EXPECT_GE(chain_.links().size(), links);
    expect_made("three", "SYN-3");  // numbers of lost tasks are not reused
}

TEST_F(between, remote_account_lost) {
    create("one");
    advance(10s);
    create("two");
    advance(10s);
    chain_.lose_all();
    advance(20min);
    EXPECT_EQ(status().halted, remote_halt::history_lost);
    EXPECT_TRUE(chain_.links().empty());  // nothing was sent before the versions were missed
}

TEST_F(between, remote_versions_deleted) {
    create("one");
    advance(10s);
    server_.reset();
    for (int n = 0; n < 5; ++n) work_elsewhere(n);
    chain_.make_snapshot();
    chain_.forget_all_but(1);
    start();
    advance(10s);
    EXPECT_EQ(status().now, remote_status::state::up_to_date);
    expect_made("one", "SYN-1");
    EXPECT_EQ(create("two").status, 201u);
    expect_made("two", "SYN-7");
}

TEST_F(between, remote_history_incomplete) {
    create("one");
    advance(10s);
    for (int n = 0; n < 5; ++n) work_elsewhere(n);
    server_.reset();
    chain_.forget_all_but(1);
    start();
    EXPECT_EQ(awaited_error(1min),
              "The remote server reports an incomplete history without a snapshot; rechecking.");
    EXPECT_EQ(status().halted, remote_halt::none);
    advance(10min);
    EXPECT_EQ(status().halted, remote_halt::history_incomplete);
    EXPECT_EQ(create("two").status, 503u);
    // A replica's sync makes a snapshot; then the operator resumes the account.
    chain_.make_snapshot();
    ASSERT_TRUE(server_->run(server_->engine().submit(edit_remote{.account = account_})));
    advance(10s);
    expect_made("two", "SYN-7");
}

TEST_F(between, key_overwritten) {
    create("one");
    advance(10s);
    const uuid id = chain_.tasks().begin()->first;
    for (int n = 0; n < 30; ++n) {
        chain_.add(chain_.head(),
                   {{operation_kind::update, id, "key", "MINE-1", precise_time(clock_.now())}});
        advance(5s);
    }
    EXPECT_EQ(chain_.times_said(id, "SYN-1"), key_corrections_max + 1);
    EXPECT_EQ(create("one").status, 201u);
}

TEST_F(between, remote_task_too_large) {
    const uuid id = work_elsewhere(1);
    chain_.add(chain_.head(),
               {{operation_kind::update, id, "notes", std::string(task_bytes_max + 1, 'x'),
                 precise_time(virtual_start)}});
    advance(10s);
    EXPECT_NE(status().last_error.find("larger"), std::string::npos);
    EXPECT_EQ(status().halted, remote_halt::none);
}

// ---- local events ----

TEST_F(between, killed_during_a_move) {
    effects_max_ = 2;
    std::set<std::int64_t> killed_at;
    for (int steps = 0; steps < 400; steps += 7) {
        wire_.sends = {fate::none, steps % 2 == 0 ? fate::none : fate::lose_answer};
        auto tasks = move_to_remote(7);
        for (int n = 0; n < steps; ++n) server_->step();
        if (const auto row = remote(); row && row->moving) killed_at.insert(row->moving->tasks);
        const bool is_begun = remote().has_value();
        kill();
        if (!is_begun) continue;
        const auto unread = begin("later");
        let_it_move();
        advance(30s);
        tasks.push_back(*parse_uuid(field(create("later"), "uuid")));
        advance(10s);
        expect_there(tasks);
        for (const uuid& id : tasks) EXPECT_EQ(chain_.creations(id), 1) << steps;
    }
    EXPECT_GE(killed_at.size(), 3u);
}

// The remote server loses a version with moved tasks; the local server still has all of them.
TEST_F(between, restored_during_a_move) {
    effects_max_ = 2;
    const auto tasks = move_to_remote(7);
    wire_.meanwhile = [&] { wire_.is_deaf = chain_.links().size() == 2; };
    advance(10s);
    ASSERT_TRUE(remote()->moving);
    ASSERT_GE(chain_.links().size(), 2u);
    chain_.go_back(1);
    wire_.meanwhile = {};
    wire_.is_deaf = false;
    for (int n = 0; n < 60 && status().halted == remote_halt::none; ++n) advance(2s);
    ASSERT_EQ(status().halted, remote_halt::history_lost);
    server_->start_command(edit_remote{.account = account_, .accept_loss = true});
    let_it_move();
    expect_there(tasks);
}

// Replicas already sync with the remote server; their tasks are imported, and tasks that were not
// moved yet are not taken for deleted ones.
TEST_F(between, remote_versions_deleted_during_a_move) {
    effects_max_ = 2;
    auto tasks = move_to_remote(7);
    wire_.meanwhile = [&] { wire_.is_deaf = chain_.links().size() == 2; };
    advance(10s);
    ASSERT_TRUE(remote()->moving);
    wire_.is_down = true;
    advance(1s);
    tasks.push_back(work_elsewhere(1));
    tasks.push_back(work_elsewhere(2));
    chain_.make_snapshot();
    chain_.forget_all_but(1);
    wire_.meanwhile = {};
    wire_.is_down = wire_.is_deaf = false;
    advance(10s);
    let_it_move();
    advance(10s);
    expect_there(tasks);
}

TEST_F(between, local_disk_full) {
    create("one");
    advance(10s);
    for (int n = 0; n < 3; ++n) {
        work_elsewhere(n);
        faulty_->arm(fault_point::before_any_commit, fault_kind::reject);
        advance(20s);
    }
    faulty_->disarm();
    advance(10s);
    EXPECT_EQ(status().now, remote_status::state::up_to_date);
    EXPECT_EQ(create("two").status, 201u);
    expect_made("two", "SYN-5");
}

}  // namespace
}  // namespace callsign::testing
