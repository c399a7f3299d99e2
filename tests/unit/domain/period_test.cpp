// The period of an instant, by the calendar of a time zone, not of UTC.

#include <callsign/domain/period.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

std::string day(const char* at, std::string_view zone) {
    return period_of(parse_rfc3339(at).value(), reset_policy::daily, zone);
}

TEST(period, is_a_day_a_month_or_a_year_of_a_place) {
    const auto at = parse_rfc3339("2026-12-31T23:30:00Z").value();
    EXPECT_EQ(period_of(at, reset_policy::never, "UTC"), "");
    EXPECT_EQ(period_of(at, reset_policy::daily, "UTC"), "20261231");
    EXPECT_EQ(period_of(at, reset_policy::monthly, "UTC"), "202612");
    EXPECT_EQ(period_of(at, reset_policy::yearly, "UTC"), "2026");
    EXPECT_EQ(period_of(at, reset_policy::daily, "Europe/Berlin"), "20270101");
    EXPECT_EQ(period_of(at, reset_policy::monthly, "Europe/Berlin"), "202701");
    EXPECT_EQ(period_of(at, reset_policy::yearly, "Europe/Berlin"), "2027");
}

// The first and the last time zone to begin a day: 25 hours apart.
TEST(period, the_same_moment_lies_in_three_days) {
    const char* const at = "2026-11-20T10:30:00Z";
    EXPECT_EQ(day(at, "Pacific/Kiritimati"), "20261121");
    EXPECT_EQ(day(at, "UTC"), "20261120");
    EXPECT_EQ(day(at, "Pacific/Pago_Pago"), "20261119");
}

TEST(period, days_of_23_and_25_hours_begin_at_local_midnight) {
    EXPECT_EQ(day("2026-03-28T22:59:59.999Z", "Europe/Berlin"), "20260328");
    EXPECT_EQ(day("2026-03-28T23:00:00Z", "Europe/Berlin"), "20260329");
    EXPECT_EQ(day("2026-03-29T21:59:59.999Z", "Europe/Berlin"), "20260329");
    EXPECT_EQ(day("2026-03-29T22:00:00Z", "Europe/Berlin"), "20260330");
    EXPECT_EQ(day("2026-10-24T22:00:00Z", "Europe/Berlin"), "20261025");
    EXPECT_EQ(day("2026-10-25T22:59:59.999Z", "Europe/Berlin"), "20261025");
    EXPECT_EQ(day("2026-10-25T23:00:00Z", "Europe/Berlin"), "20261026");
}

TEST(period, leap_days_are_days) {
    EXPECT_EQ(day("2028-02-29T12:00:00Z", "UTC"), "20280229");
    EXPECT_EQ(day("2028-02-29T12:00:00Z", "Pacific/Kiritimati"), "20280301");
    EXPECT_EQ(day("2100-02-28T23:59:59Z", "UTC"), "21000228");
    EXPECT_EQ(day("2100-03-01T00:00:00Z", "UTC"), "21000301");
}

// Samoa had no 30 December 2011.
TEST(period, a_day_that_a_time_zone_skipped_holds_no_instant) {
    EXPECT_EQ(day("2011-12-30T09:59:59Z", "Pacific/Apia"), "20111229");
    EXPECT_EQ(day("2011-12-30T10:00:00Z", "Pacific/Apia"), "20111231");
}

TEST(period, zones_go_by_their_exact_names) {
    for (const char* good : {"UTC", "Europe/Berlin", "America/Argentina/Ushuaia", "Etc/GMT+12"}) {
        EXPECT_TRUE(is_time_zone(good)) << good;
    }
    for (const char* bad : {"", "Berlin", "europe/berlin", "../UTC", "localtime", "UTC ",
                            "Europe/Berlin/x", "zone.tab", "/etc/localtime"}) {
        EXPECT_FALSE(is_time_zone(bad)) << bad;
    }
    EXPECT_EQ(day("2026-11-20T10:30:00Z", "No/Where"), "20261120") << "UTC's";
}

TEST(period, policies_are_read_back) {
    for (const auto policy :
         {reset_policy::never, reset_policy::daily, reset_policy::monthly, reset_policy::yearly}) {
        EXPECT_EQ(parse_reset_policy(to_string(policy)), policy);
    }
    EXPECT_FALSE(parse_reset_policy("weekly"));
}

}  // namespace
}  // namespace callsign
