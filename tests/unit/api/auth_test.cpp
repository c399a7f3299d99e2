#include "api/front/auth.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>
#include <map>
#include <memory>

namespace callsign::api {
namespace {

namespace asio = boost::asio;

// A store whose reads take their snapshot when they begin, and end when the test permits.
class slow_store {
  public:
    explicit slow_store(asio::io_context& io) : gate_(io, asio::steady_timer::time_point::max()) {}

    asio::awaitable<result<std::optional<principal>>> read(digest token_hash) {
        ++reads;
        const auto found = tokens.find(bytes_of(token_hash));
        std::optional<principal> who;
        if (found != tokens.end()) who = found->second;
        if (!open) {
            boost::system::error_code ignored;
            auto token = asio::redirect_error(asio::use_awaitable, ignored);
            co_await gate_.async_wait(token);
        }
        co_return who;
    }

    void let_go() { gate_.cancel(); }

    std::map<std::string, principal, std::less<>> tokens;
    int reads = 0;
    bool open = true;

  private:
    asio::steady_timer gate_;
};

class authenticator_test : public ::testing::Test {
  protected:
    authenticator make(std::size_t principals_max) {
        return authenticator([this](const digest& d) { return store.read(d); }, principals_max);
    }

    digest issue(std::string_view token, token_scope scope) {
        const digest hash = sha256(token);
        store.tokens[std::string(bytes_of(hash))] = {token_id{7}, account_id{1}, scope};
        return hash;
    }

    // Starts a look-up and runs until no handler is ready.
    std::shared_ptr<std::optional<result<std::optional<principal>>>> ask(authenticator& a,
                                                                         digest hash) {
        auto answer = std::make_shared<std::optional<result<std::optional<principal>>>>();
        asio::co_spawn(io, a.ask(hash), [answer](std::exception_ptr, auto who) { *answer = who; });
        settle();
        return answer;
    }

    void settle() {
        io.restart();
        io.poll();
    }

    asio::io_context io;
    slow_store store{io};
};

TEST_F(authenticator_test, caches_principals_that_it_read) {
    auto a = make(10);
    const digest hash = issue("cs_a", token_scope::write);
    EXPECT_EQ(a.remembered(hash), nullptr);
    const auto answer = ask(a, hash);
    ASSERT_TRUE(*answer && **answer && ***answer);
    ASSERT_NE(a.remembered(hash), nullptr);
    EXPECT_EQ(a.remembered(hash)->scope, token_scope::write);
    EXPECT_EQ(store.reads, 1);
}

TEST_F(authenticator_test, does_not_cache_unknown_tokens) {
    auto a = make(10);
    const auto answer = ask(a, sha256("cs_unknown"));
    ASSERT_TRUE(*answer && **answer);
    EXPECT_FALSE(***answer);
    EXPECT_EQ(a.size(), 0u);
}

TEST_F(authenticator_test, is_invalidated_by_a_revocation) {
    auto a = make(10);
    const digest hash = issue("cs_a", token_scope::write);
    ask(a, hash);
    store.tokens.clear();
    a.follow(events::token_revoked{});
    EXPECT_EQ(a.remembered(hash), nullptr);
}

// This applies to both halves of the cache.
TEST_F(authenticator_test, is_invalidated_for_entries_not_used_for_long) {
    auto a = make(4);
    const digest hash = issue("cs_a", token_scope::write);
    ask(a, hash);
    for (int i = 0; i < 3; ++i) ask(a, issue("cs_" + std::to_string(i), token_scope::read));
    EXPECT_EQ(a.size(), 4u);
    store.tokens.clear();
    a.follow(events::token_revoked{});
    EXPECT_EQ(a.remembered(hash), nullptr);
    EXPECT_EQ(a.size(), 0u);
}

TEST_F(authenticator_test, a_read_begun_before_a_revocation_is_read_again) {
    auto a = make(10);
    const digest hash = issue("cs_a", token_scope::write);
    const digest other = issue("cs_b", token_scope::write);
    store.open = false;
    const auto answer = ask(a, hash);
    const auto others = ask(a, other);
    EXPECT_FALSE(*answer);
    store.tokens.erase(std::string(bytes_of(hash)));
    a.follow(events::token_revoked{});
    store.open = true;
    store.let_go();
    settle();
    ASSERT_TRUE(*answer && **answer);
    EXPECT_FALSE(***answer);
    EXPECT_EQ(a.remembered(hash), nullptr);
    ASSERT_TRUE(*others && **others && ***others);
    EXPECT_NE(a.remembered(other), nullptr);
    EXPECT_EQ(store.reads, 4);
}

TEST_F(authenticator_test, endless_revocations_end_with_an_error) {
    auto a = make(10);
    const digest hash = issue("cs_a", token_scope::write);
    store.open = false;
    const auto answer = ask(a, hash);
    for (int n = 0; n < 10 && !*answer; ++n) {
        a.follow(events::token_revoked{});
        store.let_go();
        settle();
    }
    ASSERT_TRUE(*answer);
    EXPECT_FALSE(**answer);
    EXPECT_EQ(a.remembered(hash), nullptr);
    EXPECT_EQ(store.reads, 4);
}

TEST_F(authenticator_test, is_limited_and_keeps_what_is_used) {
    auto a = make(8);
    const digest used = issue("cs_used", token_scope::read);
    ask(a, used);
    for (int i = 0; i < 100; ++i) {
        ask(a, issue("cs_" + std::to_string(i), token_scope::read));
        ASSERT_NE(a.remembered(used), nullptr) << i;
        ASSERT_LE(a.size(), 10u);
    }
    EXPECT_EQ(a.remembered(sha256("cs_0")), nullptr);
}

TEST(bearer_token, is_taken_from_its_header) {
    const auto token_in = [](std::string_view value) {
        net::http_request request;
        request.set(boost::beast::http::field::authorization, {value.data(), value.size()});
        const auto token = bearer_token(request);
        return token ? std::optional<std::string>(*token) : std::nullopt;
    };
    EXPECT_EQ(token_in("Bearer cs_x"), "cs_x");
    EXPECT_EQ(token_in("bearer  cs_x"), "cs_x");
    EXPECT_EQ(token_in("BEARER cs_x"), "cs_x");
    EXPECT_EQ(token_in("Basic cs_x"), std::nullopt);
    EXPECT_EQ(token_in("Bearer"), std::nullopt);
    EXPECT_EQ(bearer_token(net::http_request{}), std::nullopt);
}

}  // namespace
}  // namespace callsign::api
