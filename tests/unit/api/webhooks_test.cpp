// Webhooks as accounts see them, and what is posted: in order, signed, again after a failure, and
// never left out. Method: what posts is a script of answers that remembers what it was told.

#include "support/faulty_store.hpp"
#include "support/house.hpp"
#include "support/late_reader.hpp"
#include "webhooks/turns.hpp"

#include <callsign/seal/webhook_signature.hpp>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <deque>
#include <gtest/gtest.h>
#include <list>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using asio::awaitable;
using boost::beast::http::verb;
using namespace std::chrono_literals;

constexpr std::array<std::uint8_t, seal::key_bytes> webhooks_master{0x4B, 1, 2, 3};
constexpr std::string_view secret_text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

struct posted {
    net::outgoing_url url;
    net::http_call call;

    std::string header(std::string_view name) const {
        for (const auto& [have, value] : call.headers) {
            if (have == name) return value;
        }
        return {};
    }
    std::vector<std::string> descriptions() const {
        std::vector<std::string> all;
        const json::value body = json::parse(call.body);
        for (const auto& change : body.at("changes").as_array()) {
            const auto& task = change.at("task").as_object();
            const auto* const text = task.if_contains("description");
            all.emplace_back(text ? text->as_string() : "(gone)");
        }
        return all;
    }
};

// Answers 204 unless the script says otherwise.
class receiver final : public net::outgoing {
  public:
    explicit receiver(house& h) : house_(h) {}

    bool may_call(const net::outgoing_url& url) const override { return url.host != "10.0.0.1"; }

    awaitable<boost::system::result<std::vector<asio::ip::tcp::endpoint>>> look_up(
        net::outgoing_url url) override {
        lookups.push_back(url.host);
        const auto executor = co_await asio::this_coro::executor;
        const auto timer = house_.clock().make_timer(executor);
        if (lookup_takes > milliseconds{0}) co_await timer->wait(lookup_takes);
        co_return std::vector<asio::ip::tcp::endpoint>(1);
    }
    awaitable<net::http_outcome> exchange(net::outgoing_url url,
                                          std::vector<asio::ip::tcp::endpoint>,
                                          net::http_call call) override {
        if (stopped) co_return net::http_failure{asio::error::operation_aborted, false};
        calls.push_back({std::move(url), std::move(call)});
        at_once_most = std::max(at_once_most, ++at_once);
        const auto executor = co_await asio::this_coro::executor;
        if (takes > milliseconds{0}) {
            const auto timer = house_.clock().make_timer(executor);
            const bool was_cut = !co_await timer->wait(takes);
            if (was_cut) {
                --at_once;
                co_return net::http_failure{asio::error::operation_aborted, true};
            }
        }
        --at_once;
        if (answers.empty()) co_return net::http_answer{204};
        net::http_outcome next = std::move(answers.front());
        answers.pop_front();
        co_return next;
    }

    void stop() override { stopped = true; }

    // Of all that was posted, in order.
    std::vector<std::string> descriptions() const {
        std::vector<std::string> all;
        for (const posted& p : calls) {
            for (std::string& text : p.descriptions()) all.push_back(std::move(text));
        }
        return all;
    }

    std::deque<net::http_outcome> answers;
    std::vector<posted> calls;
    std::vector<std::string> lookups;
    milliseconds takes{0}, lookup_takes{0};
    int at_once = 0, at_once_most = 0;
    bool stopped = false;

  private:
    house& house_;
};

using texts = std::vector<std::string>;

house_options with_webhooks() {
    house_options options;
    options.service.master_key = std::make_shared<const seal::key_ring>(seal::key(webhooks_master));
    options.service.webhooks.retry_min = 10s;
    options.service.webhooks.retry_max = 60s;
    options.service.webhooks.failures_max = 4;
    options.service.webhooks.account_max = 3;
    options.service.webhooks.changes_max = 2;
    return options;
}

class webhook_api : public ::testing::Test {
  protected:
    explicit webhook_api(house_options options = with_webhooks()) : h(std::move(options)), to(h) {
        account = h.make_account("home", "SYN").id;
        token = h.make_token("home", token_scope::admin);
        h.service().start_webhooks(to, nullptr, h.io().get_executor());
        h.settle();
    }

