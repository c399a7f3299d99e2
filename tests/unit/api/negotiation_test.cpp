#include "api/shared/negotiation.hpp"

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

TEST(negotiation, without_a_preference_the_default_is_chosen) {
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

TEST(negotiation, a_page_needs_its_own_media_type) {
    EXPECT_TRUE(asks_for_page("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
    EXPECT_TRUE(asks_for_page("application/json, Text/HTML ;q=0.1"));
    for (const auto accept : {"", "*/*", "text/*", "application/json", "text/html;q=0"}) {
        EXPECT_FALSE(asks_for_page(accept)) << accept;
    }
    EXPECT_TRUE(takes_gzip("gzip, deflate, br"));
    EXPECT_TRUE(takes_gzip("br;q=1.0, gzip;q=0.8"));
    for (const auto encoding : {"", "*", "identity", "gzip;q=0", "x-gzipped"}) {
        EXPECT_FALSE(takes_gzip(encoding)) << encoding;
    }
}

TEST(negotiation, nonsense_is_no_harm) {
    EXPECT_EQ(form_of_answer(",,;;,=", format::json), std::nullopt);
    EXPECT_EQ(form_of_answer("application/json;q=zero", format::protobuf), format::json);
}

}  // namespace
}  // namespace callsign::api
