#include <callsign/wire/parameters.hpp>

#include <gtest/gtest.h>

namespace callsign::wire {
namespace {

TEST(parameters, decodes_escapes) {
    EXPECT_EQ(percent_decoded("SYN-42"), "SYN-42");
    EXPECT_EQ(percent_decoded("a%2Fb%2fc%20"), "a/b/c ");
    EXPECT_EQ(percent_decoded("100%"), "100%");
    EXPECT_EQ(percent_decoded("%4"), "%4");
    EXPECT_EQ(percent_decoded("%zz%41"), "%zzA");
    EXPECT_EQ(percent_decoded("a+b"), "a+b");
}

TEST(parameters, a_query_is_names_and_values) {
    field_errors found;
    const parameters q("state=failed&account=a%26b+c&&pageSize", {"state", "account", "pageSize"},
                       found);
    EXPECT_TRUE(found.empty());
    EXPECT_EQ(q.get("state"), "failed");
    EXPECT_EQ(q.get("account"), "a&b c");
    EXPECT_EQ(q.get("pageSize"), "");
    EXPECT_EQ(q.get("pageToken"), "");
}

TEST(parameters, a_misspelt_or_repeated_parameter_is_an_error) {
    field_errors found;
    const parameters q("stat=failed&state=failed&state=pending", {"state"}, found);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].field, "stat");
    EXPECT_EQ(found[0].code, "unknown-parameter");
    EXPECT_EQ(found[1].field, "state");
    EXPECT_EQ(found[1].code, "duplicate-parameter");
}

page_request read_from(const std::string& text, field_errors& found) {
    const parameters q(text, {"pageSize", "pageToken"}, found);
    return read_page(q, found);
}

TEST(parameters, page_sizes_are_limited) {
    field_errors found;
    EXPECT_EQ(read_from("", found).size, 100);
    EXPECT_EQ(read_from("pageSize=0", found).size, 100);
    EXPECT_EQ(read_from("pageSize=7", found).size, 7);
    EXPECT_EQ(read_from("pageSize=100000", found).size, 1000);
    EXPECT_TRUE(found.empty());
    for (const auto* size :
         {"pageSize=-1", "pageSize=ten", "pageSize=5x", "pageSize=99999999999999999999"}) {
        found.clear();
        read_from(size, found);
        ASSERT_EQ(found.size(), 1u) << size;
        EXPECT_EQ(found[0].field, "pageSize");
    }
}

TEST(parameters, a_page_token_is_read_back) {
    field_errors found;
    EXPECT_EQ(read_from("pageToken=" + page_token(123456789), found).after, 123456789);
    EXPECT_TRUE(found.empty());
    for (const std::string token : {"42", "*", "YWZ0ZXI6", "YWZ0ZXI6LTE"}) {
        found.clear();
        read_from("pageToken=" + token, found);
        ASSERT_EQ(found.size(), 1u) << token;
        EXPECT_EQ(found[0].code, "malformed");
    }
}

}  // namespace
}  // namespace callsign::wire
