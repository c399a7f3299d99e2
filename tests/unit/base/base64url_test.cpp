#include <callsign/base/base64url.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace callsign {
namespace {

TEST(base64url, is_that_of_rfc4648) {
    EXPECT_EQ(to_base64url(""), "");
    EXPECT_EQ(to_base64url("f"), "Zg");
    EXPECT_EQ(to_base64url("fo"), "Zm8");
    EXPECT_EQ(to_base64url("foo"), "Zm9v");
    EXPECT_EQ(to_base64url("\xFB\xFF"), "-_8");
    EXPECT_EQ(from_base64url("Zm9v"), "foo");
    EXPECT_EQ(from_base64url("Zm9vY"), std::nullopt);
    EXPECT_EQ(from_base64url("Zm8="), std::nullopt);
}

RC_GTEST_PROP(base64url, reads_back_what_it_wrote, (const std::string& bytes)) {
    RC_ASSERT(from_base64url(to_base64url(bytes)) == bytes);
}

}  // namespace
}  // namespace callsign
