#include <callsign/platform/real.hpp>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

namespace callsign::platform {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> wait_into(timer& t, milliseconds span, std::vector<bool>& out) {
    const bool passed = co_await t.wait(span);
    out.push_back(passed);
}

struct real_timer : testing::Test {
    asio::io_context context;
    std::unique_ptr<clock> time = make_real_clock();
    std::unique_ptr<timer> t = time->make_timer(context.get_executor());
    std::vector<bool> out;

    void wait(milliseconds span) {
        asio::co_spawn(context, wait_into(*t, span, out), asio::detached);
    }
    void run() {
        context.run();
        context.restart();
    }
};

TEST_F(real_timer, reports_that_the_span_has_passed) {
    const auto before = std::chrono::steady_clock::now();
    wait(20ms);
    run();
    EXPECT_EQ(out, std::vector<bool>{true});
    EXPECT_GE(std::chrono::steady_clock::now() - before, 20ms);
}

TEST_F(real_timer, a_cancel_ends_the_wait_in_progress) {
    wait(1h);
    asio::post(context, [&] { t->cancel(); });
    run();
    EXPECT_EQ(out, std::vector<bool>{false});
}

TEST_F(real_timer, a_cancel_between_two_waits_applies_to_the_next_one_only) {
    t->cancel();
    t->cancel();
    wait(1h);
    run();
    wait(1ms);
    run();
    EXPECT_EQ(out, (std::vector<bool>{false, true}));
}

// The cancel comes when the span has passed and the waiter is queued to run: there is no wait to
// abort, and the cancel must not be lost.
TEST_F(real_timer, a_cancel_just_after_the_expiry_is_not_lost) {
    wait(0ms);
    context.poll_one();  // the coroutine begins to wait
    asio::post(context, [&] {
        std::this_thread::sleep_for(2ms);
        t->cancel();
    });
    run();
    wait(1ms);
    run();
    EXPECT_EQ(std::count(out.begin(), out.end(), false), 1);
}

TEST(real_clock, is_the_systems_in_milliseconds) {
    const auto before = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
    const time_point now = make_real_clock()->now();
    EXPECT_GE(now, before);
    EXPECT_LE(now, std::chrono::system_clock::now());
}

TEST(real_entropy, fills_the_whole_buffer_with_different_bytes) {
    const auto source = make_real_entropy();
    std::array<std::uint8_t, 4096> a{}, b{};
    source->fill(a);
    source->fill(b);
    EXPECT_NE(a, b);
    // 4096 random bytes hold each value some 16 times; an unfilled tail of zeros would be detected.
    EXPECT_LT(std::count(a.begin(), a.end(), 0), 100);
    source->fill({});
}

}  // namespace
}  // namespace callsign::platform