    json::object call(verb method, const std::string& target, const std::string& body,
                      unsigned status) {
        header_list headers = bearer(token);
        if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
        const auto response = h.call(make_request(method, target, body, headers));
        EXPECT_EQ(response.status, status) << response.body;
        return response.body.empty() ? json::object() : json::parse(response.body).as_object();
    }
    std::string add(const std::string& more = R"(,"after":"0")") {
        const json::object made = call(verb::post, "/v1/webhooks",
                                       R"({"url":"https://example.com/hook?a=b","secret":")" +
                                           std::string(secret_text) + "\"" + more + "}",
                                       201);
        h.settle();
        return std::string(made.at("webhookId").as_string());
    }
    json::object show(const std::string& id) {
        return call(verb::get, "/v1/webhooks/" + id, "", 200);
    }
    json::array attempts(const std::string& id) {
        return call(verb::get, "/v1/webhooks/" + id + "/deliveries", "", 200)
            .at("deliveries")
            .as_array();
    }
    void create(const std::string& description, const std::string& more = {}) {
        const auto made =
            h.call(post("/v1/tasks", R"({"description":")" + description + "\"" + more + "}", token,
                        description));
        ASSERT_EQ(made.status, 201u) << made.body;
        h.settle();
    }
    std::vector<std::string> fields_of(const json::object& problem) {
        std::vector<std::string> all;
        for (const auto& e : problem.at("errors").as_array()) {
            all.emplace_back(e.at("field").as_string());
        }
        return all;
    }
    static net::http_outcome status(unsigned code, net::http_field_list headers = {}) {
        return net::http_answer{code, std::move(headers), {}};
    }
    static net::http_outcome no_answer() {
        return net::http_failure{asio::error::connection_refused, false};
    }

    house h;
    receiver to;
    account_id account;
    std::string token;
};

TEST_F(webhook_api, changes_are_posted_in_their_order) {
    const std::string id = add();
    for (const char* text : {"a", "b", "c"}) create(text);
    EXPECT_EQ(to.descriptions(), (texts{"a", "b", "c"}));
    EXPECT_EQ(to.calls[0].url, (net::outgoing_url{true, "example.com", "443", "/hook?a=b"}));
    EXPECT_EQ(to.calls[0].call.method, "POST");
    EXPECT_EQ(to.calls[0].header("Content-Type"), "application/json");
    const json::object body = json::parse(to.calls[2].call.body).as_object();
    EXPECT_EQ(body.at("webhookId").as_string(), id);
    EXPECT_EQ(body.at("cursor"), show(id).at("cursor"));
    EXPECT_EQ(body.at("changes").at(0).at("seq"), 3);
    EXPECT_EQ(body.at("changes").at(0).at("task").at("key"), "SYN-3");
}

TEST_F(webhook_api, bodies_are_signed_with_its_secret) {
    add();
    create("a");
    const posted& p = to.calls.at(0);
    const auto secret = seal::parse_webhook_secret(secret_text);
    const std::int64_t at = std::stoll(p.header("webhook-timestamp"));
    EXPECT_EQ(at, h.clock().now().time_since_epoch() / 1s);
    EXPECT_EQ(p.header("webhook-signature"),
              seal::webhook_signature(secret->bytes(), p.header("webhook-id"), at, p.call.body));
    EXPECT_EQ(p.call.body.find("whsec"), std::string::npos);
}

TEST_F(webhook_api, what_was_there_before_comes_if_it_is_asked_for) {
    create("before");
    add("");
    const std::string all = add();
    EXPECT_EQ(to.descriptions(), (texts{"before"}));
    EXPECT_EQ(to.calls[0].descriptions(), (texts{"before"}));
    create("after");
    EXPECT_EQ(to.descriptions(), (texts{"before", "after", "after"}));
    const std::string cursor(show(all).at("cursor").as_string());
    add(R"(,"after":")" + cursor + "\"");
    create("last");
    EXPECT_EQ(to.calls.size(), 6u);
}

TEST_F(webhook_api, a_filter_narrows_it) {
    const std::string id = add(R"(,"after":"0","filter":"tag=urgent&status=pending")");
    create("a");
    create("b", R"(,"tags":["urgent"])");
    create("c");
    call(verb::post, "/v1/tasks/SYN-2:complete", "", 200);
    h.settle();
    create("d");
    // It is seen to leave.
    EXPECT_EQ(to.descriptions(), (texts{"b", "b"}));
    EXPECT_EQ(json::parse(to.calls[1].call.body).at("changes").at(0).at("task").at("status"),
              "completed");
    EXPECT_EQ(show(id).at("filter"), "tag=urgent&status=pending");
}

