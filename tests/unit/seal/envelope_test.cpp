
#include "support/hex.hpp"

#include <callsign/seal/envelope.hpp>

#include <array>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace callsign::seal {
namespace {

using testing::from_hex;

constexpr std::array<std::uint8_t, nonce_bytes> nonce{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
const uuid place = *parse_uuid("b0517957-f912-4d49-8330-f612e73030c4");

std::span<const std::uint8_t> view_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

key key_of(std::string_view bytes) {
    return key(view_of(bytes).first<key_bytes>());
}

const key& some_key() {
    static const key k = key_of("0123456789abcdef0123456789ABCDEF");
    return k;
}

// The parameters of TaskChampion's own test files; key and body computed with another library.
TEST(envelope, agrees_with_taskchampions_test_vector) {
    const uuid client_id = *parse_uuid("0666d464-418a-4a08-ad53-6f15c78270cd");
    const key k = derive_key(view_of("b4a4e6b7b811eda1dc1a2693ded"), client_id);
    EXPECT_TRUE(
        k == key_of(from_hex("3161783d519a867f5c43b4ce89affb6d238de3bc4e3bbce6ad6045e9d6ed6423")));
    const std::string sealed = seal_body(k, place, nonce, "SUCCESS");
    EXPECT_EQ(sealed, from_hex("010102030405060708090a0b0c"
                               "804d9081897e3da1bf90f7e2222d00df3e3c01f7eacff4"));
    EXPECT_EQ(open_body(k, place, sealed), opened_body("SUCCESS"));

    // A wrong secret, client id or version id: none decrypts it.
    const uuid other = *parse_uuid("0666d464-418a-4a08-ad53-6f15c78270ce");
    const opened_body closed = open_error::does_not_open;
    EXPECT_EQ(
        open_body(derive_key(view_of("b4a4e6b7b811eda1dc1a2693dee"), client_id), place, sealed),
        closed);
    EXPECT_EQ(open_body(derive_key(view_of("b4a4e6b7b811eda1dc1a2693ded"), other), place, sealed),
              closed);
    EXPECT_EQ(open_body(k, other, sealed), closed);
}

TEST(envelope, reports_errors_of_its_header) {
    const std::string sealed = seal_body(some_key(), place, nonce, "x");
    for (std::size_t size = 0; size < sealed.size(); ++size) {
        const auto found = open_body(some_key(), place, std::string_view(sealed).substr(0, size));
        EXPECT_EQ(found,
                  opened_body(size <= 13 ? open_error::too_small : open_error::does_not_open))
            << size;
    }
    for (int version : {0x00, 0x02, 0x31, 0xFF}) {
        std::string other = sealed;
        other[0] = static_cast<char>(version);
        EXPECT_EQ(open_body(some_key(), place, other), opened_body(open_error::wrong_version));
    }
    EXPECT_EQ(open_body(some_key(), place, sealed + '\0'), opened_body(open_error::does_not_open));
}

TEST(envelope, may_have_nothing_in_it) {
    const std::string sealed = seal_body(some_key(), place, nonce, "");
    EXPECT_EQ(sealed.size(), envelope_bytes);
    EXPECT_EQ(open_body(some_key(), place, sealed), opened_body(""));
}

RC_GTEST_PROP(envelope, decrypts_what_it_encrypted, (const std::string& text)) {
    const auto drawn = *rc::gen::container<std::array<std::uint8_t, nonce_bytes>>(
        rc::gen::arbitrary<std::uint8_t>());
    const std::string sealed = seal_body(some_key(), place, drawn, text);
    RC_ASSERT(sealed.size() == text.size() + envelope_bytes);
    RC_ASSERT(open_body(some_key(), place, sealed) == opened_body(text));
}

RC_GTEST_PROP(envelope, does_not_decrypt_with_any_bit_flipped, (const std::string& text)) {
    std::string sealed = seal_body(some_key(), place, nonce, text);
    const auto bit = *rc::gen::inRange<std::size_t>(0, sealed.size() * 8);
    sealed[bit / 8] = static_cast<char>(sealed[bit / 8] ^ (1 << (bit % 8)));
    const auto wanted = bit < 8 ? open_error::wrong_version : open_error::does_not_open;
    RC_ASSERT(open_body(some_key(), place, sealed) == opened_body(wanted));
}

RC_GTEST_PROP(envelope, does_not_decrypt_in_another_place_or_with_another_key, ()) {
    const std::string sealed = seal_body(some_key(), place, nonce, "text");
    const auto bit = *rc::gen::inRange<std::size_t>(0, 8 * key_bytes);
    std::string other_key(reinterpret_cast<const char*>(some_key().bytes().data()), key_bytes);
    other_key[bit / 8] = static_cast<char>(other_key[bit / 8] ^ (1 << (bit % 8)));
    RC_ASSERT(open_body(key_of(other_key), place, sealed) ==
              opened_body(open_error::does_not_open));
    uuid other_place = place;
    other_place.data[bit / 8 % 16] ^= static_cast<std::uint8_t>(1 << (bit % 8));
    RC_ASSERT(open_body(some_key(), other_place, sealed) == opened_body(open_error::does_not_open));
}

}  // namespace
}  // namespace callsign::seal
