#pragma once
// An account with changes, and requests for its feed.

#include "support/test_server.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::testing {

namespace json = boost::json;

class feed_api : public ::testing::Test {
  protected:
    explicit feed_api(test_server_options options = {}) : home(std::move(options)) {
        const auto made = home.make_account("home", "SYN");
        account = made.id;
        token = made.token;
    }

    json::object get(std::string_view target, unsigned status = 200) {
        const auto response = home.call(make_request(verb::get, target, {}, bearer(token)));
        EXPECT_EQ(response.status, status) << response.body;
        return json::parse(response.body).as_object();
    }
    std::string create(std::string key, std::string description) {
        const auto response =
            home.call(post("/v1/tasks", "{\"description\":\"" + description + "\"}", token, key));
        EXPECT_EQ(response.status, 201u) << response.body;
        return std::string(json::parse(response.body).at("key").as_string());
    }
    void edit(const std::string& key, std::string body) {
        auto request =
            make_request(verb::patch, "/v1/tasks/" + key, std::move(body), bearer(token));
        request.set(boost::beast::http::field::content_type, "application/json");
        EXPECT_EQ(home.call(std::move(request)).status, 200u);
    }
    static std::vector<std::string> texts(const json::object& answer) {
        std::vector<std::string> all;
        for (const auto& each : answer.at("changes").as_array()) {
            const auto& task = each.at("task").as_object();
            all.push_back(std::string(task.at("key").as_string()) + " " +
                          (task.contains("description")
                               ? std::string(task.at("description").as_string())
                               : "purged"));
        }
        return all;
    }
    static std::string cursor_of(const json::object& answer) {
        return std::string(answer.at("cursor").as_string());
    }
    using lines = std::vector<std::string>;
    using verb = boost::beast::http::verb;

    test_server home;
    account_id account;
    std::string token;
};

}  // namespace callsign::testing
