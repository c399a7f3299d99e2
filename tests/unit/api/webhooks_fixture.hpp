#pragma once
// The webhooks of one account. Method: the posting client is a script of responses that records its
// requests.

#include "support/test_server.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::testing {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;

inline constexpr std::array<std::uint8_t, seal::key_bytes> webhooks_master{0x4B, 1, 2, 3};
inline constexpr std::string_view secret_text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

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

// Responds with 204 unless the script has another response.
class receiver final : public net::outgoing {
  public:
    explicit receiver(test_server& h) : server_(h) {}

    bool may_call(const net::outgoing_url& url) const override { return url.host != "10.0.0.1"; }

    asio::awaitable<boost::system::result<std::vector<asio::ip::tcp::endpoint>>> look_up(
        net::outgoing_url url) override {
        lookups.push_back(url.host);
        const auto executor = co_await asio::this_coro::executor;
        const auto timer = server_.clock().make_timer(executor);
        if (lookup_takes > milliseconds{0}) co_await timer->wait(lookup_takes);
        co_return std::vector<asio::ip::tcp::endpoint>(1);
    }
    asio::awaitable<net::http_outcome> exchange(net::outgoing_url url,
                                                std::vector<asio::ip::tcp::endpoint>,
                                                net::http_call call) override {
        if (stopped) co_return net::http_failure{asio::error::operation_aborted, false};
        calls.push_back({std::move(url), std::move(call)});
        at_once_most = std::max(at_once_most, ++at_once);
        const auto executor = co_await asio::this_coro::executor;
        if (takes > milliseconds{0}) {
            const auto timer = server_.clock().make_timer(executor);
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

    // The descriptions in all posts, in order.
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
    test_server& server_;
};

using texts = std::vector<std::string>;

inline test_server_options with_webhooks() {
    test_server_options options;
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
    using verb = boost::beast::http::verb;

    explicit webhook_api(test_server_options options = with_webhooks())
        : h(std::move(options)), to(h) {
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

    test_server h;
    receiver to;
    account_id account;
    std::string token;
};

}  // namespace callsign::testing
