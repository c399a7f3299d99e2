// What can happen between two servers: one test for each row of the table in docs/elsewhere.md, of
// the row's name. What the client sees, what the operator sees, and that it heals.

#include "between_two_servers.hpp"

#include <gtest/gtest.h>
#include <set>

namespace callsign::testing {
namespace {

using fate = faulty_wire::fate;

// What has no row in that table.
class between_steps : public between {};

TEST_F(between, request_lost) {
    wire_.sends = {fate::lose_request};
    EXPECT_EQ(create("one").status, 201u);
    expect_made("one", "SYN-1");
}

TEST_F(between, answer_lost) {
    wire_.sends = {fate::lose_answer};
    EXPECT_EQ(create("one").status, 201u);
    expect_made("one", "SYN-1");
}

TEST_F(between, answer_cut_off) {
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
    house_->settle();
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
    expect_made("one", "SYN-3");  // theirs were on the chain before it
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
    EXPECT_EQ(state_of("one"), slot_state::in_flight);  // it fails nothing
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
    const auto answer = house_->call(edit);
    EXPECT_EQ(answer.status, 503u);
    EXPECT_EQ(field(answer, "code"), "remote-unavailable");
    wire_.is_down = false;
    advance(10s);
    EXPECT_EQ(chain_.times_said(*parse_uuid(field(create("one"), "uuid")), "x"), 0);
    const auto again = house_->call(edit);
    EXPECT_EQ(again.status, 200u) << again.body;
}

TEST_F(between, full) {
    wire_.is_full = true;
    EXPECT_EQ(create("one").status, 409u);
    advance(2min);
    sweep();
    EXPECT_EQ(state_of("one"), slot_state::in_flight);  // without a fence nothing is failed
    wire_.is_full = false;
    advance(10s);
    sweep();
    advance(10s);
    // By now it is older than the window, and behind a fence: definite.
    const auto answer = create("one");
    EXPECT_TRUE(answer.status == 201 || field(answer, "code") == "slot-failed") << answer.body;
}

TEST_F(between, refused) {
    wire_.is_choosy = true;
    EXPECT_EQ(create("one").status, 409u);
    advance(40s);
    wire_.is_choosy = false;
    sweep();  // behind a fence it is failed
    const auto answer = create("one");
    EXPECT_EQ(answer.status, 409u);
    EXPECT_EQ(field(answer, "code"), "slot-failed");
    EXPECT_NE(answer.body.find("not-delivered"), std::string::npos);
    EXPECT_EQ(create("two").status, 201u);
    expect_made("two", "SYN-1");  // the other has consumed nothing
}

TEST_F(between, wrong_secret) {
    wire_.answer = sink_failure{sink_failure::kind::wrong_secret, "It does not open.", {}};
    EXPECT_EQ(create("one").status, 409u);
    EXPECT_EQ(status().last_error, "It does not open.");
    wire_.answer.reset();
    advance(10s);
    expect_made("one", "SYN-1");
}

TEST_F(between, client_not_let_in) {
    wire_.answer = sink_failure{sink_failure::kind::unknown_client, "Status 403.", {}};
    EXPECT_EQ(create("one").status, 409u);
    EXPECT_EQ(status().last_error, "Status 403.");
    wire_.answer.reset();
    advance(10s);
    expect_made("one", "SYN-1");
}

TEST_F(between, rubbish) {
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
    house_->settle();
    EXPECT_EQ(state_of("one"), slot_state::in_flight);
    kill();
    wire_.is_down = false;
    advance(10s);
    EXPECT_EQ(state_of("one"), slot_state::committed);  // nobody had to ask again
    expect_made("one", "SYN-1");
}

TEST_F(between, killed_after_delivery) {
    wire_.sends = {fate::lose_answer};
    begin("one");
    house_->settle();
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
        for (int n = 0; n < 100; ++n) house_->step();
    };
    // At the commit that settles it: the version is on the chain.
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

// The client comes back at any step of the settlement, in its batch even: it is answered when that
// is durable, and not at its deadline.
TEST_F(between_steps, retry_beside_the_settlement) {
    bool is_over = false;
    for (int steps = 0; !is_over; ++steps) {
        const std::string key = "at-" + std::to_string(steps);
        wire_.is_down = true;
        begin(key);
        house_->settle();
        kill();
        wire_.is_down = false;
        for (int n = 0; n < steps; ++n) {
            if (!house_->step()) clock_.advance_to_next(10s);
        }
        is_over = state_on_disk(key) != slot_state::in_flight;
        const auto retried = begin(key);
        for (milliseconds waited{0}; waited < 1s && !*retried; waited += 50ms) advance(50ms);
        ASSERT_TRUE(*retried) << "no answer after a retry at step " << steps;
        EXPECT_EQ((**retried).status, 201u) << (**retried).body;
        ASSERT_LT(steps, 1'000);
    }
}

TEST_F(between, killed_before_the_key) {
    wire_.sends = {fate::none, fate::unreachable};
    begin("one");
    house_->settle();
    EXPECT_EQ(state_of("one"), slot_state::committed);
    EXPECT_EQ(chain_.times_said(chain_.tasks().begin()->first, "SYN-1"), 0);
    kill();
    advance(10s);
    expect_made("one", "SYN-1");
}

TEST_F(between, killed_inside_a_lookup) {
    wire_.sends = {fate::lose_answer};
    begin("one");
    house_->settle();
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
    EXPECT_THROW(sweep(), killed);  // the fence is on the chain, and nobody here knows
    wire_.meanwhile = {};
    EXPECT_EQ(chain_.links().size(), 1u);
    kill();
    advance(10s);
    sweep();
    advance(10s);
    const auto answer = create("one");
    EXPECT_TRUE(answer.status == 201 || field(answer, "code") == "slot-failed") << answer.body;
}

// ---- what the other server has ----

TEST_F(between, put_back_from_a_backup) {
    create("one");
    advance(10s);
    create("two");
    advance(10s);
    // It is not believed at once, and what it says is told meanwhile.
    const chain_in_memory whole = chain_;
    chain_.go_back(2);
    EXPECT_EQ(awaited_error(1min), "It says that it has not what it had; it is asked again.");
    EXPECT_TRUE(status().last_error_at);
    EXPECT_EQ(status().now, remote_status::state::waiting);
    EXPECT_EQ(status().halted, remote_halt::none);
    chain_ = whole;
    advance(10s);
    EXPECT_EQ(status().last_error, "");
    EXPECT_EQ(status().now, remote_status::state::up_to_date);
    chain_.go_back(2);
    advance(10min);
    EXPECT_EQ(status().halted, remote_halt::gone_back);
    const auto refused = create("three");
    EXPECT_EQ(refused.status, 503u);
    EXPECT_EQ(field(refused, "code"), "remote-halted");
    const auto links = chain_.links().size();
    edit_remote go_on{.account = account_, .accept_loss = true};
    ASSERT_TRUE(house_->run(house_->engine().submit(go_on)));
    advance(10s);
    EXPECT_EQ(status().halted, remote_halt::none);
    EXPECT_GE(chain_.links().size(), links);
    expect_made("three", "SYN-3");  // the number of what was lost is never given again
}

TEST_F(between, account_lost_there) {
    create("one");
    advance(10s);
    create("two");
    advance(10s);
    chain_.lose_all();
    advance(20min);
    EXPECT_EQ(status().halted, remote_halt::gone_back);
    EXPECT_TRUE(chain_.links().empty());  // nothing was sent into the gap
}

TEST_F(between, old_versions_deleted_there) {
    create("one");
    advance(10s);
    house_.reset();
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

TEST_F(between, no_beginning_there) {
    create("one");
    advance(10s);
    for (int n = 0; n < 5; ++n) work_elsewhere(n);
    house_.reset();
    chain_.forget_all_but(1);
    start();
    EXPECT_EQ(awaited_error(1min),
              "It says that its history has no beginning, and has no snapshot; it is asked again.");
    EXPECT_EQ(status().halted, remote_halt::none);
    advance(10min);
    EXPECT_EQ(status().halted, remote_halt::incomplete);
    EXPECT_EQ(create("two").status, 503u);
    // A replica's sync makes a snapshot; a person says that it goes on.
    chain_.make_snapshot();
    ASSERT_TRUE(house_->run(house_->engine().submit(edit_remote{.account = account_})));
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

TEST_F(between, task_too_large_there) {
    const uuid id = work_elsewhere(1);
    chain_.add(chain_.head(),
               {{operation_kind::update, id, "notes", std::string(task_bytes_max + 1, 'x'),
                 precise_time(virtual_start)}});
    advance(10s);
    EXPECT_NE(status().last_error.find("larger"), std::string::npos);
    EXPECT_EQ(status().halted, remote_halt::none);
}

// ---- here ----

TEST_F(between, killed_while_it_moves) {
    effects_max_ = 2;
    std::set<std::int64_t> killed_at;
    for (int steps = 0; steps < 400; steps += 7) {
        wire_.sends = {fate::none, steps % 2 == 0 ? fate::none : fate::lose_answer};
        auto tasks = move_there(7);
        for (int n = 0; n < steps; ++n) house_->step();
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

// Its tasks there are lost with the version they were in; here they are all.
TEST_F(between, put_back_while_it_moves) {
    effects_max_ = 2;
    const auto tasks = move_there(7);
    wire_.meanwhile = [&] { wire_.is_deaf = chain_.links().size() == 2; };
    advance(10s);
    ASSERT_TRUE(remote()->moving);
    ASSERT_GE(chain_.links().size(), 2u);
    chain_.go_back(1);
    wire_.meanwhile = {};
    wire_.is_deaf = false;
    for (int n = 0; n < 60 && status().halted == remote_halt::none; ++n) advance(2s);
    ASSERT_EQ(status().halted, remote_halt::gone_back);
    house_->start_command(edit_remote{.account = account_, .accept_loss = true});
    let_it_move();
    expect_there(tasks);
}

// Somebody syncs there already, and what is there is taken over; what is not there yet is not gone.
TEST_F(between, old_versions_deleted_while_it_moves) {
    effects_max_ = 2;
    auto tasks = move_there(7);
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

TEST_F(between, disk_full_here) {
    create("one");
    advance(10s);
    for (int n = 0; n < 3; ++n) {
        work_elsewhere(n);
        faulty_->arm(fault_point::before_any_commit, fault_kind::refuse);
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
