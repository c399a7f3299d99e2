// Goal: the log reports events, contains no secrets and no task content, and blocks no request.
// Method: the real program, with recognisable secrets and texts wherever clients can send them, and
// readers that do not read the log.

#include "fixture.hpp"

#include <algorithm>
#include <cctype>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace callsign::testing {
namespace {

class log_test : public system_test {
  protected:
    static std::string lower(std::string text) {
        std::ranges::transform(text, text.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return text;
    }
    static std::size_t count(const std::string& text, std::string_view words) {
        std::size_t found = 0;
        for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1)) {
            ++found;
        }
        return found;
    }
    std::filesystem::path write_config(const std::string& text) const {
        const auto file = temp_path("callsign.toml");
        std::ofstream(file) << text;
        return file;
    }
    std::string text_of(const json::object& o, const char* name) const {
        return std::string(o.at(name).as_string());
    }
};

TEST_F(log_test, no_line_contains_secrets_or_task_content) {
    for (const char* const format : {"text", "json"}) {
        std::filesystem::remove_all(data_dir());
        const auto key_file = temp_path(std::string("master-") + format);
        ASSERT_EQ(run({(programs() / "callsign").string(), "master-key", "new", key_file.string()},
                      timeout)
                      .status,
                  (exit_status{0, 0}));
        auto s = start({}, {{"CALLSIGN_LOG_LEVEL", "debug"},
                            {"CALLSIGN_LOG_FORMAT", format},
                            {"CALLSIGN_WEBHOOKS_ALLOW_ADDRESSES", "127.0.0.1"},
                            {"CALLSIGN_SECRETS_MASTER_KEY_FILE", key_file.string()}});
        const std::string token = make_account(*s, "home2", "DSK");
        std::vector<std::string> secrets{token, s->admin_token(), "planted", "0badcafe"};
        http_client client(s->port(), token);
        http_client as_operator(s->port(), s->admin_token());
        http_client stranger(s->port(), "cs_planted0token");
        http_client nobody(s->port());

        const auto made = client.post_json(
            "/v1/tasks",
            R"({"description":"planted text","project":"planted.project","tags":["planted"],)"
            R"("annotations":[{"entry":"2026-01-01T00:00:00Z","description":"planted note"}]})",
            "planted-key");
        ASSERT_TRUE(made && made->status == 201) << (made ? made->body : "");
        secrets.push_back(text_of(json::parse(made->body).as_object(), "uuid"));
        client.get("/v1/tasks/DSK-1");
        client.get("/v1/tasks?text=planted&tag=planted");
        client.get("/v1/slots/planted-key");
        client.request("PATCH", "/v1/tasks/DSK-1", {{"Content-Type", "application/json"}},
                       R"({"description":"planted again"})");
        client.post_json("/v1/tasks", R"({"planted":"planted"})", "planted-fault");
        client.post_json("/v1/tasks", "planted {", "planted-malformed");
        client.get("/v1/changes?after=0");
        client.get("/planted/path?token=cs_planted0token");
        client.request("PLANTED", "/planted");
        client.request(
            "GET", "/v1/tasks/DSK-1",
            {{"X-Forwarded-For", "planted"}, {"User-Agent", "planted"}, {"Cookie", "planted"}});
        stranger.get("/v1/tasks/planted");
        stranger.post_json("/v1/tasks", R"({"description":"planted"})", "planted-key");
        nobody.request("GET", "/v1/tasks/planted", {{"Authorization", "Basic planted"}});
        nobody.send("GET /planted planted\r\nplanted\r\n\r\n");
        nobody.receive();
        nobody.close();

        // Client IDs of devices and of opaque accounts are credentials.
        const json::object device = ask_callsign({"device", "add", "home2", "--name", "laptop"});
        secrets.push_back(text_of(device, "clientId"));
        secrets.push_back(text_of(device, "encryptionSecret"));
        const std::string unknown = "0badcafe-0000-4000-8000-000000000001";
        const std::string nil = "00000000-0000-0000-0000-000000000000";
        for (const std::string& id : {text_of(device, "clientId"), unknown}) {
            nobody.request("POST", "/v1/client/add-version/" + nil,
                           {{"X-Client-Id", id},
                            {"Content-Type", "application/vnd.taskchampion.history-segment"}},
                           "planted segment");
            nobody.request("GET", "/v1/client/get-child-version/" + unknown, {{"X-Client-Id", id}});
            nobody.request("GET", "/v1/client/snapshot", {{"X-Client-Id", id}});
        }
        const auto added =
            as_operator.post_json("/v1/admin/accounts/home2/tokens", R"({"name":"lost"})");
        ASSERT_TRUE(added && added->status == 201) << (added ? added->body : "");
        secrets.push_back(text_of(json::parse(added->body).as_object(), "token"));
        const auto head = as_operator.post_json("/v1/admin/accounts/home2/tokens",
                                                R"({"name":"head","scope":"admin"})");
        ASSERT_TRUE(head && head->status == 201);
        const std::string head_token = text_of(json::parse(head->body).as_object(), "token");
        secrets.push_back(head_token);
        http_client as_head(s->port(), head_token);
        const auto hook =
            as_head.post_json("/v1/webhooks", R"({"url":"http://127.0.0.1:9/planted?planted"})");
        ASSERT_TRUE(hook && hook->status == 201) << (hook ? hook->body : "");
        secrets.push_back(text_of(json::parse(hook->body).as_object(), "secret"));
        const auto opaque = as_operator.post_json(
            "/v1/admin/accounts", R"({"name":"sealed","prefix":"SEA","mode":"opaque"})");
        ASSERT_TRUE(opaque && opaque->status == 201) << (opaque ? opaque->body : "");
        const json::object sealed = json::parse(opaque->body).as_object();
        secrets.push_back(text_of(sealed, "clientId"));
        nobody.request("GET", "/v1/client/get-child-version/" + nil,
                       {{"X-Client-Id", text_of(sealed, "clientId")}});
        std::ifstream key(key_file);
        std::string digits;
        key >> digits;
        secrets.push_back(digits);
        client.get("/metrics");
        const auto metrics = client.get("/metrics");
        s->child().signal(SIGTERM);
        expect_exit(s->child(), 0);

        const std::string log = lower(s->child().errors());
        EXPECT_GT(count(log, "request"), 30u) << log;
        for (const std::string& secret : secrets) {
            ASSERT_GE(secret.size(), 7u);
            EXPECT_EQ(log.find(lower(secret)), log.npos) << secret << " is in\n" << log;
            EXPECT_EQ(lower(metrics->body).find(lower(secret)), std::string::npos) << secret;
        }
        for (const char* reason :
             {"unknown-token", "no-token", "unknown-client", "malformed-segment"}) {
            EXPECT_NE(log.find(reason), log.npos) << reason << " is not in\n" << log;
        }
    }
}

TEST_F(log_test, a_request_has_its_line) {
    auto s = start();
    const std::string token = make_account(*s, "home2", "DSK");
    http_client client(s->port(), token);
    const auto made = client.post_json("/v1/tasks", R"({"description":"x"})", "k");
    ASSERT_TRUE(made && made->status == 201);
    const std::string id = made->header("X-Request-Id");
    const std::string log = await_line(s->child(), "request=" + id + "\n");
    EXPECT_NE(log.find(" info request client=127.0.0.1 method=POST route=/v1/tasks status=201 ms="),
              log.npos)
        << log;
    EXPECT_NE(log.find(" in=19 out=" + std::to_string(made->body.size()) +
                       " account=home2 by=default reason=- sent=yes request=" + id + "\n"),
              log.npos)
        << log;
}

// The log volume of a flood of requests is limited.
TEST_F(log_test, a_flood_of_wrong_tokens_does_not_fill_the_disk) {
    auto s = start();
    http_client stranger(s->port(), "cs_wrong");
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 3000; ++i) {
        const auto rejected = stranger.get("/v1/tasks/SYN-1");
        ASSERT_TRUE(rejected && rejected->status == 401);
    }
    const auto seconds =
        std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - begun).count() +
        1;
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    const std::string log = s->child().errors();
    const std::size_t lines = count(log, "auth-failed");
    EXPECT_GE(lines, 20u) << "enough to detect the flood";
    EXPECT_LE(lines, 21u * static_cast<std::size_t>(seconds));
    EXPECT_LE(count(log, "\n"), 100u * static_cast<std::size_t>(seconds) + 20);
    EXPECT_NE(log.find("auth-failed client=127.0.0.1 reason=unknown-token "), log.npos);
}

