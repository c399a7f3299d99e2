// The turnstile behind its routes: requests that take a turn, end one, or do neither.

#include "support/sync_client.hpp"

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using std::chrono_literals::operator""ms;

struct sync_turns : ::testing::Test {
    std::string add(const std::string& parent, std::string body = "sealed") {
        const auto response = h.call(add_version(client, parent, std::move(body)));
        EXPECT_EQ(response.status, 200u) << response.body;
        return std::string(header(response, "X-Version-Id"));
    }
    auto ask(const std::string& parent) {
        auto answer = h.start(child_of(client, parent));
        h.settle();
        return answer;
    }
    static unsigned status_of(const std::shared_ptr<std::optional<net::http_response>>& answer) {
        return *answer ? (*answer)->status : 0;
    }

    static test_server_options with_turns() {
        test_server_options options;
        options.service.sync.open_registration = true;
        options.service.sync.turnstile = 50ms;
        return options;
    }

    test_server h{with_turns()};
    const std::string client = some_id(1);
};

TEST_F(sync_turns, the_second_gets_the_version_of_the_first) {
    const std::string begun = add(nil_id);
    EXPECT_EQ(status_of(ask(begun)), 404u);  // the end of that sync
    EXPECT_EQ(status_of(ask(begun)), 404u);  // takes the turn
    const auto second = ask(begun);
    EXPECT_EQ(status_of(second), 0u);
    const std::string sent = add(begun);
    EXPECT_EQ(status_of(second), 0u);
    EXPECT_EQ(status_of(ask(sent)), 404u);
    ASSERT_EQ(status_of(second), 200u);
    EXPECT_EQ(header(**second, "X-Version-Id"), sent);
}

TEST_F(sync_turns, a_replica_that_receives_its_own_version_takes_a_turn) {
    const std::string begun = add(nil_id);
    ask(begun);
    ask(begun);
    const std::string sent = add(begun);     // its response is lost
    EXPECT_EQ(status_of(ask(begun)), 200u);  // so the replica receives it
    EXPECT_EQ(status_of(ask(sent)), 404u);
    EXPECT_EQ(status_of(ask(sent)), 0u);
}

TEST_F(sync_turns, a_conflict_is_no_version) {
    const std::string first = add(nil_id);
    const std::string begun = add(first);
    ask(begun);
    EXPECT_EQ(status_of(ask(begun)), 404u);
    EXPECT_EQ(h.call(add_version(client, first, "late")).status, 409u);
    const auto second = ask(begun);
    EXPECT_EQ(status_of(second), 0u);
    h.advance(49ms);
    EXPECT_EQ(status_of(second), 0u);
    h.advance(1ms);
    EXPECT_EQ(status_of(second), 404u);
}

TEST_F(sync_turns, after_a_full_batch_more_may_follow) {
    const std::string begun = add(nil_id, std::string(900'000, 'x'));
    EXPECT_EQ(status_of(ask(begun)), 404u);
    EXPECT_EQ(status_of(ask(begun)), 0u);
}

}  // namespace
}  // namespace callsign::testing
