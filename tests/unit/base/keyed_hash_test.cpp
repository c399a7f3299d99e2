#include <callsign/base/keyed_hash.hpp>

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <unordered_set>
#include <vector>

namespace callsign {
namespace {

// Expected values from `openssl mac -macopt hexkey:000102...0f -macopt size:8 -macopt c-rounds:1
// -macopt d-rounds:3 -in FILE SIPHASH`, for inputs of the bytes 0, 1, 2, ... of each length.
TEST(keyed_hash, is_siphash_1_3) {
    const sip_key key{0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
    std::array<std::uint8_t, 64> bytes{};
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    const auto hash = [&](std::size_t size) { return sip_hash(key, std::span(bytes).first(size)); };
    EXPECT_EQ(hash(0), 0xabac0158050fc4dcULL);
    EXPECT_EQ(hash(1), 0xc9f49bf37d57ca93ULL);
    EXPECT_EQ(hash(7), 0xd3927d989bb11140ULL);
    EXPECT_EQ(hash(8), 0x369095118d299a8eULL);
    EXPECT_EQ(hash(15), 0xd320d86d2a519956ULL);
    EXPECT_EQ(hash(16), 0xcc4fdd1a7d908b66ULL);
    EXPECT_EQ(hash(17), 0x9cf2689063dbd80cULL);
    EXPECT_EQ(hash(63), 0x9d199062b7bbb3a8ULL);
}

// Attackers who choose keys to collide know the hash without a key, and the library's hash of text.
TEST(keyed_hash, has_a_random_key) {
    const std::string text = "estimate";
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    EXPECT_NE(keyed_hash{}(text), sip_hash({}, bytes));
    EXPECT_NE(keyed_hash{}(text), std::hash<std::string>{}(text));
    EXPECT_EQ(keyed_hash{}(text), keyed_hash{}(std::string_view("an estimate").substr(3)));
}

TEST(keyed_hash, spreads_similar_keys) {
    std::unordered_set<uuid, keyed_hash> all;
    for (std::uint32_t n = 0; n < 20'000; ++n) {
        uuid id{};
        std::copy_n(reinterpret_cast<const std::uint8_t*>(&n), sizeof n, id.data);
        all.insert(id);
    }
    std::size_t longest = 0;
    for (std::size_t b = 0; b < all.bucket_count(); ++b) {
        longest = std::max(longest, all.bucket_size(b));
    }
    EXPECT_LT(longest, 16u);
}

}  // namespace
}  // namespace callsign
