// Goal: a server with a certificate works over TLS as it does unencrypted, for its own command
// line, for followers and for Taskwarriors; and a renewal needs no restart. Method: the real
// programs.

#include "fixture.hpp"
#include "support/certificates.hpp"
#include "support/localhost.hpp"
#include "support/taskwarrior.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <gmock/gmock.h>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using ::testing::HasSubstr;

class tls_test : public system_test {
  protected:
    // Copies a pair to the configured paths.
    void show(const certificate_files& pair) const {
        const auto over = std::filesystem::copy_options::overwrite_existing;
        std::filesystem::copy_file(pair.certificate, temp_path("shown.pem"), over);
        std::filesystem::copy_file(pair.key, temp_path("shown.key"), over);
    }
    certificate_files make(const std::string& name, int until = 30) const {
        return write_certificate(temp_path(""), name, until);
    }
    std::unique_ptr<server> start_with(const certificate_files& pair) const {
        show(pair);
        return start({}, {{"CALLSIGN_TLS_CERTIFICATE", temp_path("shown.pem").string()},
                          {"CALLSIGN_TLS_KEY", temp_path("shown.key").string()},
                          {"CALLSIGN_MASTER_KEY", std::string(64, '7')}});
    }
    static std::string url_of(const server& s) {
        return "https://" + own_name() + ":" + std::to_string(s.port());
    }
    // Connects separately, and trusts that certificate only.
    static bool shows(const server& s, const certificate_files& pair) {
        ssl::context context(ssl::context::tls_client);
        context.load_verify_file(pair.certificate.string());
        net::http_client_options o;
        o.host = "localhost";
        o.port = std::to_string(s.port());
        o.addresses = {{asio::ip::address_v4::loopback(), s.port()}};
        o.tls = &context;
        const auto answer = net::blocking_http_client(std::move(o)).exchange({"GET", "/livez"});
        return answer && answer->status == 200;
    }
    static bool says(server& s, const std::string& text, std::size_t from) {
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        while (std::chrono::steady_clock::now() < deadline) {
            if (s.child().errors().find(text, from) != std::string::npos) return true;
        }
        return false;
    }
    // Runs callsign without access to the server's data directory.
    finished callsign_elsewhere(std::vector<std::string> words, const server& s) const {
        words.insert(words.begin(), (programs() / "callsign").string());
        return run(words, timeout, {{"CALLSIGN_TOKEN", s.admin_token()}});
    }
};

TEST_F(tls_test, the_command_line_asks_over_tls) {
    const auto pair = make("own");
    auto s = start_with(pair);
    EXPECT_THAT(s->banner().back(), HasSubstr("https://127.0.0.1:"));
    // The lock identifies the local server of a directory, whatever names its certificate has.
    EXPECT_TRUE(ask_callsign({"account", "list"}).contains("accounts"));
    const std::vector<std::string> list{"account", "list", "--url", url_of(*s)};
    const finished unknown = callsign_elsewhere(list, *s);
    EXPECT_EQ(unknown.status.code, 1);
    EXPECT_THAT(unknown.err, HasSubstr("its certificate is not trusted"));
    auto vouched = list;
    vouched.insert(vouched.end(), {"--cacert", pair.certificate.string()});
    EXPECT_EQ(callsign_elsewhere(vouched, *s).status.code, 0);
    vouched.back() = make("other").certificate.string();
    EXPECT_EQ(callsign_elsewhere(vouched, *s).status.code, 1);
    vouched.back() = "/nonexistent/ca.pem";
    EXPECT_EQ(callsign_elsewhere(vouched, *s).status.code, 2);
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
}

TEST_F(tls_test, a_renewed_certificate_is_shown_after_a_hangup_and_a_bad_one_is_not) {
    const auto first = make("first");
    auto s = start_with(first);
    EXPECT_TRUE(shows(*s, first));
    const auto second = make("second");
    const auto hang_up = [&](const certificate_files& pair, const std::string& text) {
        show(pair);
        const auto from = s->child().errors().size();
        s->child().signal(SIGHUP);
        EXPECT_TRUE(says(*s, text, from)) << s->child().errors();
    };
    hang_up({first.certificate, second.key}, "has no private key of the certificate");
    EXPECT_TRUE(shows(*s, first));
    hang_up(make("past", -2), "the certificate expired");
    EXPECT_TRUE(shows(*s, first));
    hang_up(second, "configuration reloaded");
    EXPECT_TRUE(shows(*s, second));
    EXPECT_FALSE(shows(*s, first));
    hang_up(make("soon", 3), "expires within 7 days");
}

