// Row keys: bytes that sort as their parts do, and that can be split into them again.

#include <callsign/ports/table.hpp>

#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace callsign {
namespace {

using namespace std::string_view_literals;

TEST(keys, are_ordered_as_their_integers_are) {
    const std::vector<std::int64_t> values{
        std::numeric_limits<std::int64_t>::min(), -257, -256, -1, 0, 1, 255, 256, 65'536,
        std::numeric_limits<std::int64_t>::max()};
    for (const std::int64_t a : values) {
        for (const std::int64_t b : values) {
            EXPECT_EQ(key_of_parts(std::tuple(a)) < key_of_parts(std::tuple(b)), a < b) << a << b;
        }
        const row_key key = key_of_parts(std::tuple(a));
        EXPECT_EQ(key_reader(key).integer(), a);
    }
}

TEST(keys, are_ordered_as_their_texts_are_whatever_comes_after) {
    const std::vector<std::string_view> texts{""sv,       "\0"sv, "\0\0"sv, "\0\1"sv,
                                              "\0\xFF"sv, "\1"sv, "a"sv,    "a\0"sv,
                                              "a\0b"sv,   "aa"sv, "b"sv,    "\xFF"sv};
    for (const auto a : texts) {
        for (const auto b : texts) {
            for (const std::int64_t more : {-1, 0, 1}) {
                const row_key left = key_of_parts(std::tuple(a, more));
                const row_key right = key_of_parts(std::tuple(b, std::int64_t{0}));
                const bool is_less = std::tuple(a, more) < std::tuple(b, std::int64_t{0});
                EXPECT_EQ(left < right, is_less);
            }
        }
        const row_key key = key_of_parts(std::tuple(a, std::int64_t{5}, a));
        key_reader parts(key);
        EXPECT_EQ(parts.text(), a);
        EXPECT_EQ(parts.integer(), 5);
        EXPECT_EQ(parts.text(), a);
    }
}

TEST(keys, of_one_text_are_no_prefix_of_others) {
    const row_key a = key_of_parts(std::tuple("a"sv)), ab = key_of_parts(std::tuple("a\0b"sv));
    EXPECT_FALSE(ab.starts_with(a));
}

TEST(keys, have_ids_and_digests_as_they_are) {
    const uuid id = make_uuid_v7(time_point{}, 1, 2);
    const digest d = sha256("x");
    const row_key key = key_of_parts(std::tuple(id, d));
    key_reader parts(key);
    EXPECT_EQ(parts.bytes(sizeof id),
              std::string_view(reinterpret_cast<const char*>(id.data), sizeof id));
    EXPECT_EQ(parts.bytes(sizeof d),
              std::string_view(reinterpret_cast<const char*>(d.data()), sizeof d));
}

}  // namespace
}  // namespace callsign