TEST_F(webhook_api, what_failed_is_posted_again_and_nothing_before_it) {
    const std::string id = add();
    to.answers = {};
    to.answers.push_back(status(500));
    to.answers.push_back(no_answer());
    create("a");
    create("b");
    EXPECT_EQ(to.calls.size(), 1u);
    EXPECT_EQ(show(id).at("cursor"), "0");
    EXPECT_EQ(show(id).at("failures"), 1);
    h.advance(8s);
    EXPECT_EQ(to.calls.size(), 1u);
    h.advance(4s);
    EXPECT_EQ(to.calls.size(), 2u);
    h.advance(17s);
    EXPECT_EQ(to.calls.size(), 2u);
    h.advance(6s);
    // The same delivery, whatever came meanwhile; and then the rest.
    ASSERT_EQ(to.calls.size(), 4u);
    EXPECT_EQ(to.descriptions(), (texts{"a", "a", "a", "b"}));
    EXPECT_EQ(to.calls[0].header("webhook-id"), to.calls[2].header("webhook-id"));
    EXPECT_EQ(to.calls[0].call.body, to.calls[2].call.body);
    EXPECT_NE(to.calls[2].header("webhook-id"), to.calls[3].header("webhook-id"));
    EXPECT_EQ(show(id).at("failures"), 0);
    const json::array log = attempts(id);
    ASSERT_EQ(log.size(), 4u);
    EXPECT_EQ(log[3].at("status"), 500);
    EXPECT_EQ(log[2].at("status"), 0);
    EXPECT_NE(log[2].at("error").as_string(), "");
    EXPECT_EQ(log[1].at("delivered"), true);
    EXPECT_EQ(log[0].at("status"), 204);
}

TEST_F(webhook_api, of_a_disabled_account_rest_until_it_is_open_again) {
    const std::string id = add();
    create("a");
    ASSERT_EQ(to.descriptions(), texts{"a"});
    // A task may be made while it is closed: by what was under way.
    ASSERT_TRUE(h.run(h.engine().submit(edit_account{account, {}, true})));
    import_tasks late{account,
                      {{make_uuid_v4(std::array<std::uint8_t, 16>{9}), {{"description", "b"}}}}};
    ASSERT_TRUE(h.run(h.engine().submit(std::move(late))));
    h.advance(60s);
    EXPECT_EQ(to.descriptions(), texts{"a"});
    ASSERT_TRUE(h.run(h.engine().submit(edit_account{account, {}, false})));
    h.advance(1s);
    EXPECT_EQ(to.descriptions(), (texts{"a", "b", "b"}));  // with its key
    EXPECT_EQ(show(id).at("failures"), 0);
}

// Behind the changes that are for it there were others when it was posted first.
TEST_F(webhook_api, a_retry_is_the_same_whatever_its_filter_leaves_out) {
    const std::string id = add(R"(,"after":"0","filter":"tag=urgent")");
    to.takes = 1s;
    create("before");
    create("a", R"(,"tags":["urgent"])");
    for (const char* text : {"b", "c", "d"}) create(text);
    for (int n = 0; n < 3; ++n) to.answers.push_back(status(500));
    h.advance(10min);
    ASSERT_EQ(to.calls.size(), 4u);
    for (const posted& p : to.calls) {
        EXPECT_EQ(p.header("webhook-id"), to.calls[0].header("webhook-id"));
        EXPECT_EQ(p.call.body, to.calls[0].call.body);
    }
    // With the version's mark: no other history, after a restore, gives it to another delivery.
    const auto body = json::parse(to.calls[0].call.body).as_object();
    const std::string cursor(body.at("cursor").as_string());
    EXPECT_EQ(to.calls[0].header("webhook-id"), id + "_" + cursor + "_" + cursor);
}

// What is not for it moves its place, too, durably: else it would be looked at again after each
// restart, until it is not kept any more.
TEST_F(webhook_api, its_place_is_durable_though_nothing_was_for_it) {
    const std::string id = add(R"(,"after":"0","filter":"tag=urgent")");
    for (const char* text : {"a", "b", "c"}) create(text);
    EXPECT_EQ(show(id).at("cursor"), "0");
    h.advance(1min);
    EXPECT_NE(show(id).at("cursor"), "0");
    create("d");
    create("e", R"(,"tags":["urgent"])");
    h.advance(1min);
    EXPECT_EQ(to.descriptions(), (texts{"e"}));
}

TEST_F(webhook_api, a_failure_keeps_what_was_passed_over) {
    const std::string id = add(R"(,"after":"0","filter":"tag=urgent")");
    for (const char* text : {"a", "b", "c"}) create(text);
    to.answers.push_back(status(500));
    create("d", R"(,"tags":["urgent"])");
    const auto kept = h.look([&](read_tx& tx) { return tx.webhooks_of(account); });
    EXPECT_EQ(kept.at(0).after, feed_place{3});
    EXPECT_EQ(kept.at(0).failures, 1);
}

TEST_F(webhook_api, its_server_may_ask_for_a_longer_pause) {
    add();
    to.answers.push_back(status(503, {{"Retry-After", "40"}}));
    create("a");
    h.advance(35s);
    EXPECT_EQ(to.calls.size(), 1u);
    h.advance(10s);
    EXPECT_EQ(to.calls.size(), 2u);
    // But not for an end of it.
    to.answers.push_back(status(503, {{"Retry-After", "1000000"}}));
    create("b");
    h.advance(70s);
    EXPECT_EQ(to.calls.size(), 4u);
}

