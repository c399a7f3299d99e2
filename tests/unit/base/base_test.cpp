// Time, UUIDs, digests, and text from clients.

#include <callsign/base/instant_bounds.hpp>
#include <callsign/base/sha256.hpp>
#include <callsign/base/text.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace callsign {
namespace {

using namespace std::chrono_literals;

TEST(rfc3339, is_written_in_utc_with_milliseconds) {
    EXPECT_EQ(to_rfc3339(time_point{}), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(to_rfc3339(time_point{milliseconds{1'795'178'880'123}}), "2026-11-20T12:48:00.123Z");
    EXPECT_EQ(to_rfc3339(time_point{milliseconds{-1}}), "1969-12-31T23:59:59.999Z");
}

TEST(rfc3339, is_read_with_any_offset) {
    const auto noon = parse_rfc3339("2026-11-20T12:00:00Z");
    ASSERT_TRUE(noon);
    EXPECT_EQ(parse_rfc3339("2026-11-20T13:30:00+01:30"), noon);
    EXPECT_EQ(parse_rfc3339("2026-11-20t07:00:00.0-05:00"), noon);
    EXPECT_EQ(parse_rfc3339("2026-11-20T12:00:00.5Z"), *noon + 500ms);
    EXPECT_EQ(parse_rfc3339("2026-11-20T12:00:00.1239999Z"), *noon + 123ms);
    EXPECT_EQ(parse_rfc3339("2026-11-20T11:59:60Z"), noon);
}

TEST(rfc3339, rejects_other_text_than_instants) {
    for (const char* text :
         {"", "2026-11-20", "2026-11-20 12:00:00Z", "2026-11-20T12:00:00", "2026-02-29T00:00:00Z",
          "2026-13-01T00:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T12:60:00Z",
          "2026-11-20T12:00:61Z", "2026-11-20T12:00:00.Z", "2026-11-20T12:00:00+24:00",
          "2026-11-20T12:00:00Zx", "0000-12-31T23:59:59.999Z", "0001-01-01T00:00:00+00:01",
          "9999-12-31T23:59:59-00:01"}) {
        EXPECT_FALSE(parse_rfc3339(text)) << text;
    }
}

RC_GTEST_PROP(rfc3339, reads_what_it_writes, ()) {
    const time_point at{
        milliseconds{*rc::gen::inRange<std::int64_t>(-62'135'596'800'000, 253'402'300'800'000)}};
    RC_ASSERT(parse_rfc3339(to_rfc3339(at)) == at);
}

TEST(rfc3339, is_read_up_to_the_limits_of_all_instants) {
    EXPECT_EQ(parse_rfc3339("0001-01-01T00:00:00Z"), instant_first);
    EXPECT_EQ(parse_rfc3339("9999-12-31T23:59:59.999999999Z"), instant_last);
    EXPECT_FALSE(parse_rfc3339("9999-12-31T23:59:60Z"));
    for (const time_point at : {instant_first, instant_last}) {
        EXPECT_EQ(parse_rfc3339(to_rfc3339(at)), at);
        EXPECT_TRUE(is_instant_in_seconds(
            std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count()));
    }
    for (const std::int64_t seconds :
         {INT64_MIN, INT64_C(-62'135'596'801), INT64_C(253'402'300'800), INT64_MAX}) {
        EXPECT_FALSE(is_instant_in_seconds(seconds)) << seconds;
    }
}

TEST(precise_rfc3339, is_written_with_the_fewest_of_no_three_six_and_nine_digits) {
    const precise_time noon = *parse_rfc3339("2026-11-20T12:00:00Z");
    EXPECT_EQ(to_precise_rfc3339(noon), "2026-11-20T12:00:00Z");
    EXPECT_EQ(to_precise_rfc3339(noon + 120ms), "2026-11-20T12:00:00.120Z");
    EXPECT_EQ(to_precise_rfc3339(noon + 7us), "2026-11-20T12:00:00.000007Z");
    EXPECT_EQ(to_precise_rfc3339(noon + 943'626'280ns), "2026-11-20T12:00:00.943626280Z");
    EXPECT_EQ(to_precise_rfc3339(precise_time{-1ns}), "1969-12-31T23:59:59.999999999Z");
}

TEST(precise_rfc3339, is_read_to_the_nanosecond) {
    const precise_time noon = *parse_rfc3339("2026-11-20T12:00:00Z");
    EXPECT_EQ(parse_precise_rfc3339("2026-11-20T12:00:00.943626281Z"), noon + 943'626'281ns);
    EXPECT_EQ(parse_precise_rfc3339("2026-11-20T13:00:00.5+01:00"), noon + 500ms);
    EXPECT_EQ(parse_precise_rfc3339("2026-11-20T12:00:00.0000000019Z"), noon + 1ns);
    EXPECT_TRUE(parse_precise_rfc3339("1678-01-01T00:00:00Z"));
    EXPECT_TRUE(parse_precise_rfc3339("2261-12-31T23:59:59.999999999Z"));
    for (const char* text : {"1677-12-31T23:59:59Z", "2262-01-01T00:00:00Z", "9999-01-01T00:00:00Z",
                             "2026-11-20T12:00:00.Z", "2026-11-20", "", "2026-02-30T00:00:00Z"}) {
        EXPECT_FALSE(parse_precise_rfc3339(text)) << text;
    }
}

RC_GTEST_PROP(precise_rfc3339, reads_what_it_writes, ()) {
    const precise_time at{std::chrono::nanoseconds{
        *rc::gen::inRange<std::int64_t>(-9'200'000'000'000'000'000, 9'200'000'000'000'000'000)}};
    RC_ASSERT(parse_precise_rfc3339(to_precise_rfc3339(at)) == at);
}

TEST(duration, is_a_number_and_a_unit) {
    EXPECT_EQ(parse_duration("250ms"), 250ms);
    EXPECT_EQ(parse_duration("30s"), 30s);
    EXPECT_EQ(parse_duration("10m"), 10min);
    EXPECT_EQ(parse_duration("24h"), 24h);
    EXPECT_EQ(parse_duration("7d"), 24h * 7);
    for (const char* text :
         {"", "10", "m", "-1s", "1.5s", "10 m", "10M", "1h30m", "99999999999999d"}) {
        EXPECT_FALSE(parse_duration(text)) << text;
    }
}

RC_GTEST_PROP(duration, reads_what_it_writes, ()) {
    const milliseconds span{*rc::gen::inRange<std::int64_t>(0, 3'000'000'000'000)};
    RC_ASSERT(parse_duration(to_duration_text(span)) == span);
}

TEST(uuids, are_hyphenated_and_nothing_else) {
    const auto id = parse_uuid("01A1F93C-0f29-7000-8062-fc89bbaf8517");
    ASSERT_TRUE(id);
    EXPECT_EQ(to_string(*id), "01a1f93c-0f29-7000-8062-fc89bbaf8517");
    for (const char* text :
         {"", "01a1f93c0f2970008062fc89bbaf8517", "{01a1f93c-0f29-7000-8062-fc89bbaf8517}",
          "01a1f93c-0f29-7000-8062-fc89bbaf851", "01a1f93c-0f29-7000-8062-fc89bbaf85177",
          "01a1f93g-0f29-7000-8062-fc89bbaf8517", "01a1f93c_0f29-7000-8062-fc89bbaf8517"}) {
        EXPECT_FALSE(parse_uuid(text)) << text;
    }
}

RC_GTEST_PROP(uuids, of_version_7_sort_in_order_of_generation, ()) {
    const auto ms = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 47);
    const auto counter = *rc::gen::inRange<std::uint32_t>(0, (1u << 18) - 1);
    const time_point now{milliseconds{ms}};
    const auto id = make_uuid_v7(now, counter, *rc::gen::arbitrary<std::uint64_t>());
    RC_ASSERT(to_string(id)[14] == '7');
    RC_ASSERT(id.variant() == boost::uuids::uuid::variant_rfc_4122);
    RC_ASSERT(time_of_uuid_v7(id) == now);
    RC_ASSERT(id < make_uuid_v7(now, counter + 1, *rc::gen::arbitrary<std::uint64_t>()));
    RC_ASSERT(id < make_uuid_v7(now + 1ms, 0, *rc::gen::arbitrary<std::uint64_t>()));
}

TEST(digests, are_sha_256) {
    EXPECT_EQ(to_hex(bytes_of(sha256("abc"))),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256({"a", "", "bc"}), sha256("abc"));
}

TEST(texts, are_trimmed_of_white_space) {
    EXPECT_EQ(trimmed(" \t a b\t "), "a b");
    EXPECT_EQ(trimmed("a\r\n"), "a\r\n");
    EXPECT_EQ(trimmed("a\r\n", " \t\r\n"), "a");
    EXPECT_EQ(trimmed(" \t"), "");
    EXPECT_EQ(trimmed(""), "");
}

TEST(texts, have_characters_of_utf_8) {
    EXPECT_EQ(utf8_length("ab"), 1u);
    EXPECT_EQ(utf8_length("\xC3\xA9x"), 2u);
    EXPECT_EQ(utf8_length("\xE2\x82\xACx"), 3u);
    EXPECT_EQ(utf8_length("\xF4\x8F\xBF\xBFx"), 4u);
    for (const char* text :
         {"", "\x80", "\xC0\x80", "\xC3", "\xC3\x28", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82",
          "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"}) {
        EXPECT_EQ(utf8_length(text), 0u) << text;
    }
}

}  // namespace
}  // namespace callsign
