#include "support/temp_dir.hpp"

#include <callsign/base/sha256.hpp>
#include <callsign/seal/at_rest.hpp>
#include <callsign/seal/master_key.hpp>
#include <callsign/seal/secret.hpp>

#include <array>
#include <concepts>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <ostream>
#include <rapidcheck/gtest.h>
#include <sstream>

namespace callsign::seal {
namespace {

using testing::temp_dir;

template <class T>
concept printable = requires(std::ostream& out, const T& value) {
    out << value;
};

static_assert(!printable<secret_bytes> && !printable<key>);
static_assert(!std::copy_constructible<secret_bytes> && !std::copy_constructible<key>);

std::string text_of(const secret_bytes& secret) {
    return {reinterpret_cast<const char*>(secret.bytes().data()), secret.size()};
}

TEST(secret_bytes, hold_their_input_and_release_it_when_moved) {
    secret_bytes one(std::string_view("correct horse"));
    EXPECT_EQ(text_of(one), "correct horse");
    const secret_bytes copy = one.copy();
    secret_bytes two = std::move(one);
    EXPECT_EQ(one.size(), 0u);
    EXPECT_TRUE(two == copy);
    EXPECT_FALSE(one == copy);
    one = std::move(two);
    EXPECT_TRUE(one == copy);
    EXPECT_TRUE(secret_bytes() == secret_bytes(0));
}

TEST(secret_bytes, are_wiped_beyond_the_part_that_is_kept) {
    secret_bytes secret(std::string_view("battery staple"));
    const std::span<std::uint8_t> all = secret.writable();
    secret.shrink(7);
    EXPECT_EQ(text_of(secret), "battery");
    for (std::size_t i = 7; i < all.size(); ++i) EXPECT_EQ(all[i], 0) << i;
}

// ---- at rest ----

constexpr std::array<std::uint8_t, nonce_bytes> some_nonce{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

key counting_key(std::uint8_t first) {
    std::array<std::uint8_t, key_bytes> bytes{};
    for (auto& b : bytes) b = first++;
    return key(bytes);
}

const belongs_to owner{purpose::device_key, account_id{7},
                       *parse_uuid("0666d464-418a-4a08-ad53-6f15c78270cd")};

std::string sealed_secret() {
    const secret_bytes secret(std::string_view("secret"));
    return seal_at_rest(counting_key(0), owner, some_nonce, secret.bytes());
}

bool opens(const key& master, const belongs_to& who, std::string_view sealed) {
    return std::holds_alternative<secret_bytes>(open_at_rest(master, who, sealed));
}

// Computed with another library: this format is stored on disks and must not change by accident.
TEST(at_rest, has_the_form_that_is_on_disks) {
    EXPECT_EQ(to_hex(sealed_secret()),
              "010102030405060708090a0b0c17ed27186c2693a502a665d9cb99746114d0f8505fc5");
    const auto opened = open_at_rest(counting_key(0), owner, sealed_secret());
    ASSERT_TRUE(std::holds_alternative<secret_bytes>(opened));
    EXPECT_EQ(text_of(std::get<secret_bytes>(opened)), "secret");
}

TEST(at_rest, decrypts_for_its_owner_only) {
    const std::string sealed = sealed_secret();
    belongs_to other = owner;
    other.purpose = purpose::device_secret;
    EXPECT_FALSE(opens(counting_key(0), other, sealed));
    other = owner;
    other.account = account_id{8};
    EXPECT_FALSE(opens(counting_key(0), other, sealed));
    other = owner;
    other.client_id.data[15] ^= 1;
    EXPECT_FALSE(opens(counting_key(0), other, sealed));
    EXPECT_FALSE(opens(counting_key(1), owner, sealed));
    EXPECT_TRUE(opens(counting_key(0), owner, sealed));
}

TEST(at_rest, differs_from_a_clients_body_even_with_one_key) {
    const std::string body = seal_body(counting_key(0), owner.client_id, some_nonce, "secret");
    EXPECT_FALSE(opens(counting_key(0), owner, body));
    EXPECT_EQ(open_body(counting_key(0), owner.client_id, sealed_secret()),
              opened_body(open_error::does_not_open));
}

TEST(at_rest, does_not_decrypt_with_any_bit_flipped_or_any_byte_missing) {
    const std::string sealed = sealed_secret();
    for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
        std::string damaged = sealed;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_FALSE(opens(counting_key(0), owner, damaged)) << bit;
    }
    for (std::size_t size = 0; size < sealed.size(); ++size) {
        EXPECT_FALSE(opens(counting_key(0), owner, sealed.substr(0, size))) << size;
    }
}

// ---- the master key ----

constexpr std::string_view digits =
    "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";

class master_key_file : public ::testing::Test {
  protected:
    void write(std::string_view text, std::filesystem::perms mode) {
        std::ofstream(path_) << text;
        std::filesystem::permissions(path_, mode);
    }