TEST_F(webhook_api, so_many_failures_disable_it_until_its_owner_says_otherwise) {
    const std::string id = add();
    for (int n = 0; n < 4; ++n) to.answers.push_back(status(302, {{"Location", "/other"}}));
    create("a");
    h.advance(1h);
    EXPECT_EQ(to.calls.size(), 4u);
    EXPECT_EQ(show(id).at("state"), "disabled");
    EXPECT_EQ(show(id).at("reason"), "failures");
    create("b");
    h.advance(1h);
    EXPECT_EQ(to.calls.size(), 4u);
    call(verb::patch, "/v1/webhooks/" + id, R"({"enabled":true})", 200);
    h.advance(1s);
    EXPECT_EQ(show(id).at("state"), "active");
    EXPECT_FALSE(show(id).contains("reason"));
    EXPECT_EQ(to.descriptions(), (texts{"a", "a", "a", "a", "a", "b"}));
}

TEST_F(webhook_api, one_that_is_gone_is_asked_once) {
    const std::string id = add();
    to.answers.push_back(status(410));
    create("a");
    h.advance(1h);
    EXPECT_EQ(to.calls.size(), 1u);
    EXPECT_EQ(show(id).at("reason"), "gone");
}

TEST_F(webhook_api, its_owner_stops_it_and_sets_it_back) {
    const std::string id = add();
    create("a");
    call(verb::patch, "/v1/webhooks/" + id, R"({"enabled":false})", 200);
    create("b");
    h.advance(1h);
    EXPECT_EQ(to.descriptions(), (texts{"a"}));
    EXPECT_EQ(show(id).at("reason"), "by-request");
    call(verb::patch, "/v1/webhooks/" + id, R"({"enabled":true,"after":"0"})", 200);
    h.settle();
    EXPECT_EQ(to.descriptions(), (texts{"a", "a", "b"}));
    call(verb::patch, "/v1/webhooks/" + id, R"({"after":"now"})", 200);
    h.settle();
    create("c");
    EXPECT_EQ(to.descriptions(), (texts{"a", "a", "b", "c"}));
}

// While one is under way, and while one waits to try again.
TEST_F(webhook_api, it_is_removed_at_any_moment) {
    to.takes = 5s;
    const std::string under_way = add();
    const std::string waiting = add();
    to.answers.push_back(status(204));
    to.answers.push_back(status(500));
    create("a");
    EXPECT_EQ(to.calls.size(), 2u);
    call(verb::delete_, "/v1/webhooks/" + under_way, "", 204);
    h.advance(6s);
    call(verb::delete_, "/v1/webhooks/" + waiting, "", 204);
    create("b");
    h.advance(1h);
    EXPECT_EQ(to.calls.size(), 2u);
    call(verb::get, "/v1/webhooks/" + waiting, "", 404);
    call(verb::get, "/v1/webhooks/" + waiting + "/deliveries", "", 404);
    call(verb::delete_, "/v1/webhooks/" + waiting, "", 404);
    EXPECT_TRUE(call(verb::get, "/v1/webhooks", "", 200).at("webhooks").as_array().empty());
}

TEST_F(webhook_api, one_is_posted_to_once_at_a_time_and_an_account_so_often) {
    to.takes = 1s;
    for (int n = 0; n < 3; ++n) add();
    for (const char* text : {"a", "b", "c", "d", "e"}) create(text);
    h.advance(1h);
    EXPECT_EQ(to.at_once_most, 2);
    EXPECT_EQ(to.descriptions().size(), 15u);
}

TEST(webhook_turns, who_has_none_goes_before_who_has_one) {
    virtual_clock clock;
    asio::io_context io;
    {
        api::turns all(clock, {.at_once = 2, .account_at_once = 2});
        std::vector<std::int64_t> order;
        std::list<api::turns::turn> held;
        const auto take = [&](std::int64_t account) {
            asio::co_spawn(io, all.take(account_id{account}),
                           [&, account](const std::exception_ptr&, api::turns::turn mine) {
                               order.push_back(account);
                               held.push_back(std::move(mine));
                           });
            io.restart();
            io.poll();
        };
        for (const int account : {1, 1, 1, 1, 2}) take(account);
        EXPECT_EQ(order, (std::vector<std::int64_t>{1, 1}));
        held.erase(held.begin());
        io.restart();
        io.poll();
        EXPECT_EQ(order, (std::vector<std::int64_t>{1, 1, 2}));
        held.clear();
        io.restart();
        io.poll();
        EXPECT_EQ(order, (std::vector<std::int64_t>{1, 1, 2, 1, 1}));
        held.clear();
    }
}

TEST_F(webhook_api, neighbours_do_not_wait_for_an_account_whose_server_is_slow) {
    to.takes = 30s;
    for (int n = 0; n < 3; ++n) add();
    create("slow");
    EXPECT_EQ(to.calls.size(), 2u);
    h.make_account("next", "NXT");
    token = h.make_token("next", token_scope::admin);
    add();
    to.takes = 0s;
    create("quick");
    EXPECT_EQ(to.calls.back().descriptions(), (texts{"quick"}));
}

