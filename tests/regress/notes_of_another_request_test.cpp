// A request without a body was answered with the results of the previous request's header on the
// same connection: its route and its authorisation.

#include "net/request_reader.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace callsign::net {
namespace {

TEST(regress, notes_of_another_request) {
    const http_options options;
    http_hooks hooks;
    hooks.body_limits_of = [](const http_header& header) {
        body_limits terms{.bytes_max = 100};
        terms.notes = std::make_shared<const std::string>(header.target());
        return terms;
    };
    body_lease memory;
    request_reader reader(options, hooks, memory);
    const std::string bytes =
        "POST http://h/one HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab"
        "GET /two HTTP/1.1\r\nHost: h\r\n\r\n";
    reader.begin();
    const auto space = reader.space();
    std::memcpy(space.data(), bytes.data(), bytes.size());
    reader.received(bytes.size());
    ASSERT_EQ(reader.advance(), request_reader::step::ready);
    EXPECT_EQ(reader.take().target(), "/one");
    ASSERT_TRUE(reader.notes());
    EXPECT_EQ(*static_cast<const std::string*>(reader.notes().get()), "/one");
    reader.begin();
    ASSERT_EQ(reader.advance(), request_reader::step::ready);
    EXPECT_EQ(reader.take().target(), "/two");
    EXPECT_FALSE(reader.notes());
}

}  // namespace
}  // namespace callsign::net
