#include "api/negotiation.hpp"

#include <gtest/gtest.h>

namespace callsign::api {
namespace {

using wire::format;

TEST(negotiation, bodies_are_json_or_protobuf) {
    EXPECT_EQ(form_of_body("application/json"), format::json);
    EXPECT_EQ(form_of_body("Application/JSON ; charset=utf-8"), format::json);
    EXPECT_EQ(form_of_body("application/x-protobuf"), format::protobuf);
    EXPECT_EQ(form_of_body("application/protobuf"), format::protobuf);
    EXPECT_EQ(form_of_body(""), format::json);
    EXPECT_EQ(form_of_body("application/x-www-form-urlencoded"), std::nullopt);
    EXPECT_EQ(form_of_body("text/json"), std::nullopt);
}

TEST(negotiation, who_does_not_care_gets_the_other) {
    for (const format otherwise : {format::json, format::protobuf}) {
        EXPECT_EQ(form_of_answer("", otherwise), otherwise);
        EXPECT_EQ(form_of_answer("*/*", otherwise), otherwise);
        EXPECT_EQ(form_of_answer("application/*", otherwise), otherwise);
        EXPECT_EQ(form_of_answer("text/html, */*;q=0.1", otherwise), otherwise);
    }
}

TEST(negotiation, the_better_liked_wins) {
    EXPECT_EQ(form_of_answer("application/json", format::protobuf), format::json);
    EXPECT_EQ(form_of_answer("application/protobuf", format::json), format::protobuf);
    EXPECT_EQ(form_of_answer("application/json;q=0.5, application/x-protobuf", format::json),
              format::protobuf);
    EXPECT_EQ(
        form_of_answer("application/json;q=0.501,application/x-protobuf;q=0.50", format::protobuf),
        format::json);
}

TEST(negotiation, the_more_specific_range_decides) {
    EXPECT_EQ(form_of_answer("application/json;q=0, */*", format::json), format::protobuf);
    EXPECT_EQ(form_of_answer("*/*, application/x-protobuf;q=0", format::protobuf), format::json);
}

TEST(negotiation, nothing_may_do) {
    EXPECT_EQ(form_of_answer("text/html", format::json), std::nullopt);
    EXPECT_EQ(form_of_answer("application/json;q=0", format::json), std::nullopt);
    EXPECT_EQ(form_of_answer("*/*;q=0.000", format::json), std::nullopt);
}

TEST(negotiation, nonsense_is_no_harm) {
    EXPECT_EQ(form_of_answer(",,;;,=", format::json), std::nullopt);
    EXPECT_EQ(form_of_answer("application/json;q=zero", format::protobuf), format::json);
}

}  // namespace
}  // namespace callsign::api
