// The writer's cache of committed rows.

#include <callsign/ports/store.hpp>
#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/devices.hpp>

#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace callsign {
namespace {

row_of<device> device_of(std::int64_t id, int client, std::string name = {}) {
    device d{.id = device_id{id}, .account = account_id{1}, .name = std::move(name)};
    d.client_id.data[0] = static_cast<std::uint8_t>(client);
    d.client_id.data[1] = static_cast<std::uint8_t>(client >> 8);
    return std::make_shared<const device>(std::move(d));
}

std::vector<table_changes> change(row_ptr before, row_ptr now) {
    return {{&info_of_table<device>(), {{std::move(before), std::move(now)}}}};
}

class remembered : public ::testing::Test {
  protected:
    row_of<device> by_id(std::int64_t id) {
        return cache_.of<device>().find<devices_by_id>(std::tuple(device_id{id}));
    }
    row_of<device> by_client(int client) {
        return cache_.of<device>().find<devices_by_client>(
            std::tuple(device_of(0, client)->client_id));
    }

    row_cache cache_;
};

TEST_F(remembered, is_found_by_each_of_its_keys) {
    const auto one = device_of(1, 11);
    cache_.of<device>().put(one);
    EXPECT_EQ(by_id(1), one);
    EXPECT_EQ(by_client(11), one);
    EXPECT_FALSE(by_id(2));
    EXPECT_FALSE(by_client(12));
}

TEST_F(remembered, does_not_outlive_its_row) {
    const auto one = device_of(1, 11);
    cache_.of<device>().put(one);
    cache_.committed(change(one, nullptr));
    EXPECT_FALSE(by_id(1));
    EXPECT_FALSE(by_client(11));
}

TEST_F(remembered, is_what_was_committed_last) {
    const auto before = device_of(1, 11, "a"), now = device_of(1, 12, "b");
    cache_.of<device>().put(before);
    cache_.committed(change(before, now));
    EXPECT_EQ(by_id(1), now);
    EXPECT_EQ(by_client(12), now);
    EXPECT_FALSE(by_client(11)) << "a former key of the row";
}

// Two rows exchange their keys in one commit.
TEST_F(remembered, follows_keys_that_are_exchanged) {
    const auto a = device_of(1, 11), b = device_of(2, 12);
    const auto a2 = device_of(1, 12), b2 = device_of(2, 11);
    cache_.of<device>().put(a);
    cache_.of<device>().put(b);
    cache_.committed({{&info_of_table<device>(), {{a, a2}, {b, b2}}}});
    EXPECT_EQ(by_client(12), a2);
    EXPECT_EQ(by_client(11), b2);
    EXPECT_EQ(by_id(1), a2);
    EXPECT_EQ(by_id(2), b2);
}

TEST_F(remembered, is_limited_and_keeps_what_is_used) {
    const auto max = static_cast<int>(table<device>::cached_max);
    for (int n = 1; n <= 4 * max; ++n) {
        cache_.of<device>().put(device_of(n, n));
        EXPECT_TRUE(by_id(1)) << n;
        EXPECT_TRUE(by_client(1)) << n;
    }
    int kept = 0;
    for (int n = 1; n <= 4 * max; ++n) kept += by_id(n) ? 1 : 0;
    EXPECT_LE(kept, max);
    EXPECT_GE(kept, max / 2);
}

// The row was in the older half and has moved to the younger; it must be removed from both.
TEST_F(remembered, is_removed_from_both_halves) {
    const auto half = static_cast<int>(table<device>::cached_max) / 2;
    const auto one = device_of(1, 1);
    cache_.of<device>().put(one);
    for (int n = 2; n <= half + 1; ++n) cache_.of<device>().put(device_of(n, n));
    EXPECT_EQ(by_id(1), one);
    cache_.committed(change(one, nullptr));
    EXPECT_FALSE(by_id(1));
    EXPECT_FALSE(by_client(1));
}

}  // namespace
}  // namespace callsign
