// Events reach their subscribers in order, once durable, and before a response can be acted on. A
// change that failed has no event.

#include "support/faulty_store.hpp"
#include "support/test_server.hpp"

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace callsign::testing;

TEST(hub, subscribers_are_notified_in_order_until_they_end) {
    hub h;
    std::vector<std::string> told;
    const auto note = [&](std::string who) {
        return [&told, who = std::move(who)](const event& what) {
            told.push_back(who + std::to_string(std::get<events::version_appended>(what).seq));
        };
    };
    const std::vector<event> batch{events::version_appended{account_id{1}, 1},
                                   events::version_appended{account_id{1}, 2}};
    const auto first = h.subscribe(note("a"));
    {
        const auto second = h.subscribe(note("b"));
        h.deliver(batch);
    }
    EXPECT_EQ(told, (std::vector<std::string>{"a1", "b1", "a2", "b2"}));
    told.clear();
    h.deliver(batch);
    EXPECT_EQ(told, (std::vector<std::string>{"a1", "a2"}));
}

TEST(hub, a_subscriber_may_subscribe_and_end_others) {
    hub h;
    std::vector<hub::subscription> more(3);
    int told = 0;
    more[0] = h.subscribe([&](const event&) {
        for (auto& each : more) {
            if (&each != &more[0]) each = h.subscribe([&](const event&) { ++told; });
        }
    });
    const event what = events::outcome_lost{};
    for (int n = 0; n < 100; ++n) h.deliver({&what, 1});
    EXPECT_GT(told, 0);
    more.clear();
    told = 0;
    h.deliver({&what, 1});
    EXPECT_EQ(told, 0);
}

struct engine_events : ::testing::Test {
    engine_events() {
        account = h.make_account("syn", "SYN").id;
        subscription =
            h.engine().events().subscribe([this](const event& what) { happened.push_back(what); });
    }
    auto create(std::string key) {
        reserve r{account, std::move(key), {}, {}, "", {{"description", "x"}}};
        return h.run(h.engine().create(std::move(r)));
    }
    template <class Event>
    std::vector<Event> all() const {
        std::vector<Event> some;
        for (const event& each : happened) {
            if (const auto* what = std::get_if<Event>(&each)) some.push_back(*what);
        }
        return some;
    }

    std::unique_ptr<store> disk = make_memory_store();
    faulty_store failing{*disk};
    test_server h{{.disk = &failing}};
    account_id account;
    std::vector<event> happened;
    hub::subscription subscription;
};

TEST_F(engine_events, a_creation_is_a_version_and_a_settled_slot) {
    ASSERT_TRUE(create("k"));
    ASSERT_EQ(happened.size(), 2u);
    EXPECT_EQ(all<events::version_appended>().at(0).seq, 1);
    EXPECT_EQ(all<events::slot_settled>().at(0).state, slot_state::committed);
    happened.clear();
    ASSERT_TRUE(create("k"));  // a retry changes nothing
    ASSERT_EQ(happened.size(), 1u);
    EXPECT_EQ(all<events::retry_seen>().at(0).found, slot_state::committed);
}

// When the caller gets the response, the subscribers have already run.
TEST_F(engine_events, they_come_before_the_response) {
    bool was_told = false;
    auto asked = [&]() -> boost::asio::awaitable<bool> {
        reserve r{account, "k", {}, {}, "", {{"description", "x"}}};
        const auto answer = co_await h.engine().create(std::move(r));
        was_told = !all<events::slot_settled>().empty();
        co_return answer.has_value();
    };
    EXPECT_TRUE(h.run(asked()));
    EXPECT_TRUE(was_told);
}

TEST_F(engine_events, a_rejected_command_has_no_event) {
    failing.arm(fault_point::before_fulfil_commit, fault_kind::reject);
    EXPECT_EQ(create("k").error(), errc::store_rejected);
    EXPECT_TRUE(happened.empty());
    ASSERT_TRUE(create("k"));
    EXPECT_EQ(all<events::version_appended>().size(), 1u);
}

TEST_F(engine_events, an_unknown_outcome_has_its_own_event) {
    failing.arm(fault_point::before_fulfil_commit, fault_kind::unknown_durable);
    EXPECT_EQ(create("k").error(), errc::outcome_unknown);
    h.settle();
    EXPECT_EQ(all<events::outcome_lost>().size(), 1u);
    EXPECT_TRUE(all<events::version_appended>().empty());
}

TEST_F(engine_events, a_retry_after_its_slot_failed_is_late) {
    reserve r{account, "k", {}, {}, "", {{"description", "x"}}};
    ASSERT_TRUE(h.run(h.engine().submit(std::move(r))));
    h.advance(std::chrono::hours{1});
    ASSERT_EQ(h.run(h.reaper().sweep_once())->failed, 1);
    EXPECT_EQ(all<events::slot_settled>().at(0).state, slot_state::failed);
    happened.clear();
    const auto answer = create("k");
    ASSERT_TRUE(answer && std::holds_alternative<slot_failed>(*answer));
    ASSERT_EQ(all<events::retry_seen>().size(), 1u);
    EXPECT_EQ(all<events::retry_seen>()[0].found, slot_state::failed);
    EXPECT_EQ(all<events::retry_seen>()[0].after, std::chrono::hours{1});
    EXPECT_EQ(happened.size(), 1u);
}

}  // namespace
}  // namespace callsign
