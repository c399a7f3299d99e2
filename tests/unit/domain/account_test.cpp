#include <callsign/domain/account.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

TEST(prefix, follows_its_grammar) {
    for (const char* good : {"S", "SYN", "A_B", "INC2", "ABCDEFGHIJ"}) {
        EXPECT_TRUE(is_valid_prefix(good)) << good;
    }
    for (const char* bad : {"", "syn", "2SYN", "_A", "A-B", "ABCDEFGHIJK", "SY N", "\xC3\x84"}) {
        EXPECT_FALSE(is_valid_prefix(bad)) << bad;
    }
}

TEST(name, follows_its_grammar) {
    EXPECT_TRUE(is_valid_name("laptop"));
    EXPECT_TRUE(is_valid_name("0.a_b-C"));
    EXPECT_TRUE(is_valid_name(std::string(63, 'a')));
    EXPECT_FALSE(is_valid_name(std::string(64, 'a')));
    for (const char* bad : {"", "-a", ".a", "_a", "a b", "a/b"}) {
        EXPECT_FALSE(is_valid_name(bad)) << bad;
    }
}

TEST(token_scope, is_read_back_from_its_text) {
    for (const token_scope scope : {token_scope::read, token_scope::write, token_scope::admin}) {
        EXPECT_EQ(parse_token_scope(to_string(scope)), scope);
    }
    EXPECT_FALSE(parse_token_scope("Read"));
    EXPECT_FALSE(parse_token_scope(""));
}

}  // namespace
}  // namespace callsign