// Each holds up a thread.
TEST_F(webhook_api, an_account_has_one_name_looked_up_at_a_time) {
    to.lookup_takes = 30s;
    for (int n = 0; n < 2; ++n) add();
    create("slow");
    EXPECT_EQ(to.lookups.size(), 1u);
    h.make_account("next", "NXT");
    token = h.make_token("next", token_scope::admin);
    add();
    to.lookup_takes = 0s;
    create("quick");
    EXPECT_EQ(to.calls.back().descriptions(), (texts{"quick"}));
    h.advance(30s);
    EXPECT_EQ(to.descriptions(), (texts{"quick", "slow", "slow"}));
}

house_options with_two_lookups() {
    house_options options = with_webhooks();
    options.service.webhooks.lookup_threads = 2;
    return options;
}
struct webhook_lookups : webhook_api {
    webhook_lookups() : webhook_api(with_two_lookups()) {
        add();
        be("next", "NXT");
        be("third", "THI");
    }
    // With a webhook of its own.
    void be(const std::string& name, const std::string& prefix) {
        h.make_account(name, prefix);
        token = h.make_token(name, token_scope::admin);
        add();
    }
    void create_as(const std::string& name, const std::string& text) {
        token = h.make_token(name, token_scope::admin);
        create(text);
    }
};

TEST_F(webhook_lookups, slow_names_of_many_accounts_leave_threads_for_others) {
    to.lookup_takes = 2s;
    create_as("home", "a");
    create_as("next", "b");
    EXPECT_EQ(to.lookups.size(), 2u);
    h.advance(2s);
    EXPECT_EQ(to.descriptions(), (texts{"a", "b"}));
    create_as("home", "c");
    create_as("next", "d");
    EXPECT_EQ(to.lookups.size(), 3u);
    to.lookup_takes = 0s;
    create_as("third", "e");
    EXPECT_EQ(to.descriptions(), (texts{"a", "b", "e"}));
    h.advance(2s);
    EXPECT_EQ(to.descriptions(), (texts{"a", "b", "e", "c", "d"}));
}

