#include "api/negotiation.hpp"

#include <gtest/gtest.h>

namespace callsign::api {
namespace {

using wire::format;

TEST(Negotiation, BodiesAreJsonOrProtobuf) {
    EXPECT_EQ(form_of_body("application/json"), format::json);
    EXPECT_EQ(form_of_body("Application/JSON ; charset=utf-8"), format::json);
    EXPECT_EQ(form_of_body("application/x-protobuf"), format::protobuf);
    EXPECT_EQ(form_of_body("application/protobuf"), format::protobuf);
    EXPECT_EQ(form_of_body(""), format::json);
    EXPECT_EQ(form_of_body("application/x-www-form-urlencoded"), std::nullopt);
    EXPECT_EQ(form_of_body("text/json"), std::nullopt);
}

TEST(Negotiation, WhoDoesNotCareGetsTheOther) {
    for (const format otherwise : {format::json, format::protobuf}) {
        EXPECT_EQ(form_of_answer("", otherwise), otherwise);
        EXPECT_EQ(form_of_answer("*/*", otherwise), otherwise);
        EXPECT_EQ(form_of_answer("application/*", otherwise), otherwise);
        EXPECT_EQ(form_of_answer("text/html, */*;q=0.1", otherwise), otherwise);
    }
}

TEST(Negotiation, TheBetterLikedWins) {
    EXPECT_EQ(form_of_answer("application/json", format::protobuf), format::json);
    EXPECT_EQ(form_of_answer("application/protobuf", format::json), format::protobuf);
    EXPECT_EQ(form_of_answer("application/json;q=0.5, application/x-protobuf", format::json),
              format::protobuf);
    EXPECT_EQ(
        form_of_answer("application/json;q=0.501,application/x-protobuf;q=0.50", format::protobuf),
        format::json);
}

TEST(Negotiation, TheMoreSpecificRangeDecides) {
    EXPECT_EQ(form_of_answer("application/json;q=0, */*", format::json), format::protobuf);
    EXPECT_EQ(form_of_answer("*/*, application/x-protobuf;q=0", format::protobuf), format::json);
}

TEST(Negotiation, NothingMayDo) {
    EXPECT_EQ(form_of_answer("text/html", format::json), std::nullopt);
    EXPECT_EQ(form_of_answer("application/json;q=0", format::json), std::nullopt);
    EXPECT_EQ(form_of_answer("*/*;q=0.000", format::json), std::nullopt);
}

TEST(Negotiation, NonsenseIsNoHarm) {
    EXPECT_EQ(form_of_answer(",,;;,=", format::json), std::nullopt);
    EXPECT_EQ(form_of_answer("application/json;q=zero", format::protobuf), format::json);
}

}  // namespace
}  // namespace callsign::api