TEST_F(tls_test, followers_receive_changes_on_a_websocket) {
    const auto pair = make("own");
    auto s = start_with(pair);
    const std::string token(
        ask_callsign({"account", "create", "ada", "--prefix", "ADA"}).at("token").as_string());
    ssl::context context(ssl::context::tls_client);
    context.load_verify_file(pair.certificate.string());
    asio::io_context io;
    namespace websocket = boost::beast::websocket;
    websocket::stream<ssl::stream<tcp::socket>> socket(io, context);
    socket.next_layer().next_layer().connect({asio::ip::address_v4::loopback(), s->port()});
    socket.next_layer().handshake(ssl::stream_base::client);
    socket.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
        request.set("Authorization", "Bearer " + token);
        request.set("Sec-WebSocket-Protocol", "callsign.feed.v1+json");
    }));
    socket.handshake("localhost", "/v1/changes/socket?after=0");

    net::http_client_options o{"localhost", std::to_string(s->port()), timeout};
    o.addresses = {{asio::ip::address_v4::loopback(), s->port()}};
    o.tls = &context;
    net::blocking_http_client http(std::move(o));
    const auto made = http.exchange({"POST",
                                     "/v1/tasks",
                                     {{"Authorization", "Bearer " + token},
                                      {"Content-Type", "application/json"},
                                      {"Idempotency-Key", "\"one\""}},
                                     R"({"description":"over TLS"})"});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->status, 201u);
    std::string said;
    while (said.find("over TLS") == std::string::npos) {
        boost::beast::flat_buffer message;
        socket.read(message);
        said = boost::beast::buffers_to_string(message.data());
    }
    EXPECT_THAT(said, HasSubstr("ADA-1"));
}

// Returns its standard error output when it listens on all addresses.
TEST_F(tls_test, an_unencrypted_server_on_all_addresses_warns) {
    const auto pair = make("own");
    const auto warns = [&](const std::string& listen, const environment& env) {
        process child({callsignd(), "--data-dir", data_dir().string(), "--listen", listen}, env);
        bool started = false;
        while (const auto line = child.read_line(timeout)) {
            started = line->starts_with("callsignd listening on ");
            if (started) break;
        }
        EXPECT_TRUE(started) << child.errors();
        child.signal(SIGTERM);
        expect_exit(child, 0);
        return child.errors().find("unencrypted listener on a non-loopback address; enable TLS") !=
               std::string::npos;
    };
    EXPECT_TRUE(warns("0.0.0.0:0", {}));
    EXPECT_TRUE(warns("0.0.0.0:0", {{"CALLSIGN_SERVER_PUBLIC_URL", "http://tasks.example.org"}}));
    EXPECT_FALSE(warns("127.0.0.1:0", {}));
    EXPECT_FALSE(warns("0.0.0.0:0", {{"CALLSIGN_SERVER_PUBLIC_URL", "https://tasks.example.org"}}));
    EXPECT_FALSE(warns("0.0.0.0:0", {{"CALLSIGN_TLS_CERTIFICATE", pair.certificate.string()},
                                     {"CALLSIGN_TLS_KEY", pair.key.string()}}));
}

TEST_F(tls_test, what_is_to_be_pasted_has_the_public_address) {
    auto s = start({}, {{"CALLSIGN_SERVER_PUBLIC_URL", "https://tasks.example.org/sync/"},
                        {"CALLSIGN_MASTER_KEY", std::string(64, '7')}});
    std::string pasted;
    for (const std::string& line : s->banner()) pasted += line + "\n";
    EXPECT_THAT(pasted, HasSubstr("curl -sS https://tasks.example.org/sync/v1/tasks"));
    ask_callsign({"account", "create", "ada", "--prefix", "ADA"});
    const json::object device = ask_callsign({"device", "add", "ada", "--name", "laptop"});
    EXPECT_THAT(std::string(device.at("taskrc").as_string()),
                HasSubstr("sync.server.url=https://tasks.example.org/sync\n"));
}

TEST_F(tls_test, the_token_of_a_killed_server_is_sent_to_no_other_server) {
    auto s = start();
    const std::uint16_t port = s->port();
    EXPECT_EQ(callsign({"account", "list"}).status.code, 0);
    s->child().kill();
    ASSERT_TRUE(std::filesystem::exists(data_dir() / "listen.url"));
    asio::io_context io;
    tcp::acceptor stranger(io, {asio::ip::address_v4::loopback(), port});
    stranger.non_blocking(true);
    const finished done = callsign({"account", "list"});
    EXPECT_EQ(done.status.code, 1);
    EXPECT_THAT(done.err, HasSubstr("no server runs on " + data_dir().string()));
    boost::system::error_code nobody;
    stranger.accept(nobody);
    EXPECT_EQ(nobody, asio::error::would_block);
}

TEST_F(tls_test, taskwarrior_syncs_with_a_certificate_that_the_system_trusts) {
    const std::string program = taskwarrior_program(CALLSIGN_TASKWARRIOR);
    if (program.empty()) GTEST_SKIP() << "no Taskwarrior: scripts/get-taskwarrior";
    const auto pair = make("own");
    auto s = start_with(pair);
    ask_callsign({"account", "create", "ada", "--prefix", "ADA"});
    const json::object device = ask_callsign({"device", "add", "ada", "--name", "laptop"});
    const std::string lines =
        "uda.key.type=string\nuda.key.label=Key\nsync.server.url=" + url_of(*s) +
        "\nsync.server.client_id=" + std::string(device.at("clientId").as_string()) +
        "\nsync.encryption_secret=" + std::string(device.at("encryptionSecret").as_string()) + "\n";
    const taskwarrior task(program, lines);
    EXPECT_EQ(task({"add", "say", "it"}).status.code, 0);
    EXPECT_NE(task.sync().status.code, 0);
    ::setenv("SSL_CERT_FILE", pair.certificate.c_str(), 1);
    const finished done = task.sync();
    ::unsetenv("SSL_CERT_FILE");
    EXPECT_EQ(done.status.code, 0) << done.err;
    EXPECT_THAT(task({"export"}).out, HasSubstr("ADA-1"));
}

}  // namespace
}  // namespace callsign::testing
