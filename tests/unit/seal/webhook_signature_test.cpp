#include <callsign/seal/webhook_signature.hpp>

#include <gtest/gtest.h>

namespace callsign::seal {
namespace {

// The example of the Standard Webhooks libraries.
TEST(webhook_signature, is_the_specifications) {
    const auto secret = parse_webhook_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    ASSERT_TRUE(secret);
    EXPECT_EQ(webhook_signature(secret->bytes(), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
                                R"({"test": 2432232314})"),
              "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(webhook_signature, is_of_id_time_and_body) {
    const secret_bytes secret(std::string_view("0123456789012345678901234567890"));
    const auto of = [&](std::string_view id, std::int64_t at, std::string_view body) {
        return webhook_signature(secret.bytes(), id, at, body);
    };
    const std::string one = of("a", 1, "x");
    EXPECT_EQ(of("a", 1, "x"), one);
    EXPECT_NE(of("b", 1, "x"), one);
    EXPECT_NE(of("a", 2, "x"), one);
    EXPECT_NE(of("a", 1, "y"), one);
}

TEST(webhook_secret, is_read_back_from_its_text) {
    for (std::size_t size = webhook_secret_bytes_min; size <= webhook_secret_bytes_max; ++size) {
        secret_bytes secret(size);
        for (std::size_t n = 0; n < size; ++n) secret.writable()[n] = static_cast<std::uint8_t>(~n);
        const auto read = parse_webhook_secret(webhook_secret_text(secret.bytes()));
        ASSERT_TRUE(read) << size;
        EXPECT_TRUE(*read == secret) << size;
    }
}

TEST(webhook_secret, has_limits_of_length_and_a_prefix) {
    const auto of = [](std::size_t size) {
        return webhook_secret_text(secret_bytes(size).bytes());
    };
    EXPECT_TRUE(parse_webhook_secret(of(24)));
    EXPECT_FALSE(parse_webhook_secret(of(23)));
    EXPECT_TRUE(parse_webhook_secret(of(64)));
    EXPECT_FALSE(parse_webhook_secret(of(65)));
    EXPECT_FALSE(parse_webhook_secret(of(0)));
    const std::string good = of(24);
    EXPECT_FALSE(parse_webhook_secret(good.substr(6)));
    EXPECT_FALSE(parse_webhook_secret("WHSEC_" + good.substr(6)));
    EXPECT_FALSE(parse_webhook_secret(good + "===="));
    EXPECT_FALSE(parse_webhook_secret(good.substr(0, good.size() - 4) + "A-A_"));
    EXPECT_FALSE(parse_webhook_secret(good.substr(0, good.size() - 4) + "   \n"));
    EXPECT_FALSE(parse_webhook_secret(good.substr(0, good.size() - 1)));
}

}  // namespace
}  // namespace callsign::seal
