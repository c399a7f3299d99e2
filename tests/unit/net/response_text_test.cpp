#include "net/response_text.hpp"

#include <gtest/gtest.h>

namespace callsign::net {
namespace {

std::string head_of(const http_response& response) {
    std::string head;
    append_head(response, {.request_id = "r", .date = "d"}, head);
    return head;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
}

// Of any origin: a problem of the API, a plain text for Taskwarrior, a rejection by net.
TEST(response_text, every503_has_a_retry_after) {
    EXPECT_EQ(count(head_of({503, "text/plain", "", {}}), "\r\nRetry-After: 1\r\n"), 1u);
    const std::string said = head_of({503, "text/plain", "", {{"retry-after", "30"}}});
    EXPECT_EQ(count(said, "\r\nretry-after: 30\r\n"), 1u);
    EXPECT_EQ(count(said, "Retry-After"), 0u);
    for (const unsigned status : {200u, 409u, 500u, 507u}) {
        EXPECT_EQ(count(head_of({status, "text/plain", "", {}}), "Retry-After"), 0u) << status;
    }
}

// No cache stores the response, and no browser guesses its type.
TEST(response_text, every_response_has_its_security_headers) {
    for (const unsigned status : {200u, 204u, 304u, 400u, 413u, 500u, 503u}) {
        const std::string usual = head_of({status, "text/plain", "", {}});
        EXPECT_EQ(count(usual, "\r\nCache-Control: no-store\r\n"), 1u) << status;
        EXPECT_EQ(count(usual, "\r\nX-Content-Type-Options: nosniff\r\n"), 1u) << status;
        EXPECT_EQ(count(usual, "Strict-Transport-Security"), 0u) << "the connection is unencrypted";
    }
    const std::string kept = head_of({200, "text/css", "", {{"cache-control", "immutable"}}});
    EXPECT_EQ(count(kept, "\r\ncache-control: immutable\r\n"), 1u);
    EXPECT_EQ(count(kept, "no-store"), 0u);
    std::string by_tls;
    append_head({}, {.request_id = "r", .date = "d", .strict_transport = "max-age=60"}, by_tls);
    EXPECT_EQ(count(by_tls, "\r\nStrict-Transport-Security: max-age=60\r\n"), 1u);
}

TEST(response_text, has_a_content_length_where_a_body_is_allowed) {
    EXPECT_EQ(count(head_of({200, "text/plain", "abc", {}}), "\r\nContent-Length: 3\r\n"), 1u);
    for (const unsigned status : {204u, 304u}) {
        EXPECT_FALSE(may_have_body(status));
        EXPECT_EQ(count(head_of({status, "", "", {}}), "Content-Length"), 0u);
    }
}

}  // namespace
}  // namespace callsign::net