    temp_dir dir_;
    std::filesystem::path path_ = dir_.path() / "master.key";
    static constexpr auto own = std::filesystem::perms::owner_read;
};

// The ring encrypts with this key.
bool is_ring_of(const master_key& found, const key& first) {
    const auto* const ring = std::get_if<key_ring>(&found);
    return ring != nullptr && ring->fingerprint() == key_ring(first.copy()).fingerprint();
}

TEST(master_key, is_64_digits) {
    for (const char* end : {"", "\n", "\r\n"}) {
        const auto parsed = parse_master_key(std::string(digits) + end);
        ASSERT_TRUE(std::holds_alternative<key_ring>(parsed));
        EXPECT_TRUE(is_ring_of(parsed, counting_key(0)));
    }
    const std::string all(digits);
    for (const std::string& text : {std::string(), all.substr(1), all + "0", " " + all.substr(1),
                                    all.substr(1) + "g", all + "\n\n", all + " ", "0x" + all}) {
        const auto parsed = parse_master_key(text);
        ASSERT_TRUE(std::holds_alternative<master_key_error>(parsed)) << text;
        EXPECT_EQ(std::get<master_key_error>(parsed), master_key_error::malformed);
    }
}

TEST_F(master_key_file, is_read_if_only_its_owner_can_read_it) {
    write(digits, own);
    const auto read = read_master_key(path_);
    EXPECT_TRUE(is_ring_of(read, counting_key(0)));
}

TEST_F(master_key_file, is_rejected_if_others_can_read_or_write_it) {
    using std::filesystem::perms;
    write(digits, own);
    for (perms open : {perms::group_read, perms::group_write, perms::others_read, perms::group_exec,
                       perms::others_write, perms::others_exec}) {
        std::filesystem::permissions(path_, own | open);
        const auto read = read_master_key(path_);
        ASSERT_TRUE(std::holds_alternative<master_key_error>(read));
        EXPECT_EQ(std::get<master_key_error>(read), master_key_error::open_to_all);
    }
}

TEST_F(master_key_file, is_rejected_if_it_is_missing_or_not_a_file_or_malformed) {
    const auto error = [&](const std::filesystem::path& file) {
        return std::get<master_key_error>(read_master_key(file));
    };
    EXPECT_EQ(error(path_), master_key_error::unreadable);
    EXPECT_EQ(error(dir_.path()), master_key_error::not_a_file);
    std::string followed(digits), longer(digits);
    followed.append(3, '\n');
    longer.append(1000, '0');
    for (const std::string& text : {std::string(), std::string("x"), followed, longer}) {
        std::filesystem::remove(path_);
        write(text, own | std::filesystem::perms::owner_write);
        EXPECT_EQ(error(path_), master_key_error::malformed) << text;
    }
}

TEST_F(master_key_file, is_created_once_and_for_its_owner) {
    const key wanted = counting_key(200);
    EXPECT_FALSE(make_master_key(path_, wanted.bytes()));
    EXPECT_EQ(std::filesystem::status(path_).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_TRUE(is_ring_of(read_master_key(path_), wanted));

    EXPECT_EQ(make_master_key(path_, counting_key(0).bytes()), master_key_error::exists);
    EXPECT_TRUE(is_ring_of(read_master_key(path_), wanted));
    EXPECT_EQ(make_master_key(dir_.path() / "no" / "folder", wanted.bytes()),
              master_key_error::not_written);
}

// ---- rotation ----

TEST(key_ring, encrypts_with_its_first_key_and_decrypts_with_any) {
    std::vector<key> keys;
    keys.push_back(counting_key(1));
    keys.push_back(counting_key(2));
    keys.push_back(counting_key(0));
    const key_ring ring(std::move(keys));
    EXPECT_EQ(ring.former(), 2u);
    const auto opened = ring.open(owner, sealed_secret());
    ASSERT_TRUE(std::holds_alternative<secret_bytes>(opened));
    EXPECT_EQ(text_of(std::get<secret_bytes>(opened)), "secret");
    EXPECT_FALSE(ring.is_current(owner, sealed_secret()));
    const std::string anew = ring.seal(owner, some_nonce, std::get<secret_bytes>(opened).bytes());
    EXPECT_TRUE(ring.is_current(owner, anew));
    EXPECT_TRUE(opens(counting_key(1), owner, anew));
    EXPECT_FALSE(opens(counting_key(0), owner, anew));
    const key_ring other(counting_key(9));
    EXPECT_FALSE(std::holds_alternative<secret_bytes>(other.open(owner, sealed_secret())));
}

TEST(key_ring, its_fingerprint_is_of_the_first_key) {
    std::vector<key> keys;
    keys.push_back(counting_key(1));
    keys.push_back(counting_key(2));
    EXPECT_EQ(key_ring(std::move(keys)).fingerprint(), key_ring(counting_key(1)).fingerprint());
    EXPECT_NE(key_ring(counting_key(2)).fingerprint(), key_ring(counting_key(1)).fingerprint());
    EXPECT_EQ(key_ring(counting_key(1)).fingerprint().size(), 16u);
    EXPECT_FALSE(digits.find(key_ring(counting_key(0)).fingerprint()) != std::string_view::npos);
}

TEST(master_key, former_keys_follow_the_current_one) {
    std::string second(digits);
    second[0] = 'f';
    for (const char* between : {"\n", "\r\n", " "}) {
        const auto parsed = parse_master_key(std::string(digits) + between + second + "\n");
        ASSERT_TRUE(is_ring_of(parsed, counting_key(0)));
        EXPECT_EQ(std::get<key_ring>(parsed).former(), 1u);
    }
    const auto fault = [](const std::string& text) {
        const auto parsed = parse_master_key(text);
        return std::get<master_key_error>(parsed);
    };
    const std::string all = std::string(digits) + "\n";
    EXPECT_EQ(fault(all + all), master_key_error::malformed) << "the same key twice";
    EXPECT_EQ(fault(all + "\n" + second), master_key_error::malformed);
    EXPECT_EQ(fault(std::string(digits) + second), master_key_error::malformed);
    std::string many = all;
    for (char c = '1'; c <= '4'; ++c) many.append(64, c).append("\n");
    EXPECT_TRUE(std::holds_alternative<key_ring>(parse_master_key(many)));
    EXPECT_EQ(fault(many + std::string(64, '5')), master_key_error::too_many);
}

TEST_F(master_key_file, is_rotated_and_the_former_keys_dropped) {
    ASSERT_FALSE(make_master_key(path_, counting_key(0).bytes()));
    // An earlier rotation was interrupted.
    std::ofstream(path_.string() + ".new") << "half";
    EXPECT_FALSE(rotate_master_key(path_, counting_key(1).bytes()));
    auto now = read_master_key(path_);
    ASSERT_TRUE(is_ring_of(now, counting_key(1)));
    EXPECT_EQ(std::get<key_ring>(now).former(), 1u);
    EXPECT_TRUE(
        std::holds_alternative<secret_bytes>(std::get<key_ring>(now).open(owner, sealed_secret())));
    EXPECT_EQ(std::filesystem::status(path_).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
    for (std::uint8_t n = 2; n <= 4; ++n) {
        EXPECT_FALSE(rotate_master_key(path_, counting_key(n).bytes()));
    }
    EXPECT_EQ(rotate_master_key(path_, counting_key(5).bytes()), master_key_error::too_many);
    EXPECT_FALSE(drop_former_keys(path_));
    now = read_master_key(path_);
    ASSERT_TRUE(is_ring_of(now, counting_key(4)));
    EXPECT_EQ(std::get<key_ring>(now).former(), 0u);
}

TEST_F(master_key_file, one_that_cannot_be_rotated_is_not_changed) {
    EXPECT_EQ(rotate_master_key(path_, counting_key(1).bytes()), master_key_error::unreadable);
    EXPECT_EQ(drop_former_keys(path_), master_key_error::unreadable);
    EXPECT_FALSE(std::filesystem::exists(path_));
    ASSERT_FALSE(make_master_key(path_, counting_key(0).bytes()));
    // A non-empty directory blocks the path of the new file.
    std::filesystem::create_directories(path_.string() + ".new/taken");
    EXPECT_EQ(rotate_master_key(path_, counting_key(1).bytes()), master_key_error::not_written);
    EXPECT_TRUE(is_ring_of(read_master_key(path_), counting_key(0)));
    std::filesystem::permissions(path_, own | std::filesystem::perms::others_read);
    EXPECT_EQ(drop_former_keys(path_), master_key_error::open_to_all);
}

}  // namespace
}  // namespace callsign::seal
