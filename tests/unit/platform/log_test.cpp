#include "platform/log_line.hpp"

#include <gtest/gtest.h>

namespace callsign::platform {
namespace {

constexpr time_point at{milliseconds{1'795'178'880'123}};

TEST(log_line, text) {
    EXPECT_EQ(
        text_line({at, log_level::warn, "sweep failed", {{"batch", "7"}, {"why", "disk full"}}}),
        "2026-11-20T12:48:00.123Z warn sweep failed batch=7 why=\"disk full\"");
    EXPECT_EQ(text_line({at, log_level::info, "ready", {{"empty", ""}, {"odd", "a=b"}}}),
              "2026-11-20T12:48:00.123Z info ready empty=\"\" odd=\"a=b\"");
}

TEST(log_line, json) {
    EXPECT_EQ(json_line({at, log_level::error, "failed", {{"what", "say \"no\""}}}),
              R"({"time":"2026-11-20T12:48:00.123Z","level":"error","event":"failed",)"
              R"("what":"say \"no\""})");
}

TEST(log_line, no_value_can_forge_a_line_or_move_the_cursor) {
    const std::string line =
        text_line({at, log_level::info, "x", {{"v", "a\n2026 info b\x1b[2J"}}});
    EXPECT_EQ(line, "2026-11-20T12:48:00.123Z info x v=\"a\\n2026 info b\\u001b[2J\"");
}

TEST(log_line, strings_stay_json) {
    using namespace std::string_literals;
    EXPECT_EQ(json_string("\0\x01\t\\"s), R"("\u0000\u0001\t\\")");
    EXPECT_EQ(json_string("\x7f\xC2\x9B"), R"("\u007f\u009b")");
    EXPECT_EQ(json_string("h\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
              "\"h\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"");
    // A lone continuation, a truncated sequence, an overlong form, a surrogate.
    const std::string bad = "\xEF\xBF\xBD";
    EXPECT_EQ(json_string("\x80"), "\"" + bad + "\"");
    EXPECT_EQ(json_string("\xE2\x82"), "\"" + bad + bad + "\"");
    EXPECT_EQ(json_string("\xC0\xAF"), "\"" + bad + bad + "\"");
    EXPECT_EQ(json_string("\xED\xA0\x80"), "\"" + bad + bad + bad + "\"");
}

TEST(logger, writes_to_standard_error_from_its_level_up) {
    testing::internal::CaptureStderr();
    {
        const auto log = make_logger({.level = "warn", .format = "json"});
        EXPECT_FALSE(log->enabled(log_level::info));
        EXPECT_TRUE(log->enabled(log_level::warn));
        log->log(log_level::info, "not this", {});
        log->log(log_level::error, "this", {{"n", "{}"}});
    }
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(text.find("not this"), text.npos);
    EXPECT_NE(text.find(R"("level":"error","event":"this","n":"{}"})"
                        "\n"),
              text.npos)
        << text;
}

}  // namespace
}  // namespace callsign::platform
