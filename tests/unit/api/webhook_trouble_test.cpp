// No change is lost or delayed unnecessarily in any fault: a crash, a wrong master key, a commit
// that fails, an edit at any step.

#include "support/faulty_store.hpp"
#include "support/late_reader.hpp"
#include "webhooks_fixture.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

TEST(webhook_restart, an_unacknowledged_delivery_is_posted_again) {
    const auto disk = make_memory_store();
    virtual_clock clock;
    seeded_entropy entropy(1);
    std::string token;
    const auto options = [&] {
        test_server_options all = with_webhooks();
        all.disk = disk.get();
        all.clock = &clock;
        all.entropy = &entropy;
        return all;
    };
    {
        test_server h(options());
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
        EXPECT_EQ(to.descriptions(), (texts{"a", "b"}));  // and it crashes before the response
    }
    test_server h(options());
    receiver to(h);
    h.service().start_webhooks(to, nullptr, h.io().get_executor());
    h.settle();
    EXPECT_EQ(to.descriptions(), (texts{"b"}));
    h.call(post("/v1/tasks", R"({"description":"c"})", token, "c"));
    h.settle();
    EXPECT_EQ(to.descriptions(), (texts{"b", "c"}));
}

// Without the key that decrypts its secret nothing is posted, and status shows the failure.
TEST(webhook_restart, a_wrong_master_key_does_not_remove_it) {
    const auto disk = make_memory_store();
    virtual_clock clock;
    seeded_entropy entropy(1);
    std::string token;
    test_server_options options = with_webhooks();
    options.disk = disk.get();
    options.clock = &clock;
    options.entropy = &entropy;
    {
        test_server h(options);
        h.make_account("home", "SYN");
        token = h.make_token("home", token_scope::admin);
        h.call(post("/v1/webhooks", R"({"url":"https://example.com/","after":"0"})", token));
        h.call(post("/v1/tasks", R"({"description":"a"})", token, "a"));
    }
    test_server_options without = options;
    without.service.master_key = nullptr;
    {
        test_server h(without);
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
    test_server h(options);
    receiver to(h);
    h.service().start_webhooks(to, nullptr, h.io().get_executor());
    h.advance(1s);
    EXPECT_EQ(to.descriptions(), (texts{"a"}));
}

// The commit after a delivery fails: it is retried, and nothing is posted before it is durable.
TEST(webhook_disk, a_position_is_durable_before_the_next_post) {
    const auto disk = make_memory_store();
    faulty_store faults(*disk);
    test_server_options options = with_webhooks();
    options.disk = &faults;
    test_server h(std::move(options));
    receiver to(h);
    h.make_account("home", "SYN");
    const std::string token = h.make_token("home", token_scope::admin);
    h.service().start_webhooks(to, nullptr, h.io().get_executor());
    h.call(post("/v1/webhooks", R"({"url":"https://example.com/","after":"0"})", token));
    to.takes = 1s;
    h.call(post("/v1/tasks", R"({"description":"a"})", token, "a"));
    h.call(post("/v1/tasks", R"({"description":"b"})", token, "b"));
    h.settle();
    faults.arm(fault_point::before_any_commit, fault_kind::reject);
    h.advance(1s);
    EXPECT_FALSE(faults.armed());
    EXPECT_EQ(to.descriptions(), (texts{"a"}));
    h.advance(1h);
    EXPECT_EQ(to.descriptions(), (texts{"a", "b"}));
}

// One webhook with one change whose first attempt fails.
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

    // Returns false if nothing is left to do within the next minutes.
    bool step() { return h.step() || h.clock().advance_to_next(1min); }
    void edit() {
        header_list headers = bearer(token_);
        headers.emplace_back("Content-Type", "application/json");
        h.start(make_request(verb::patch, "/v1/webhooks/" + id_, R"({"enabled":true})", headers));
    }
    void reject_a_commit() { faults_.arm(fault_point::before_any_commit, fault_kind::reject); }

  private:
    static test_server_options options_on(store& disk) {
        test_server_options options = with_webhooks();
        options.disk = &disk;
        options.service.webhooks.retry_min = 30min;
        options.service.webhooks.retry_max = 1h;
        return options;
    }

    std::unique_ptr<store> disk_ = make_memory_store();
    faulty_store faults_;
    std::string token_, id_;

  public:
    test_server h;
    receiver to;
    std::optional<std::size_t> edited_at;  // the number of posts before the edit

  private:
    hub::subscription heard_;
};

// The owner enables it again at any step of a failed attempt, and the store rejects a commit at any
// later step: the next attempt follows at once, without a pause. Only the request that was rejected
// after the edit waits for its retry.
TEST(webhook_race, an_edit_ends_the_pause_after_a_failure) {
    for (const milliseconds takes : {0ms, 100ms}) {
        bool is_over = false;
        for (int steps = 0; !is_over; ++steps) {
            for (int rejected_after = 0; rejected_after < 12; ++rejected_after) {
                failing_webhook w(takes);
                for (int n = 0; n < steps; ++n) is_over = !w.step();
                w.edit();
                for (int n = 0; n < rejected_after; ++n) w.h.step();
                w.reject_a_commit();
                w.h.advance(takes == 0ms ? 900ms : 1'900ms);
                // The creation or the edit was rejected.
                if (!w.edited_at || w.to.calls.empty()) continue;
                EXPECT_GT(w.to.calls.size(), *w.edited_at)
                    << "edited at step " << steps << ", rejected " << rejected_after
                    << " steps later";
            }
        }
    }
}

// At any step, without waiting for a request.
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

TEST(webhook_race, a_change_during_a_read_is_not_delayed) {
    bool is_over = false;
    for (int at = 1; !is_over; ++at) {
        const auto disk = make_memory_store();
        late_reader late(*disk);
        test_server_options options = with_webhooks();
        options.disk = &late;
        test_server h(std::move(options));
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

// The webhook is enabled while a read finds it disabled.
TEST(webhook_race, one_enabled_during_a_read_is_delivered) {
    const auto disk = make_memory_store();
    late_reader late(*disk);
    test_server_options options = with_webhooks();
    options.disk = &late;
    test_server h(std::move(options));
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

}  // namespace
}  // namespace callsign::testing
