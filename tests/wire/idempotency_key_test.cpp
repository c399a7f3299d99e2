#include <callsign/wire/convert.hpp>

#include <gtest/gtest.h>

namespace callsign::wire {
namespace {

std::string field_key(std::string_view value) {
    const auto parsed = parse_idempotency_key({value});
    const std::string* key = std::get_if<std::string>(&parsed);
    return key != nullptr ? *key : "(rejected)";
}

TEST(idempotency_key_header, reads_the_quoted_form) {
    EXPECT_EQ(field_key(R"("8e03978e-40d5-43dd-bc93-6894a57f9324")"),
              "8e03978e-40d5-43dd-bc93-6894a57f9324");
    EXPECT_EQ(field_key(R"("a\"b\\c")"), R"(a"b\c)");
    EXPECT_EQ(field_key(" \"k\" "), "k");
    EXPECT_EQ(field_key('"' + std::string(255, 'k') + '"'), std::string(255, 'k'));
}

TEST(idempotency_key_header, ignores_well_formed_parameters) {
    for (const char* value :
         {R"("k";a)", R"("k"; a=1;b=-12.345)", R"("k";a="x\"y";*b=tok/en)", R"("k";a=?1;b=:YWJj:)",
          R"("k";a=@1659578233)", R"("k";a=%"f%c3%bc")"}) {
        EXPECT_EQ(field_key(value), "k") << value;
    }
}

TEST(idempotency_key_header, reads_the_bare_form) {
    EXPECT_EQ(field_key("8e03978e"), "8e03978e");
    EXPECT_EQ(field_key("a;b=\"c\""), "a;b=\"c\"");
    EXPECT_EQ(field_key(std::string(255, 'k')), std::string(255, 'k'));
}

TEST(idempotency_key_header, rejects_other_values) {
    for (const char* value : {"",
                              " ",
                              "\"",
                              "\"\"",
                              "\"a",
                              "\"a\"b",
                              "\"a\", \"b\"",
                              "\"a b\"",
                              "\"a\\n\"",
                              "a b",
                              "a, b",
                              "\"a\tb\"",
                              "\xC3\xA9",
                              "\"\xC3\xA9\"",
                              "\"k\";",
                              "\"k\";A=1",
                              "\"k\";a=",
                              "\"k\";a=1.",
                              "\"k\";a=1.2345",
                              "\"k\";a=?2",
                              "\"k\";a=\"",
                              "\"k\" ;a",
                              "\"k\";a=%\"%C3\"",
                              "\"k\";a=@1.5"}) {
        EXPECT_EQ(field_key(value), "(rejected)") << value;
    }
    EXPECT_EQ(field_key(std::string(256, 'k')), "(rejected)");
}

TEST(idempotency_key_header, distinguishes_missing_from_malformed) {
    EXPECT_TRUE(std::holds_alternative<key_missing>(parse_idempotency_key({})));
    EXPECT_TRUE(std::holds_alternative<key_malformed>(parse_idempotency_key({""})));
    EXPECT_TRUE(std::holds_alternative<key_malformed>(parse_idempotency_key({"a", "a"})));
}

}  // namespace
}  // namespace callsign::wire