TEST_F(log_test, a_log_without_a_reader_blocks_no_request) {
    const auto pipe = temp_path("log");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int reader = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    const auto program = temp_path("bin") / "callsignd";
    std::filesystem::create_directory(program.parent_path());
    std::ofstream(program) << "#!/bin/sh\nexec '" << callsignd() << "' \"$@\" 2>'" << pipe.string()
                           << "'\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    server s({program.parent_path(), data_dir(), {}, {}});
    const std::string token = make_account(s, "home2", "DSK");
    http_client client(s.port(), token);
    // Three times the capacity of the pipe and of the server's buffer.
    for (int i = 0; i < 15'000; ++i) {
        const auto found = client.get("/v1/account");
        ASSERT_TRUE(found && found->status == 200) << i;
    }
    std::string log;
    std::string bytes(65536, ' ');
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (log.find("log-lines-dropped") == log.npos &&
           std::chrono::steady_clock::now() < deadline) {
        const ssize_t n = ::read(reader, bytes.data(), bytes.size());
        if (n > 0) log.append(bytes, 0, static_cast<std::size_t>(n));
        client.get("/v1/account");
    }
    EXPECT_NE(log.find("log-lines-dropped count="), log.npos);
    // A blocked log does not delay the shutdown.
    s.child().signal(SIGTERM);
    expect_exit(s.child(), 0);
    ::close(reader);
}

TEST_F(log_test, requests_can_be_left_out) {
    auto s = start({}, {{"CALLSIGN_LOG_REQUESTS", "off"}});
    http_client client(s->port(), make_account(*s, "home2", "DSK"));
    client.get("/v1/account");
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    EXPECT_EQ(s->child().errors().find("info request "), std::string::npos);
}

// ---- separate metrics listener ----

TEST_F(log_test, metrics_are_shown_where_they_are_configured_to_be) {
    auto s = start({"--config", write_config("[metrics]\nlisten = \"127.0.0.1:0\"\n").string()});
    const std::string log = await_line(s->child(), "/metrics");
    const auto at = log.find("url=http://127.0.0.1:", log.find("metrics listener started"));
    ASSERT_NE(at, log.npos) << log;
    const auto port = static_cast<std::uint16_t>(std::stoul(log.substr(at + 21)));
    http_client main(s->port()), metrics(port);
    EXPECT_EQ(main.get("/metrics")->status, 404u);
    EXPECT_EQ(main.get("/readyz")->status, 200u);
    const auto shown = metrics.get("/metrics");
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->status, 200u);
    EXPECT_NE(shown->body.find("callsign_ready 1\n"), std::string::npos);
    EXPECT_EQ(metrics.get("/")->status, 404u);
    EXPECT_EQ(metrics.get("/v1/account")->status, 404u);
    EXPECT_EQ(metrics.post_json("/metrics", "{}")->status, 404u);
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
}

}  // namespace
}  // namespace callsign::testing
