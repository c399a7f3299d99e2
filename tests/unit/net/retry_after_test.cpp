#include <callsign/net/retry_after.hpp>

#include <gtest/gtest.h>

namespace callsign::net {
namespace {

using std::chrono::seconds;

milliseconds asked(std::string field, std::string date = "Sun, 06 Nov 1994 08:49:37 GMT") {
    http_answer answer;
    answer.headers = {{"Date", std::move(date)}, {"Retry-After", std::move(field)}};
    return retry_after(answer);
}

TEST(retry_after, is_read_in_each_form_and_limited) {
    EXPECT_EQ(asked("120"), seconds{120});
    EXPECT_EQ(asked("Sun, 06 Nov 1994 08:51:37 GMT"), seconds{120});
    EXPECT_EQ(asked("Sunday, 06-Nov-94 08:51:37 GMT"), seconds{120});
    EXPECT_EQ(asked("Sun Nov  6 08:51:37 1994"), seconds{120});
    EXPECT_EQ(asked("99999999999999"), retry_after_max);
    EXPECT_EQ(asked("Fri, 06 Nov 2093 08:51:37 GMT"), retry_after_max);
}

TEST(retry_after, is_none_for_an_invalid_value) {
    EXPECT_EQ(retry_after({}), milliseconds{0});
    for (const char* field :
         {"", "-5", "soon", "1.5", "12x", "Sun, 06 Nov 1994 08:49:36 GMT",
          "Sun, 06 Nov 1994 08:51:37 GMT, 5", "Sun, 06 Nov 1994 08:51:37 +0100"}) {
        EXPECT_EQ(asked(field), milliseconds{0}) << field;
    }
    EXPECT_EQ(asked("Sun, 06 Nov 1994 08:51:37 GMT", "now"), milliseconds{0});
}

}  // namespace
}  // namespace callsign::net
