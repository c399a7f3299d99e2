#include "api/ops/openapi.hpp"

#include "api/front/routes.hpp"
#include "api/ops/descriptions.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace callsign::api {
namespace {

constexpr std::array routes{
    route{verb::get, "/v1/things", access::read},
    route{verb::post, "/v1/things", access::write, body::message},
    route{verb::delete_, "/v1/things", access::operators},
    route{verb::get, "/v1/client/{id}", access::device, body::none, nullptr, keyed::no, true},
    route{verb::get, "/livez", access::anyone, body::none, nullptr, keyed::no, true},
};

// The statuses of the completed operation, in order.
std::string statuses_of(std::string_view operation, std::string_view responses) {
    const std::string text = complete_openapi(std::string("paths:\n") + std::string(operation) +
                                                  "\n      responses:\n" + std::string(responses),
                                              routes);
    std::string all;
    for (std::size_t at = 0; (at = text.find("\n        '", at)) != text.npos; ++at) {
        all += (all.empty() ? "" : " ") + text.substr(at + 10, 3);
    }
    return all;
}

TEST(openapi, adds_the_responses_of_a_route) {
    constexpr std::string_view ok = "        '200': {description: Things.}\n";
    EXPECT_EQ(statuses_of("  /v1/things:\n    get:", ok),
              "200 400 401 403 406 408 413 417 429 431 500 503");
    EXPECT_EQ(statuses_of("  /v1/things:\n    post:", ok),
              "200 400 401 403 406 408 413 415 417 429 431 500 503 507");
    EXPECT_EQ(statuses_of("  /v1/things:\n    delete:", ok),
              "200 400 401 403 406 408 413 417 431 500 503 507");
    EXPECT_EQ(statuses_of("  /v1/client/{id}:\n    get:", ok),
              "200 400 403 404 408 413 417 431 500 503");
    EXPECT_EQ(statuses_of("  /livez:\n    get:", ok), "200 400 408 413 417 431 500 503");
}

TEST(openapi, its_own_responses_come_first_and_keep_their_lines) {
    const std::string text = complete_openapi(
        "paths:\n"
        "  /v1/things:\n"
        "    get:\n"
        "      responses:\n"
        "        '503': {description: Closed.}\n"
        "        '200':\n"
        "          example: |\n"
        "            one\n"
        "\n"
        "            two\n"
        "\n"
        "    description: Things.\n",
        routes);
    EXPECT_TRUE(
        text.starts_with("paths:\n"
                         "  /v1/things:\n"
                         "    get:\n"
                         "      responses:\n"
                         "        '200':\n"
                         "          example: |\n"
                         "            one\n"
                         "\n"
                         "            two\n"
                         "        '400': {$ref: '#/components/responses/Malformed'}\n"))
        << text;
    EXPECT_TRUE(
        text.ends_with("        '503': {description: Closed.}\n"
                       "\n"
                       "    description: Things.\n"))
        << text;
}

TEST(openapi, responds_like_a_read_where_it_says_so) {
    EXPECT_EQ(statuses_of("  /v1/things:\n    delete:",
                          "        '500': {$ref: '#/components/responses/ReadFailed'}\n"),
              "400 401 403 406 408 413 417 431 500 503");
}

TEST(openapi, adds_the_content_of_problems) {
    const std::string text = complete_openapi(
        "components:\n"
        "  responses:\n"
        "    Gone:\n"
        "      description: The task is gone.\n"
        "      problems: [task-deleted, cursor-expired]\n"
        "    Long:\n"
        "      description: >-\n"
        "        Not\n"
        "        said.\n"
        "      headers:\n"
        "        Retry-After: {description: Seconds.}\n"
        "      detail: >-\n"
        "        Said\n"
        "        twice.\n"
        "      unread: true\n"
        "      problems: [overloaded]\n",
        {});
    EXPECT_EQ(text,
              "components:\n"
              "  responses:\n"
              "    Gone:\n"
              "      description: The task is gone.\n"
              "      headers:\n"
              "        X-Request-Id: {$ref: '#/components/headers/X-Request-Id'}\n"
              "      content:\n"
              "        application/problem+json:\n"
              "          schema:\n"
              "            allOf:\n"
              "              - $ref: '#/components/schemas/Problem'\n"
              "              - properties: {status: {const: 410}, code: {enum: [task-deleted, "
              "cursor-expired]}}\n"
              "          example:\n"
              "            type: urn:callsign:problem:task-deleted\n"
              "            title: Task deleted\n"
              "            status: 410\n"
              "            detail: The task is gone.\n"
              "            code: task-deleted\n"
              "            retryable: false\n"
              "            requestId: 738f1e8b-1\n"
              "        application/x-protobuf: {schema: {title: callsign.v1.Problem}}\n"
              "    Long:\n"
              "      description: >-\n"
              "        Not\n"
              "        said.\n"
              "      headers:\n"
              "        Retry-After: {description: Seconds.}\n"
              "        X-Request-Id: {$ref: '#/components/headers/X-Request-Id'}\n"
              "      content:\n"
              "        application/problem+json:\n"
              "          schema:\n"
              "            allOf:\n"
              "              - $ref: '#/components/schemas/Problem'\n"
              "              - properties: {status: {const: 503}, code: {enum: [overloaded]}}\n"
              "          example:\n"
              "            type: urn:callsign:problem:overloaded\n"
              "            title: Server overloaded\n"
              "            status: 503\n"
              "            detail: >-\n"
              "              Said\n"
              "              twice.\n"
              "            code: overloaded\n"
              "            retryable: true\n"
              "        application/x-protobuf: {schema: {title: callsign.v1.Problem}}\n");
}

TEST(openapi, completes_its_source) {
    const std::string text = complete_openapi(openapi_source(), all_routes());
    EXPECT_EQ(text.find("\n      problems:"), text.npos);
    EXPECT_EQ(text.find("\n      unread:"), text.npos);
    EXPECT_TRUE(text.starts_with("openapi: 3.1.0\n"));
    EXPECT_GT(text.size(), openapi_source().size());
}

TEST(openapi_json, has_the_values_of_the_yaml) {
    EXPECT_EQ(api::openapi_json("{a: 1, b: -2.5, c: true, d: null, e: '1', f: 2026-11-01, "
                                "g: 'true', h: [x, 3000000000], i: 0x10, '200': yes}"),
              R"({"a":1,"b":-2.5E0,"c":true,"d":null,"e":"1","f":"2026-11-01","g":"true",)"
              R"("h":["x",3000000000],"i":"0x10","200":"yes"})");
    EXPECT_EQ(api::openapi_json("text: |\n  one\n  two\n"), R"({"text":"one\ntwo\n"})");
}

// Generators make a union of all media types, and nothing of protobuf's empty schema.
TEST(openapi_json, has_json_bodies_only) {
    EXPECT_EQ(api::openapi_json("content:\n"
                                "  application/x-protobuf: {schema: {title: P}}\n"
                                "  application/json: {schema: {type: object}}\n"
                                "  application/merge-patch+json: {schema: {type: object}}\n"),
              R"({"content":{"application/json":{"schema":{"type":"object"}}}})");
    EXPECT_EQ(
        api::openapi_json("[{content: {application/problem+json: {}, "
                          "application/x-protobuf: {}}}, {content: {text/event-stream: {}}}]"),
        R"([{"content":{"application/problem+json":{}}},{"content":{"text/event-stream":{}}}])");
}

}  // namespace
}  // namespace callsign::api
