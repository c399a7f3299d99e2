// Goal: each response has the fields required of all, whether a handler of a route creates it or
// the network layer. Method: a whole server on a loopback port; every rejection by net, and each
// route, requested as by a page of another origin.

#include "api/front/routes.hpp"
#include "support/certificates.hpp"
#include "support/spawn.hpp"
#include "support/temp_dir.hpp"
#include "support/test_server.hpp"

#include <callsign/net/certificate.hpp>
#include <callsign/net/http_client.hpp>

#include <algorithm>
#include <boost/asio/detached.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>
#include <map>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

const std::string page = "https://board.example";

test_server_options options() {
    test_server_options o;
    o.service.api.cors_origins = {page};
    return o;
}

class listening_server {
  public:
    explicit listening_server(net::http_options o = {})
        : server_(
              h.io().get_executor(), {asio::ip::address_v4::loopback(), 0}, std::move(o),
              [this](net::http_request r) { return answer(this, std::move(r)); }, api::rejection,
              probe_,
              {.admit = [this](net::http_request r) { return h.service().admit(std::move(r)); },
               .body_limits_of =
                   [this](const net::http_header& header) {
                       return h.service().body_limits_of(header, 1u << 20);
                   },
               .complete = [this](const net::http_header& header,
                                  net::http_response& to) { h.service().complete(header, to); }}) {
        asio::co_spawn(h.io(), server_.run(), asio::detached);
    }

    net::http_client client() {
        return net::http_client(h.io().get_executor(),
                                {.deadline = 10s, .addresses = {server_.local_endpoint()}});
    }

    // The response to these bytes.
    net::http_answer ask(net::http_client& c, std::string bytes, bool has_body = true) {
        const auto sent = await(c.send(std::move(bytes)));
        EXPECT_FALSE(sent) << sent.message();
        auto answer = await(c.receive(has_body));
        EXPECT_TRUE(answer) << answer.error().error.message();
        return answer ? *std::move(answer) : net::http_answer();
    }
    net::http_answer ask(std::string bytes) {
        net::http_client c = client();
        return ask(c, std::move(bytes));
    }

    template <class T>
    T await(asio::awaitable<T> work) {
        const auto done = spawn_for_result(h.io().get_executor(), std::move(work));
        h.io().restart();
        while (!*done) h.io().run_one();
        return std::move(**done);
    }

    test_server h{options()};

  private:
    // Handles requests as the service does, with additional faults.
    static asio::awaitable<net::http_response> answer(listening_server* self, net::http_request r) {
        if (r.path() == "/throws") throw std::runtime_error("thrown");
        if (r.path() == "/upgrades") {
            net::http_response wrong;
            wrong.upgrade.emplace("", false, nullptr);
            co_return wrong;
        }
        if (r.path() == "/is-large") {
            net::http_response large;
            large.body.assign(1u << 20, 'l');
            co_return large;
        }
        auto answering = self->h.service().handle(std::move(r));
        co_return co_await std::move(answering);
    }

    net::http_probe probe_;
    net::http_server server_;
};

void expect_what_all_have(const std::string& what, const net::http_answer& answer) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, what);
    EXPECT_NE(answer.header("X-Request-Id"), "");
    EXPECT_EQ(answer.header("X-Content-Type-Options"), "nosniff");
    EXPECT_NE(answer.header("Cache-Control"), "");
    EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), page);
    EXPECT_NE(answer.header("Access-Control-Expose-Headers"), "");
    const std::pair<std::string, std::string> varies{"Vary", "Origin"};
    EXPECT_EQ(std::count(answer.headers.begin(), answer.headers.end(), varies), 1);
    if (answer.header("Content-Type") != "application/problem+json") return;
    const auto problem = boost::json::parse(answer.body).as_object();
    EXPECT_EQ(problem.at("requestId").as_string(), answer.header("X-Request-Id"));
    const auto reason =
        boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(answer.status));
    EXPECT_NE(problem.at("title").as_string(), std::string_view(reason.data(), reason.size()));
}

void expect_rejection(const std::string& what, const net::http_answer& answer, unsigned status,
                      std::string_view code) {
    EXPECT_EQ(answer.status, status) << what;
    EXPECT_NE(answer.body.find(code), std::string::npos) << what << ": " << answer.body;
    EXPECT_EQ(answer.header("Cache-Control").substr(0, 8), "no-store") << what;
    expect_what_all_have(what, answer);
}

const std::string fields = "Host: h\r\nOrigin: " + page + "\r\n";

std::string put(const std::string& path, const std::string& more) {
    return "POST " + path + " HTTP/1.1\r\n" + fields + more;
}