TEST_F(webhook_api, wishes_are_read_whole_and_every_fault_is_said) {
    EXPECT_EQ(fields_of(call(verb::post, "/v1/webhooks",
                             R"({"url":"ftp://x/","filter":"tag=a&foo=1&is=blocked","secret":"s",)"
                             R"("after":"?"})",
                             400)),
              (texts{"url", "filter.foo", "filter.is", "after", "secret"}));
    const auto refused = call(verb::post, "/v1/webhooks", R"({"url":"http://10.0.0.1/"})", 400);
    EXPECT_EQ(refused.at("errors").at(0).at("code"), "address-not-allowed");
    EXPECT_EQ(fields_of(call(verb::post, "/v1/webhooks", "{}", 400)), (texts{"url"}));
    const std::string id = add();
    EXPECT_EQ(fields_of(call(verb::patch, "/v1/webhooks/" + id, R"({"after":"x"})", 400)),
              (texts{"after"}));
    EXPECT_EQ(fields_of(call(verb::patch, "/v1/webhooks/" + id, R"({"enabled":null})", 400)),
              (texts{"enabled"}));
    call(verb::patch, "/v1/webhooks/nothing", R"({"enabled":true})", 404);
    EXPECT_EQ(call(verb::post, "/v1/webhooks",
                   R"({"url":"https://example.com/","after":"0123456789ab.7"})", 410)
                  .at("code"),
              "cursor-unknown");
    EXPECT_EQ(fields_of(call(verb::post, "/v1/webhooks",
                             R"({"url":"https://example.com/","filter":"prefix=NO"})", 400)),
              (texts{"prefix"}));
}

TEST_F(webhook_api, an_account_has_so_many) {
    for (int n = 0; n < 3; ++n) add();
    EXPECT_EQ(call(verb::post, "/v1/webhooks", R"({"url":"https://example.com/"})", 409).at("code"),
              "too-many-webhooks");
}

TEST_F(webhook_api, a_secret_is_drawn_and_shown_once) {
    const auto made = call(verb::post, "/v1/webhooks", R"({"url":"https://example.com/"})", 201);
    const std::string text(made.at("secret").as_string());
    EXPECT_TRUE(seal::parse_webhook_secret(text));
    const std::string id(made.at("webhookId").as_string());
    EXPECT_FALSE(show(id).contains("secret"));
    const auto kept = h.look([&](read_tx& tx) { return tx.webhooks_of(account); });
    EXPECT_EQ(kept.at(0).sealed_secret.find(text.substr(6)), std::string::npos);
    const auto other = call(verb::post, "/v1/webhooks", R"({"url":"https://example.com/"})", 201);
    EXPECT_NE(other.at("secret"), made.at("secret"));
}

TEST_F(webhook_api, an_opaque_account_has_none) {
    const std::string operators = h.operator_token();
    const auto made = h.call(post(
        "/v1/admin/accounts", R"({"name":"sealed","prefix":"SEA","mode":"opaque"})", operators));
    ASSERT_EQ(made.status, 201u);
    token = h.make_token("sealed", token_scope::admin);
    EXPECT_EQ(call(verb::post, "/v1/webhooks", R"({"url":"https://example.com/"})", 409).at("code"),
              "account-opaque");
}

// The server stops in the middle of a post: nothing is under way any more, and the webhook is not
// blamed.
TEST_F(webhook_api, a_stop_cuts_off_what_is_under_way) {
    to.takes = 1h;
    const std::string id = add();
    add();
    add();
    create("a");
    EXPECT_EQ(to.at_once, 2);
    bool stopped = false;
    asio::co_spawn(h.io(), h.service().stop_webhooks(),
                   [&](const std::exception_ptr&) { stopped = true; });
    h.settle();
    EXPECT_TRUE(stopped);
    EXPECT_EQ(show(id).at("failures"), 0);
    EXPECT_TRUE(attempts(id).empty());
    create("b");
    h.advance(2h);
    EXPECT_EQ(to.calls.size(), 2u);
}

TEST(webhook_restart, what_was_not_acknowledged_is_posted_again) {
    const auto disk = make_memory_store();
    virtual_clock clock;
    seeded_entropy entropy(1);
    std::string token;
    const auto options = [&] {
        house_options all = with_webhooks();
        all.disk = disk.get();
        all.clock = &clock;
        all.entropy = &entropy;
        return all;
    };
    {
        house h(options());
        receiver to(h);
        h.make_account("home", "SYN");
        token = h.make_token("home", token_scope::admin);
        h.service().start_webhooks(to, nullptr, h.io().get_executor());
        h.call(post("/v1/webhooks", R"({"url":"https://example.com/","after":"0"})", token));
        h.call(post("/v1/tasks", R"({"description":"a"})", token, "a"));
        h.settle();
        EXPECT_EQ(to.descriptions(), (texts{"a"}));
        to.takes = 1h;
        h.call(post("/v1/tasks", R"({"description":"b"})", token, "b"));
        h.settle();
        EXPECT_EQ(to.descriptions(), (texts{"a", "b"}));  // and it dies before the answer
    }
    house h(options());
    receiver to(h);
    h.service().start_webhooks(to, nullptr, h.io().get_executor());
    h.settle();
    EXPECT_EQ(to.descriptions(), (texts{"b"}));
    h.call(post("/v1/tasks", R"({"description":"c"})", token, "c"));
    h.settle();
    EXPECT_EQ(to.descriptions(), (texts{"b", "c"}));
}

// Without the key that its secret is sealed under nothing is posted, and its owner is told.
TEST(webhook_restart, another_master_key_is_no_reason_to_forget_it) {
    const auto disk = make_memory_store();
    virtual_clock clock;
    seeded_entropy entropy(1);
    std::string token;
    house_options options = with_webhooks();
    options.disk = disk.get();
    options.clock = &clock;
    options.entropy = &entropy;
    {
        house h(options);
        h.make_account("home", "SYN");
        token = h.make_token("home", token_scope::admin);
        h.call(post("/v1/webhooks", R"({"url":"https://example.com/","after":"0"})", token));
        h.call(post("/v1/tasks", R"({"description":"a"})", token, "a"));
    }
    house_options without = options;
    without.service.master_key = nullptr;
    {
        house h(without);
        receiver to(h);
        h.service().start_webhooks(to, nullptr, h.io().get_executor());
        h.advance(1s);
        EXPECT_TRUE(to.calls.empty());
        const auto list = h.call(get("/v1/webhooks", token));
        const auto all = json::parse(list.body).at("webhooks").as_array();
        EXPECT_EQ(all.at(0).at("state"), "active");
        EXPECT_EQ(all.at(0).at("failures"), 1);
        EXPECT_EQ(h.call(post("/v1/webhooks", R"({"url":"https://example.com/"})", token)).status,
                  409u);
    }
    house h(options);
    receiver to(h);
    h.service().start_webhooks(to, nullptr, h.io().get_executor());
    h.advance(1s);
    EXPECT_EQ(to.descriptions(), (texts{"a"}));
}

// A commit fails behind a delivery: it is tried again, and nothing is posted before it is durable.
TEST(webhook_disk, a_place_is_durable_before_anything_more_is_posted) {
    const auto disk = make_memory_store();
    faulty_store faults(*disk);
    house_options options = with_webhooks();
    options.disk = &faults;
    house h(std::move(options));
    receiver to(h);
    h.make_account("home", "SYN");
    const std::string token = h.make_token("home", token_scope::admin);
    h.service().start_webhooks(to, nullptr, h.io().get_executor());
    h.call(post("/v1/webhooks", R"({"url":"https://example.com/","after":"0"})", token));
    to.takes = 1s;
    h.call(post("/v1/tasks", R"({"description":"a"})", token, "a"));
    h.call(post("/v1/tasks", R"({"description":"b"})", token, "b"));
    h.settle();
    faults.arm(fault_point::before_any_commit, fault_kind::refuse);
    h.advance(1s);
    EXPECT_FALSE(faults.armed());
    EXPECT_EQ(to.descriptions(), (texts{"a"}));
    h.advance(1h);
    EXPECT_EQ(to.descriptions(), (texts{"a", "b"}));
}

// One webhook with a change for it whose first attempt fails.
class failing_webhook {
  public:
    explicit failing_webhook(milliseconds takes) : faults_(*disk_), h(options_on(faults_)), to(h) {
        to.takes = takes;
        to.answers.emplace_back(net::http_answer{500});
        h.make_account("home", "SYN");
        token_ = h.make_token("home", token_scope::admin);
        h.service().start_webhooks(to, nullptr, h.io().get_executor());
        const auto made =
            h.call(post("/v1/webhooks", R"({"url":"https://example.com/","after":"0"})", token_));
        id_ = json::parse(made.body).at("webhookId").as_string();
        h.settle();
        heard_ = h.engine().events().subscribe([this](const event& e) {
            if (std::holds_alternative<events::webhook_changed>(e)) edited_at = to.calls.size();
        });
        h.start(post("/v1/tasks", R"({"description":"a"})", token_, "a"));
    }

    // False: there is nothing more to do within the next minutes.
    bool step() { return h.step() || h.clock().advance_to_next(1min); }
    void edit() {
        header_list headers = bearer(token_);
        headers.emplace_back("Content-Type", "application/json");
        h.start(make_request(verb::patch, "/v1/webhooks/" + id_, R"({"enabled":true})", headers));
    }
    void refuse_a_commit() { faults_.arm(fault_point::before_any_commit, fault_kind::refuse); }

  private:
    static house_options options_on(store& disk) {
        house_options options = with_webhooks();
        options.disk = &disk;
        options.service.webhooks.retry_min = 30min;
        options.service.webhooks.retry_max = 1h;
        return options;
    }

    std::unique_ptr<store> disk_ = make_memory_store();
    faulty_store faults_;
    std::string token_, id_;

  public:
    house h;
    receiver to;
    std::optional<std::size_t> edited_at;  // behind so many posts

  private:
    hub::subscription heard_;
};

// Its owner enables it anew at any step of an attempt that fails, and the store refuses a commit at
// any step behind that: the next attempt follows at once, and not when a pause is over. What was
// refused behind the edit alone waits for its second.
TEST(webhook_race, an_edit_ends_the_pause_after_a_failure) {
    for (const milliseconds takes : {0ms, 100ms}) {
        bool is_over = false;
        for (int steps = 0; !is_over; ++steps) {
            for (int refused_after = 0; refused_after < 12; ++refused_after) {
                failing_webhook w(takes);
                for (int n = 0; n < steps; ++n) is_over = !w.step();
                w.edit();
                for (int n = 0; n < refused_after; ++n) w.h.step();
                w.refuse_a_commit();
                w.h.advance(takes == 0ms ? 900ms : 1'900ms);
                // One of the requests was refused.
                if (!w.edited_at || w.to.calls.empty()) continue;
                EXPECT_GT(w.to.calls.size(), *w.edited_at)
                    << "edited at step " << steps << ", refused " << refused_after << " later";
            }
        }
    }
}

// At any step: nothing is waited for.
TEST(webhook_race, a_stop_takes_no_time) {
    for (const milliseconds takes : {0ms, 100ms}) {
        bool is_over = false;
        for (int steps = 0; !is_over; ++steps) {
            failing_webhook w(takes);
            for (int n = 0; n < steps; ++n) is_over = !w.step();
            bool has_stopped = false;
            asio::co_spawn(w.h.io(), w.h.service().stop_webhooks(),
                           [&](const std::exception_ptr&) { has_stopped = true; });
            w.h.settle();
            EXPECT_TRUE(has_stopped) << "stopped at step " << steps;
        }
    }
}

TEST(webhook_race, what_comes_while_it_reads_is_not_left_for_later) {
    bool is_over = false;
    for (int at = 1; !is_over; ++at) {
        const auto disk = make_memory_store();
        late_reader late(*disk);
        house_options options = with_webhooks();
        options.disk = &late;
        house h(std::move(options));
        receiver to(h);
        h.make_account("home", "SYN");
        const std::string token = h.make_token("home", token_scope::admin);
        h.service().start_webhooks(to, nullptr, h.io().get_executor());
        h.call(post("/v1/webhooks", R"({"url":"https://example.com/","after":"0"})", token));
        h.settle();
        late.at = late.reads + at;
        late.meanwhile = [&] {
            h.start(post("/v1/tasks", R"({"description":"b"})", token, "b"));
            h.settle();
        };
        h.start(post("/v1/tasks", R"({"description":"a"})", token, "a"));
        h.settle();
        is_over = static_cast<bool>(late.meanwhile);
        auto all = to.descriptions();
        std::ranges::sort(all);
        EXPECT_EQ(all, is_over ? texts{"a"} : (texts{"a", "b"})) << "at read " << at;
    }
}

// It is enabled while it is read that it is not.
TEST(webhook_race, what_is_enabled_while_it_is_read_goes_on) {
    const auto disk = make_memory_store();
    late_reader late(*disk);
    house_options options = with_webhooks();
    options.disk = &late;
    house h(std::move(options));
    receiver to(h);
    h.make_account("home", "SYN");
    const std::string token = h.make_token("home", token_scope::admin);
    h.service().start_webhooks(to, nullptr, h.io().get_executor());
    const auto made =
        h.call(post("/v1/webhooks", R"({"url":"https://example.com/","after":"0"})", token));
    const auto patch = [&](const std::string& body) {
        header_list headers = bearer(token);
        headers.emplace_back("Content-Type", "application/json");
        const json::value shown = json::parse(made.body);
        h.start(make_request(verb::patch,
                             "/v1/webhooks/" + std::string(shown.at("webhookId").as_string()), body,
                             headers));
        h.settle();
    };
    patch(R"({"enabled":false})");
    h.call(post("/v1/tasks", R"({"description":"a"})", token, "a"));
    EXPECT_TRUE(to.calls.empty());
    late.at = late.reads + 1;
    late.meanwhile = [&] { patch(R"({"enabled":true})"); };
    patch(R"({"enabled":false})");
    h.settle();
    EXPECT_FALSE(late.meanwhile);
    EXPECT_EQ(to.descriptions(), (texts{"a"}));
}

// ---- keys of tasks that the server cannot see ----

class key_api : public webhook_api {
  protected:
    key_api() {
        const auto made =
            h.call(post("/v1/admin/accounts", R"({"name":"sealed","prefix":"SEA","mode":"opaque"})",
                        h.operator_token()));
        token = std::string(json::parse(made.body).at("token").as_string());
    }
    net::http_response ask(const std::string& body, std::string_view key = {}) {
        return h.call(post("/v1/keys", body, token, key));
    }

    const std::string one = R"({"uuid":"11111111-1111-4111-8111-111111111111"})";
};

TEST_F(key_api, a_retry_gets_the_same_receipt) {
    const auto first = ask(one);
    ASSERT_EQ(first.status, 201u) << first.body;
    EXPECT_EQ(json::parse(first.body).at("key"), "SEA-1");
    EXPECT_EQ(header(first, "Idempotent-Replayed"), "");
    const auto again = ask(one, "11111111-1111-4111-8111-111111111111");
    EXPECT_EQ(again.status, 201u);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(header(again, "Idempotent-Replayed"), "true");
    EXPECT_EQ(json::parse(ask(R"({"uuid":"11111111-1111-4111-8111-111111111112"})").body).at("key"),
              "SEA-2");
}

TEST_F(key_api, faults_are_said) {
    const auto fields = [&](const std::string& body, std::string_view key = {}) {
        const auto answer = ask(body, key);
        EXPECT_EQ(answer.status, 400u) << answer.body;
        return fields_of(json::parse(answer.body).as_object());
    };
    EXPECT_EQ(fields("{}"), (texts{"uuid"}));
    EXPECT_EQ(fields(R"({"uuid":"x","prefix":"1"})"), (texts{"uuid", "prefix"}));
    EXPECT_EQ(fields(R"({"uuid":"00000000-0000-0000-0000-000000000000"})"), (texts{"uuid"}));
    EXPECT_EQ(fields(one, "another-key"), (texts{"uuid"}));
    EXPECT_EQ(fields(R"({"uuid":"11111111-1111-4111-8111-111111111111","prefix":"no"})"),
              (texts{"prefix"}));
    EXPECT_EQ(json::parse(ask(one).body).at("key"), "SEA-1");
}

TEST_F(key_api, its_tasks_are_not_shown) {
    ask(one);
    const auto shown = h.call(get("/v1/tasks/SEA-1", token));
    EXPECT_EQ(shown.status, 409u);
    EXPECT_EQ(json::parse(shown.body).at("code"), "account-opaque");
    token = h.make_token("home", token_scope::write);
    EXPECT_EQ(json::parse(ask(one).body).at("code"), "account-managed");
}

}  // namespace
}  // namespace callsign::testing
