#include <callsign/net/address.hpp>

#include <gtest/gtest.h>

namespace callsign::net {
namespace {

address_bytes bytes_of(const char* text) {
    return to_bytes(boost::asio::ip::make_address(text));
}

TEST(address, counts_a_network_of64_bits_as_one) {
    EXPECT_EQ(counted_as(bytes_of("2001:db8::1")), counted_as(bytes_of("2001:db8::ffff:0:0:1")));
    EXPECT_NE(counted_as(bytes_of("2001:db8::1")), counted_as(bytes_of("2001:db8:0:1::1")));
    EXPECT_NE(counted_as(bytes_of("192.0.2.1")), counted_as(bytes_of("192.0.2.2")));
    EXPECT_EQ(counted_as(bytes_of("192.0.2.1")), counted_as(bytes_of("::ffff:192.0.2.1")));
}

TEST(address, blocks_are_read_and_written) {
    for (const char* text : {"10.0.0.0/8", "192.0.2.1", "::1", "fd00::/8", "2001:db8::/33", "::/0",
                             "0.0.0.0/0", "10.1.2.3/31"}) {
        const auto block = parse_address_block(text);
        ASSERT_TRUE(block) << text;
        EXPECT_EQ(to_string(*block), text);
    }
    for (const char* text : {"", "proxy", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8x", "::1/129",
                             "10.0.0/8", "/8", "10.0.0.0/-1", " 10.0.0.0"}) {
        EXPECT_FALSE(parse_address_block(text)) << text;
    }
}

TEST(address, only_globally_routable_addresses_are_public) {
    for (const char* text :
         {"1.1.1.1",          "9.255.255.255",   "11.0.0.0",     "100.63.255.255",
          "100.128.0.0",      "172.15.255.255",  "172.32.0.0",   "192.167.255.255",
          "192.169.0.0",      "169.253.255.255", "169.255.0.0",  "223.255.255.255",
          "198.17.255.255",   "2606:4700::1111", "2a00::1",      "::ffff:1.1.1.1",
          "64:ff9b::1.1.1.1", "2002:101:101::1", "2000::1",      "2001:200::1",
          "2001:db7:ffff::1", "2001:db9::1",     "3ffe:ffff::1", "3fff:1000::1",
          "2620:4f:8000::1"}) {
        EXPECT_TRUE(is_public(bytes_of(text))) << text;
    }
    for (const char* text :
         {"0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
          "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.0", "172.31.255.255",
          "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255",
          "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
          "255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
          "64:ff9b::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1",
          "2001:db8::1", "2002:7f00:1::1", "2002:c0a8:101::1", "fc00::1", "fdff::1", "fe80::1",
          "febf::1", "fec0::1", "ff02::1",
          // addresses that embed an IPv4 address
          "::1.1.1.1", "::ffff:0:127.0.0.1", "::ffff:0:1.1.1.1", "64:ff9b::169.254.169.254",
          "64:ff9b:1::1.1.1.1", "64:ff9b::1:1.1.1.1", "2001:0:101:101::", "2002:a00:1::1",
          "2002:a9fe:a9fe::1",
          // the first and last of reserved blocks, and unassigned addresses
          "2001:1ff:ffff::1", "2001:db8:ffff::1", "3fff::1", "3fff:fff:ffff::1", "1fff:ffff::1",
          "4000::1", "5f00::1", "fe00::1"}) {
        EXPECT_FALSE(is_public(bytes_of(text))) << text;
    }
}

TEST(address, blocks_contain_addresses_with_their_prefix) {
    const auto holds = [](const char* block, const char* address) {
        return parse_address_block(block)->contains(bytes_of(address));
    };
    EXPECT_TRUE(holds("10.0.0.0/8", "10.255.0.1"));
    EXPECT_FALSE(holds("10.0.0.0/8", "11.0.0.1"));
    EXPECT_TRUE(holds("10.0.0.0/9", "10.127.0.1"));
    EXPECT_FALSE(holds("10.0.0.0/9", "10.128.0.1"));
    EXPECT_TRUE(holds("10.1.2.2/31", "10.1.2.3"));
    EXPECT_FALSE(holds("10.1.2.2/31", "10.1.2.4"));
    EXPECT_TRUE(holds("0.0.0.0/0", "192.0.2.1"));
    EXPECT_FALSE(holds("0.0.0.0/0", "2001:db8::1"));
    EXPECT_TRUE(holds("192.0.2.1", "::ffff:192.0.2.1"));
    EXPECT_TRUE(holds("::1", "::1"));
    EXPECT_FALSE(holds("::1", "::2"));
    for (const address_block& block : loopback_blocks()) {
        EXPECT_FALSE(block.contains(bytes_of("192.0.2.1")));
    }
    EXPECT_TRUE(loopback_blocks()[0].contains(bytes_of("127.0.0.2")));
    EXPECT_TRUE(loopback_blocks()[1].contains(bytes_of("::1")));
}

TEST(address, the_client_is_the_right_most_that_is_not_trusted) {
    const std::vector<address_block> trusted{*parse_address_block("10.0.0.0/8"),
                                             *parse_address_block("::1")};
    const auto client = [&](std::vector<std::string_view> fields) {
        return forwarded_for(fields, trusted);
    };
    const auto is = [](const char* text) { return std::optional(bytes_of(text)); };
    EXPECT_EQ(client({}), std::nullopt);
    EXPECT_EQ(client({"192.0.2.1"}), is("192.0.2.1"));
    // the first is not from a trusted proxy
    EXPECT_EQ(client({"198.51.100.9, 192.0.2.1"}), is("192.0.2.1"));
    EXPECT_EQ(client({"198.51.100.9,192.0.2.1 ,10.0.0.7,::1"}), is("192.0.2.1"));
    EXPECT_EQ(client({"198.51.100.9", "192.0.2.1", "10.0.0.7"}), is("192.0.2.1"));
    EXPECT_EQ(client({"10.0.0.7, 10.0.0.8"}), is("10.0.0.7"));
    EXPECT_EQ(client({"192.0.2.1:4711"}), is("192.0.2.1"));
    EXPECT_EQ(client({"[2001:db8::1]:4711"}), is("2001:db8::1"));
    EXPECT_EQ(client({"2001:db8::1"}), is("2001:db8::1"));
    EXPECT_EQ(client({"[2001:db8::1]"}), is("2001:db8::1"));
    for (const char* nobody : {"", "unknown", "192.0.2", "[::1", "192.0.2.1, _hidden", ","}) {
        EXPECT_EQ(client({nobody}), std::nullopt) << nobody;
    }
}

std::string by(const std::vector<std::string_view>& fields) {
    const std::vector<address_block> trusted{*parse_address_block("10.0.0.0/8")};
    const auto found = forwarded_by(fields, trusted);
    return found ? to_string(address_block{*found, 128}) : "none";
}

TEST(forwarded_by, is_the_right_most_that_is_not_trusted) {
    EXPECT_EQ(by({"for=192.0.2.60;proto=http;by=203.0.113.43"}), "192.0.2.60");
    EXPECT_EQ(by({"for=192.0.2.1, For=\"[2001:db8::17]:4711\""}), "2001:db8::17");
    EXPECT_EQ(by({"for=192.0.2.1, for=198.51.100.2, proto=https;for=10.1.1.1"}), "198.51.100.2");
    EXPECT_EQ(by({"for=192.0.2.1", "for=198.51.100.2"}), "198.51.100.2");
    EXPECT_EQ(by({"for=10.0.0.1"}), "10.0.0.1");
}

TEST(forwarded_by, stops_at_the_first_invalid_value) {
    for (const std::string_view text :
         {"", ";", "for", "for=", "for=unknown", "for=_hidden", "for=192.0.2.1;for=192.0.2.2",
          "by=192.0.2.1", "for=\"192.0.2.1", "for=\"192.0.2.1, for=192.0.2.2\"", "for=\"\\",
          "for=192.0.2.1, for=unknown", "for=192.0.2.1,"}) {
        EXPECT_EQ(by({text}), "none") << text;
    }
    EXPECT_EQ(by({"for=unknown, for=10.0.0.1"}), "10.0.0.1");
}

}  // namespace
}  // namespace callsign::net
