#include "api/front/router.hpp"

#include <gtest/gtest.h>

namespace callsign::api {
namespace {

constexpr route table[] = {
    {verb::post, "/v1/tasks"},
    {verb::get, "/v1/tasks/{ref}"},
    {verb::delete_, "/v1/tasks/{ref}"},
    {verb::get, "/v1/admin/accounts/{name}/tokens/{id}"},
    {verb::get, "/"},
    {verb::post, "/v1/tasks/{ref}:complete"},
    {verb::post, "/v1/tasks:batchCreate"},
};

routing route_of(verb method, std::string_view path) {
    return find_route(table, method, path);
}

TEST(router, finds_by_method_and_path) {
    EXPECT_EQ(route_of(verb::post, "/v1/tasks").route, &table[0]);
    EXPECT_EQ(route_of(verb::get, "/").route, &table[4]);
    const auto found = route_of(verb::delete_, "/v1/tasks/SYN-42");
    EXPECT_EQ(found.route, &table[2]);
    EXPECT_EQ(found.captured[0], "SYN-42");
}

TEST(router, captures_segments_as_sent) {
    const auto found = route_of(verb::get, "/v1/admin/accounts/a%2Fb/tokens/7");
    ASSERT_EQ(found.route, &table[3]);
    EXPECT_EQ(found.captured[0], "a%2Fb");
    EXPECT_EQ(found.captured[1], "7");
}

TEST(router, distinguishes_a_wrong_method_from_an_unknown_path) {
    const auto found = route_of(verb::put, "/v1/tasks/SYN-42");
    EXPECT_EQ(found.route, nullptr);
    EXPECT_TRUE(found.path_known);
    EXPECT_EQ(allowed_methods(table, "/v1/tasks/SYN-42"), "GET, HEAD, DELETE");
    EXPECT_EQ(allowed_methods(table, "/v1/tasks"), "POST");
}

TEST(router, rejects_unknown_paths) {
    for (const auto path : {"", "/v1", "/v1/tasks/", "/v1/tasks/a/b", "/v1/tasksX", "/V1/tasks",
                            "/v1/admin/accounts//tokens/7", "/v1/admin/accounts/a/tokens",
                            "/v1/admin/accounts/a/tokens/7/"}) {
        EXPECT_EQ(route_of(verb::get, path).route, nullptr) << path;
        EXPECT_FALSE(route_of(verb::get, path).path_known) << path;
    }
}

// URL libraries may encode the colon.
TEST(router, a_verb_follows_a_colon_in_either_form) {
    for (const auto path : {"/v1/tasks/SYN-42:complete", "/v1/tasks/SYN-42%3Acomplete",
                            "/v1/tasks/SYN-42%3acomplete"}) {
        const auto found = route_of(verb::post, path);
        EXPECT_EQ(found.route, &table[5]) << path;
        EXPECT_EQ(found.captured[0], "SYN-42") << path;
    }
    EXPECT_EQ(route_of(verb::post, "/v1/tasks:batchCreate").route, &table[6]);
    EXPECT_EQ(route_of(verb::post, "/v1/tasks%3AbatchCreate").route, &table[6]);
    for (const auto path :
         {"/v1/tasks/%3Acomplete", "/v1/tasks/SYN-42%3Bcomplete", "/v1/tasks/SYN-42complete",
          "/v1/tasks/SYN-42:complete/x", "/v1/tasks%3Abatch", "/v1%3AbatchCreate"}) {
        EXPECT_EQ(route_of(verb::post, path).route, nullptr) << path;
    }
}

TEST(router, a_head_is_routed_as_its_get) {
    EXPECT_EQ(route_of(verb::head, "/v1/tasks/SYN-42").route, &table[1]);
    EXPECT_EQ(route_of(verb::head, "/v1/tasks").route, nullptr);
}

}  // namespace
}  // namespace callsign::api
