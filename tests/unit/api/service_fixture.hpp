#pragma once
// An account with a token, an operator, and helpers for requests.

#include "support/answer_json.hpp"
#include "support/test_server.hpp"

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::testing {

// "field code" of every error.
inline std::vector<std::string> listed_faults(const net::http_response& response) {
    std::vector<std::string> all;
    const auto body = body_of(response);
    for (const auto& e : body.at("errors").as_array()) {
        const auto& fault = e.as_object();
        const std::string field = fault.contains("field") ? text_of(fault.at("field")) : "";
        all.push_back(field + " " + text_of(fault.at("code")));
    }
    return all;
}

class service_test : public ::testing::Test {
  protected:
    net::http_response create(std::string body, std::string_view key) {
        return h.call(post("/v1/tasks", std::move(body), syn.token, key));
    }
    net::http_response read(std::string_view target) { return h.call(get(target, syn.token)); }
    net::http_response admin(std::string_view target) { return h.call(get(target, root)); }
    net::http_response admin_post(std::string_view target, std::string body) {
        return h.call(post(target, std::move(body), root));
    }

    test_server h;
    test_server::made_account syn = h.make_account("syn", "SYN");
    std::string root = h.operator_token();
};

}  // namespace callsign::testing
