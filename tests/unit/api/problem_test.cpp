#include "api/shared/problem.hpp"

#include "callsign/v1/callsign.pb.h"

#include <callsign/api/service.hpp>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::api {
namespace {

std::string_view header(const http_response& response, std::string_view name) {
    for (const auto& [have, value] : response.headers) {
        if (have == name) return value;
    }
    return {};
}

request_context request_with_id(std::string id, wire::format form) {
    http_request request;
    request.id = std::move(id);
    auto head = std::make_shared<request_head>();
    head->answer_form = form;
    return {std::move(request), std::move(head)};
}

TEST(problem, is_rfc9457_in_json) {
    const request_context c = request_with_id("r1", wire::format::json);
    const auto response = answer_faults(c, {{"description", "required", "A task has one."}});
    EXPECT_EQ(response.status, 400u);
    EXPECT_EQ(response.content_type, "application/problem+json");
    const auto body = boost::json::parse(response.body).as_object();
    EXPECT_EQ(body.at("type").as_string(), "urn:callsign:problem:validation-failed");
    EXPECT_EQ(body.at("title").as_string(), "The request is not valid");
    EXPECT_EQ(body.at("status").as_int64(), 400);
    EXPECT_EQ(body.at("code").as_string(), "validation-failed");
    EXPECT_EQ(body.at("requestId").as_string(), "r1");
    const auto& errors = body.at("errors").as_array();
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].at("field").as_string(), "description");
    EXPECT_EQ(errors[0].at("code").as_string(), "required");
}

TEST(problem, is_the_same_in_protobuf) {
    const request_context c = request_with_id("r2", wire::format::protobuf);
    const auto response = answer_problem(c, problems::task_not_found, "No such task.");
    EXPECT_EQ(response.content_type, "application/x-protobuf");
    v1::Problem body;
    ASSERT_TRUE(body.ParseFromString(response.body));
    EXPECT_EQ(body.code(), "task-not-found");
    EXPECT_EQ(body.status(), 404);
    EXPECT_EQ(body.detail(), "No such task.");
    EXPECT_EQ(body.request_id(), "r2");
}

// series-held is 503, and needs an operator.
TEST(problem, says_whether_a_retry_can_succeed) {
    const auto is_retryable = [](const problem& kind) {
        return to_message(rejected{kind, "Why.", {}, {}, {}}).retryable();
    };
    EXPECT_TRUE(is_retryable(problems::overloaded));
    EXPECT_TRUE(is_retryable(problems::request_in_progress));
    EXPECT_FALSE(is_retryable(problems::series_held));
    EXPECT_FALSE(is_retryable(problems::remote_halted));
    for (const problem& kind : all_problems) {
        const bool may_be =
            kind.status >= 500 || kind.status == 408 || kind.status == 409 || kind.status == 429;
        EXPECT_TRUE(may_be || !is_retryable(kind)) << kind.code;
    }
    const request_context c = request_with_id("r3", wire::format::json);
    const auto held = boost::json::parse(answer_problem(c, problems::series_held, "Held.").body);
    EXPECT_FALSE(held.at("retryable").as_bool()) << "also if false, it is there";
}

struct mapping {
    errc error;
    unsigned status;
    std::string_view code;
    bool ask_again;
};

class error_mapping : public ::testing::TestWithParam<mapping> {};

TEST_P(error_mapping, decides_status_code_and_retry) {
    const auto [error, status, code, ask_again] = GetParam();
    const auto response = answer_error(request_with_id("r", wire::format::json), error);
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(boost::json::parse(response.body).at("code").as_string(), code);
    EXPECT_EQ(header(response, "Retry-After"), ask_again ? "1" : "");
}

INSTANTIATE_TEST_SUITE_P(
    problems, error_mapping,
    ::testing::Values(mapping{errc::overloaded, 503, "overloaded", true},
                      mapping{errc::shutting_down, 503, "shutting-down", true},
                      mapping{errc::deadline_exceeded, 503, "deadline-exceeded", true},
                      mapping{errc::store_rejected, 503, "store-rejected", true},
                      mapping{errc::outcome_unknown, 500, "outcome-unknown", true},
                      mapping{errc::store_unavailable, 503, "store-unavailable", true},
                      mapping{errc::storage_full, 507, "storage-full", true},
                      mapping{errc::store_damaged, 500, "store-damaged", false},
                      mapping{errc::record_damaged, 500, "record-damaged", false},
                      mapping{errc::account_gone, 404, "account-not-found", false}));

TEST(problem, an_unknown_error_has_no_details) {
    const auto error = make_error_code(boost::system::errc::no_such_file_or_directory);
    const auto response = answer_error(request_with_id("r", wire::format::json), error);
    EXPECT_EQ(response.status, 500u);
    EXPECT_EQ(boost::json::parse(response.body).at("code").as_string(), "internal-error");
    EXPECT_EQ(response.body.find(error.message()), std::string::npos);
}

TEST(problem, a_rejection_by_the_network_layer_is_a_problem_too) {
    const auto response = rejection({413, "body-too-large", "At most 1 MiB.", "r-1"});
    EXPECT_EQ(response.status, 413u);
    const auto body = boost::json::parse(response.body);
    EXPECT_EQ(body.at("title").as_string(), "Request body too large");
    EXPECT_EQ(body.at("requestId").as_string(), "r-1");
    EXPECT_EQ(body.at("code").as_string(), "body-too-large");
}

}  // namespace
}  // namespace callsign::api
