// Goal: a request that can be rejected for its header is rejected there, with the response that it
// would get with its body; and no other is. Method: routes by tokens, each submitted for admission
// and then as a whole.

#include "support/test_server.hpp"

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

constexpr const char* client = "9d2b6c9e-2f47-4a55-9b4f-6f0f5f2c7a11";
constexpr const char* stranger = "00000000-0000-4000-8000-000000000009";
constexpr const char* nil = "00000000-0000-0000-0000-000000000000";

struct admitting : ::testing::Test {
    struct path {
        verb method;
        std::string target;
        std::string type;
    };
    const std::vector<path> paths{
        {verb::post, "/v1/tasks", "application/json"},
        {verb::post, "/v1/tasks", "text/plain"},
        {verb::patch, "/v1/tasks/SYN-1", "application/merge-patch+json"},
        {verb::get, "/v1/tasks/SYN-1", ""},
        {verb::post, "/v1/series", "application/json"},
        {verb::post, "/v1/tokens", "application/json"},
        {verb::post, "/v1/devices", "application/json"},
        {verb::post, "/v1/admin/accounts", "application/json"},
        {verb::post, "/v1/admin/accounts/syn/import", "application/json"},
        {verb::put, "/v1/tasks", "application/json"},
        {verb::post, "/v1/nothing", "application/json"},
        {verb::get, "/livez", ""},
        {verb::post, std::string("/v1/client/add-version/") + nil,
         "application/vnd.taskchampion.history-segment"},
        {verb::post, std::string("/v1/client/add-version/") + nil, "text/plain"},
        {verb::post, "/v1/client/add-version/x", "application/vnd.taskchampion.history-segment"},
        {verb::post, std::string("/v1/client/add-snapshot/") + nil,
         "application/vnd.taskchampion.snapshot"},
        {verb::get, "/v1/client/snapshot", ""},
        {verb::post, "/v1/client/nothing", ""},
    };

    admitting() {
        write = h.make_account("syn", "SYN").token;
        read = h.make_token("syn", token_scope::read);
        admin = h.make_token("syn", token_scope::admin);
        root = h.operator_token();
        h.run(h.engine().submit(
            create_account{"desk", "DESK", "default", sha256("t"), *parse_uuid(client)}));
    }

    static bool is_of_the_header(unsigned status) {
        return status == 401 || status == 403 || status == 405 || status == 406 || status == 415;
    }

    test_server h;
    std::string write, read, admin, root;
};

TEST_F(admitting, rejects_exactly_the_requests_with_an_invalid_header) {
    int rejected = 0, admitted = 0;
    for (const path& p : paths) {
        for (const std::string& token :
             {std::string(), std::string("cs_x"), read, write, admin, root}) {
            for (const char* id : {"", "x", stranger, client}) {
                header_list headers = bearer(token);
                if (!p.type.empty()) headers.emplace_back("Content-Type", p.type);
                if (*id) headers.emplace_back("X-Client-Id", id);
                const auto request = make_request(p.method, p.target, "{", headers);
                SCOPED_TRACE(p.target + " " + p.type + " " + token + " " + id);
                const auto given = h.admit(request);
                const auto answer = h.call(request);
                if (given.rejected) {
                    ++rejected;
                    EXPECT_EQ(given.rejected->status, answer.status);
                    EXPECT_EQ(given.rejected->body, answer.body);
                    EXPECT_EQ(given.rejected->headers, answer.headers);
                } else {
                    ++admitted;
                    EXPECT_FALSE(is_of_the_header(answer.status)) << answer.status;
                    EXPECT_NE(answer.body, "No such client");
                }
            }
        }
    }
    EXPECT_GT(rejected, 200);
    EXPECT_GT(admitted, 80);
}

TEST_F(admitting, determines_the_payer) {
    const auto payer = [&](std::string_view target, std::string_view token) {
        return h.admit(post(target, "{}", token)).payer.id();
    };
    EXPECT_GT(payer("/v1/tasks", write), 0);
    EXPECT_EQ(payer("/v1/tasks", write), payer("/v1/series", admin));
    EXPECT_LT(payer("/v1/admin/accounts", root), 0);
    EXPECT_EQ(h.admit(get("/livez")).payer, payer::anonymous());
}

// While an account has no free share, its large bodies are rejected; those of other accounts are
// not.
TEST(admitting_large_bodies, a_large_body_without_a_free_share_is_rejected_at_its_header) {
    test_server_options options;
    options.engine.queue_bytes_max = 400'000;
    options.engine.account_bytes_max = 200'000;
    test_server h(options);
    const std::string loud = h.make_account("loud", "LOUD").token;
    const std::string quiet = h.make_account("quiet", "QUIET").token;
    const auto head = [](std::string_view token, std::size_t bytes) {
        auto request = post("/v1/tasks", "", token, "k");
        request.insert("Content-Length", std::to_string(bytes));
        return request;
    };
    // Submitted during the requests in progress; the response comes before they end.
    const auto is_rejected = [&](std::string_view token, std::size_t bytes) {
        std::optional<net::admission> given;
        boost::asio::co_spawn(
            h.io(), h.service().admit(head(token, bytes)),
            [&](const std::exception_ptr&, net::admission a) { given = std::move(a); });
        while (!given && h.step()) {
        }
        EXPECT_TRUE(given);
        if (given->rejected) {
            EXPECT_EQ(given->rejected->status, 503u);
            EXPECT_EQ(header(*given->rejected, "Retry-After"), "1");
        }
        return given->rejected.has_value();
    };
    for (const auto& token : {loud, quiet}) EXPECT_FALSE(is_rejected(token, 150'000));

    const std::string note = "\"" + std::string(50'000, 'x') + "\"";
    const auto answer = h.start(post("/v1/tasks",
                                     R"({"description":"large","attributes":{"a":)" + note +
                                         R"(,"b":)" + note + R"(,"c":)" + note + "}}",
                                     loud, "l"));
    while (h.engine().queue_depth() == 0 && h.step()) {
    }
    ASSERT_EQ(h.engine().queue_depth(), 1u);
    EXPECT_TRUE(is_rejected(loud, 150'000));
    EXPECT_FALSE(is_rejected(loud, 10'000));
    EXPECT_FALSE(is_rejected(quiet, 150'000));
    h.settle();
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->status, 201u);
    EXPECT_FALSE(is_rejected(loud, 150'000));
}

}  // namespace
}  // namespace callsign::testing
