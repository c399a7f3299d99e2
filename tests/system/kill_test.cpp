// Goal: acknowledged tasks survive SIGKILL at any instant, and a key creates one task whatever its
// clients do. Method: pairs of twins (twins.hpp) create tasks and retry until the outcome is known,
// while the server is killed at random and restarted. CALLSIGN_SYSTEM_ROUNDS sets the number of
// kills, CALLSIGN_SYSTEM_SEED determines keys and moments.

#include "support/setting.hpp"
#include "twins.hpp"

#include <random>
#include <thread>

namespace callsign::testing {
namespace {

using kill_test = system_test;

TEST_F(kill_test, what_was_acknowledged_survives_kills_at_any_instant) {
    const auto rounds = setting("CALLSIGN_SYSTEM_ROUNDS").value_or(12);
    const auto seed = system_seed();
    SCOPED_TRACE("CALLSIGN_SYSTEM_SEED=" + std::to_string(seed));
    constexpr unsigned pairs = 6;

    auto s = start();
    twins_crew all{s->port(), make_account(*s, "crew", prefixes[0]), {}, {}};
    http_client owner(s->port(), all.token);
    const auto series = owner.post_json("/v1/series", R"({"prefix":"INC"})");
    ASSERT_TRUE(series && series->status == 201);

    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 2 * pairs; ++i)
        threads.emplace_back(&twins_crew::work, &all, seed + i / 2, seed + 1000 + i);
    std::mt19937_64 random(seed);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        all.book.await(all.book.acknowledged() + 1 + random() % 300);
        // A random delay, so that a kill does not always follow a response; nothing is expected to
        // have happened by its end.
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 10'000));
        s->child().kill();
        s->start();
    }
    all.done = true;
    for (std::thread& t : threads) t.join();

    EXPECT_EQ(all.book.faults(), "");
    audit_numbers(all.book);
    audit_replays(*s, all.token, all.book);
    s->child().kill();
    expect_sound();
    RecordProperty("creations", std::to_string(all.book.entries().size()));
}

TEST_F(kill_test, a_key_whose_client_went_away_is_finished_by_its_retry) {
    auto s = start();
    const std::string token = make_account(*s, "solo", "SYN");
    const creation c{"left-behind", R"({"description":"Sent, and never waited for"})"};
    for (int i = 0; i < 20; ++i) {
        // The whole request is sent, and the server dies before or after receiving it: in either
        // case there is one task at the end.
        http_client sender(s->port(), token);
        ASSERT_TRUE(sender.send("POST /v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                                token + "\r\nContent-Type: application/json\r\n" +
                                "Idempotency-Key: \"" + c.key + std::to_string(i) +
                                "\"\r\nContent-Length: " + std::to_string(c.body.size()) +
                                "\r\n\r\n" + c.body));
        s->child().kill();
        s->start();
        retrying_client again(s->port(), token, 1);
        const auto answer = again.create(c.key + std::to_string(i), c.body, give_up_after(timeout));
        ASSERT_TRUE(answer.has_value()) << "no definite response";
        ASSERT_EQ(answer->status, 201u) << answer->body;
        EXPECT_EQ(json::parse(answer->body).at("number").to_number<int>(), i + 1);
    }
    s->child().kill();
    expect_sound();
}

}  // namespace
}  // namespace callsign::testing
