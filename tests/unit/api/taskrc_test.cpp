#include "api/rest/taskrc.hpp"

#include <gtest/gtest.h>

namespace callsign::api {
namespace {

TEST(url_of_server, is_that_of_the_clients_request) {
    EXPECT_EQ(url_of_server("tasks.example.org", false), "http://tasks.example.org");
    EXPECT_EQ(url_of_server("[::1]:8080", false), "http://[::1]:8080");
    EXPECT_EQ(url_of_server("127.0.0.1:8080", true), "https://127.0.0.1:8080");
}

TEST(url_of_server, needs_a_host) {
    for (const char* host : {"", "a b", "a\nb", "a\r\nsync.server.url=http://evil", "a/b", "a#b",
                             "user@a", "a?b", "a%0ab", "a\\nb", "\xC3\xA9"}) {
        EXPECT_EQ(url_of_server(host, false), "") << host;
    }
    EXPECT_EQ(url_of_server(std::string(1000, 'a'), false), "");
}

TEST(taskrc, has_a_line_for_each_setting) {
    EXPECT_EQ(taskrc_of({"http://h:1", "the-id", "the-secret", "key"}),
              "sync.server.url=http://h:1\n"
              "sync.server.client_id=the-id\n"
              "sync.encryption_secret=the-secret\n"
              "uda.key.type=string\n"
              "uda.key.label=Key\n");
}

TEST(taskrc, omits_a_secret_that_is_not_shown) {
    EXPECT_EQ(taskrc_of({"", "the-id", "the-secret", ""}),
              "sync.server.url=URL-OF-THIS-SERVER\n"
              "sync.server.client_id=the-id\n"
              "sync.encryption_secret=the-secret\n");
}

}  // namespace
}  // namespace callsign::api