TEST(every_response, of_rejections_by_net) {
    net::http_options o;
    o.bodies_bytes_max = 600u << 10;
    listening_server server(o);
    const std::string get = "GET /livez HTTP/1.1\r\n" + fields;
    const std::string large = "Filler: " + std::string(20'000, 'x') + "\r\n\r\n";
    const std::string client_id =
        "X-Client-Id: 018e7bbf-4d7c-7000-8000-000000000001\r\n"
        "Content-Type: application/vnd.taskchampion.history-segment\r\n";
    const struct {
        const char* what;
        std::string bytes;
        unsigned status;
        std::string_view code;
    } all[]{
        {"no HTTP", "\1GET / HTTP/1.1\r\n" + fields + "\r\n", 400, "malformed-request"},
        {"a bare newline", get + "A: b\n\r\n", 400, "malformed-request"},
        {"an invalid field", get + "no field\r\n\r\n", 400, "malformed-request"},
        {"two hosts", get + "Host: i\r\n\r\n", 400, "malformed-request"},
        {"another coding", get + "Transfer-Encoding: gzip\r\n\r\n", 400, "malformed-request"},
        {"a large header", get + large, 431, "header-too-large"},
        {"expectations", get + "Expect: much\r\n\r\n", 417, "expectation-failed"},
        {"a large body", get + "Content-Length: 300000000\r\n\r\n", 413, "body-too-large"},
        {"a large chunk", get + "Transfer-Encoding: chunked\r\n\r\nfffff\r\n", 413,
         "body-too-large"},
        {"an invalid chunk", get + "Transfer-Encoding: chunked\r\n\r\nz\r\n", 400,
         "malformed-request"},
        {"no such path", put("/nowhere", "Content-Length: 3\r\n\r\n"), 404, "no-such-path"},
        {"another method", put("/livez", "Content-Length: 3\r\n\r\n"), 405, "method-not-allowed"},
        {"a large body of a client",
         put("/v1/client/add-version/018e7bbf-4d7c-7000-8000-000000000001",
             client_id + "Content-Length: 300000000\r\n\r\n"),
         404, "No such client"},
        {"a body without a token", put("/v1/tasks", "Content-Length: 3\r\n\r\n"), 401,
         "unauthenticated"},
        {"a handler that throws", "GET /throws HTTP/1.1\r\n" + fields + "\r\n", 500,
         "internal-error"},
        {"an unrequested upgrade", "GET /upgrades HTTP/1.1\r\n" + fields + "\r\n", 426,
         "upgrade-required"},
        {"a response without memory", "GET /is-large HTTP/1.1\r\n" + fields + "\r\n", 503,
         "overloaded"},
    };
    for (const auto& each : all) {
        expect_rejection(each.what, server.ask(each.bytes), each.status, each.code);
    }
}

TEST(every_response, of_a_body_without_memory) {
    net::http_options o;
    o.bodies_bytes_max = 100u << 10;
    listening_server server(o);
    const auto account = server.h.make_account("syn", "SYN");
    const std::string asks = put("/v1/tasks", "Authorization: Bearer " + account.token +
                                                  "\r\nContent-Length: 500000\r\n\r\n");
    expect_rejection("no memory", server.ask(asks + std::string(500'000, 'b')), 503, "overloaded");
}

TEST(every_response, of_a_client_that_is_too_slow) {
    net::http_options o;
    o.header_timeout = o.body_timeout = 20ms;
    listening_server server(o);
    const auto account = server.h.make_account("syn", "SYN");
    expect_rejection("half a header", server.ask("GET / HTTP/1.1\r\n" + fields), 408,
                     "request-timeout");
    expect_rejection("half a body",
                     server.ask(put("/v1/tasks", "Authorization: Bearer " + account.token +
                                                     "\r\nContent-Length: 9\r\n\r\nx")),
                     408, "request-timeout");
}

TEST(every_response, of_a_connection_too_many) {
    net::http_options o;
    o.connections_max = 1;
    listening_server server(o);
    const auto account = server.h.make_account("syn", "SYN");
    net::http_client first = server.client();
    // The connection is at work: its body is being sent.
    const auto half = server.await(first.send(put(
        "/v1/tasks", "Authorization: Bearer " + account.token + "\r\nContent-Length: 9\r\n\r\nx")));
    ASSERT_FALSE(half);
    while (server.h.io().poll() > 0) {
    }
    expect_rejection("one too many", server.ask("GET /livez HTTP/1.1\r\n" + fields + "\r\n"), 503,
                     "too-many-connections");
    // Also without the end of its header.
    expect_rejection("malformed", server.ask("GET /livez HTTP/1.1\r\n" + fields + "A: b\n"), 503,
                     "too-many-connections");
}

TEST(every_response, of_a_proxys_client_with_too_many_requests) {
    net::http_options o;
    o.connections_per_address_max = 1;
    listening_server server(o);
    const auto account = server.h.make_account("syn", "SYN");
    const std::string from = "X-Forwarded-For: 192.0.2.1\r\n";
    net::http_client first = server.client();
    const auto half =
        server.await(first.send(put("/v1/tasks", from + "Authorization: Bearer " + account.token +
                                                     "\r\nContent-Length: 9\r\n\r\nx")));
    ASSERT_FALSE(half);
    while (server.h.io().poll() > 0) {
    }
    expect_rejection("one too many", server.ask("GET /livez HTTP/1.1\r\n" + fields + from + "\r\n"),
                     503, "too-many-connections");
}

TEST(every_response, to_an_unencrypted_request) {
    const temp_dir dir;
    const auto files = write_certificate(dir.path(), "own");
    auto loaded = net::load_certificate(files.certificate, files.key);
    net::http_options o;
    o.tls = std::get<net::server_certificate>(std::move(loaded)).context;
    listening_server server(o);
    const auto answer = server.ask("GET / HTTP/1.1\r\n" + fields + "\r\n");
    expect_rejection("unencrypted", answer, 400, "https-required");
    EXPECT_EQ(answer.header("Strict-Transport-Security"), "") << "RFC 6797, section 7.2";
}

// The path with its `{}` filled in; most values do not exist.
std::string path_of(const api::route& route) {
    const std::map<std::string_view, std::string> names{
        {"{ref}", "SYN-1"}, {"{prefix}", "SYN"}, {"{file}", "app.js"}};
    std::string path(route.path);
    for (std::size_t at = 0; (at = path.find('{')) != path.npos;) {
        const std::string name = path.substr(at, path.find('}') - at + 1);
        const auto known = names.find(name);
        path.replace(at, name.size(),
                     known == names.end() ? "018e7bbf-4d7c-7000-8000-000000000001" : known->second);
    }
    return path;
}

TEST(every_response, of_each_route) {
    listening_server server;
    const auto account = server.h.make_account("syn", "SYN");
    for (const std::string& token : {std::string("nobodys"), account.token}) {
        for (const api::route& route : api::all_routes()) {
            const auto method = boost::beast::http::to_string(route.method);
            const std::string asked = std::string(method) + " " + path_of(route);
            const bool is_endless = route.path == "/v1/changes/stream" && token == account.token;
            net::http_client c = server.client();
            const auto answer = server.ask(
                c, asked + " HTTP/1.1\r\n" + fields + "Authorization: Bearer " + token + "\r\n\r\n",
                !is_endless);
            expect_what_all_have(asked, answer);
            const bool is_asset = answer.header("ETag").size() > 30;
            const bool is_secret = answer.header("Cache-Control").substr(0, 8) == "no-store";
            EXPECT_NE(is_asset, is_secret) << asked;
        }
    }
}

TEST(every_response, of_a_web_socket) {
    listening_server server;
    const auto account = server.h.make_account("syn", "SYN");
    net::http_client c = server.client();
    const auto answer = server.ask(
        c,
        "GET /v1/changes/socket HTTP/1.1\r\n" + fields + "Authorization: Bearer " + account.token +
            "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        false);
    EXPECT_EQ(answer.status, 101u);
    expect_what_all_have("a WebSocket", answer);
}

TEST(every_response, of_a_server_behind_tls_has_hsts) {
    net::http_options o;
    o.behind_tls = true;
    o.hsts_max_age = std::chrono::hours{1};
    listening_server server(o);
    for (const std::string path : {"/livez", "/nothing", "/throws"}) {
        const auto answer = server.ask("GET " + path + " HTTP/1.1\r\n" + fields + "\r\n");
        EXPECT_EQ(answer.header("Strict-Transport-Security"), "max-age=3600") << path;
    }
}

TEST(every_response, has_the_location_by_the_public_url) {
    test_server_options o;
    o.service.api.public_url = "https://home.example/tasks";
    test_server h(o);
    const auto account = h.make_account("syn", "SYN");
    const auto made = h.call(post("/v1/tasks", R"({"description":"x"})", account.token, "k1"));
    EXPECT_EQ(header(made, "Location"), "/tasks/v1/tasks/SYN-1");
    h.close();
    // The same receipt, from a server with another public URL.
    o.disk = &h.disk();
    o.clock = &h.clock();
    o.service.api.public_url = "https://tasks.example";
    test_server later(o);
    const auto again = later.call(post("/v1/tasks", R"({"description":"x"})", account.token, "k1"));
    EXPECT_EQ(header(again, "Location"), "/v1/tasks/SYN-1");
    EXPECT_EQ(header(again, "Idempotent-Replayed"), "true");
    EXPECT_EQ(again.body, made.body);
}

}  // namespace
}  // namespace callsign::testing
