// Goal: behind a reverse proxy the server behaves as without one, and knows the client's address.
// Method: Debian's nginx and Caddy, each with the configuration of docs/operations.md and the
// server's defaults.

#include "fixture.hpp"
#include "support/certificates.hpp"
#include "support/feed_client.hpp"
#include "support/localhost.hpp"
#include "support/taskwarrior.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>
#include <unistd.h>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ::testing::HasSubstr;

const std::filesystem::path manual =
    std::filesystem::path(CALLSIGN_README).parent_path() / "docs/operations.md";

// Returns the indented code below the line with this beginning.
std::string lines_below(const std::string& beginning) {
    std::ifstream in(manual);
    std::string line, lines;
    bool is_found = false;
    while (!is_found && std::getline(in, line)) is_found = line.starts_with(beginning);
    while (std::getline(in, line) && (line.empty() || line.starts_with("    "))) {
        if (!line.empty()) lines += line.substr(4) + "\n";
    }
    return lines;
}

// Returns the text in backquotes with this beginning.
std::string quoted(const std::string& beginning) {
    std::ifstream in(manual);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    const auto from = all.find("`" + beginning);
    if (from == all.npos) return {};
    return all.substr(from + 1, all.find('`', from + 1) - from - 1);
}

std::string with(std::string text, const std::string& what, const std::string& instead) {
    const auto at = text.find(what);
    EXPECT_NE(at, text.npos) << what << " is not in\n" << text;
    return at == text.npos ? text : text.replace(at, what.size(), instead);
}

std::uint16_t free_port() {
    asio::io_context io;
    const tcp::acceptor any(io, {asio::ip::address_v4::loopback(), std::uint16_t{0}});
    return any.local_endpoint().port();
}

struct proxy_ports {
    std::uint16_t clear = 0;
    std::uint16_t tls = 0;
};

struct proxy_kind {
    const char* name;
    const char* program;
    std::string (*config)(const std::filesystem::path& dir, const certificate_files& own,
                          const proxy_ports& at, std::uint16_t server);
    std::vector<std::string> (*command)(const std::filesystem::path& dir);
};

std::string nginx_config(const std::filesystem::path& dir, const certificate_files& own,
                         const proxy_ports& at, std::uint16_t server) {
    std::ostringstream out;
    // If root starts nginx, its workers run as another user, who may not read this directory.
    if (::geteuid() == 0) out << "user root;\n";
    out << "daemon off;\nworker_processes 1;\npid " << dir.string()
        << "/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n";
    for (const char* part : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
        out << part << "_temp_path " << dir.string() << "/" << part << ";\n";
    }
    out << quoted("map $http_upgrade") << "\nserver {\nlisten 127.0.0.1:" << at.clear
        << ";\nlisten 127.0.0.1:" << at.tls << " ssl;\nssl_certificate " << own.certificate.string()
        << ";\nssl_certificate_key " << own.key.string() << ";\n"
        << with(lines_below("nginx, in a"), "127.0.0.1:8080", "127.0.0.1:" + std::to_string(server))
        << "}\n}\n";
    return out.str();
}

std::string caddy_config(const std::filesystem::path& dir, const certificate_files& own,
                         const proxy_ports& at, std::uint16_t server) {
    const std::string site = with(lines_below("Caddy, with certificates"), "127.0.0.1:8080",
                                  "127.0.0.1:" + std::to_string(server));
    const std::string name = "tasks.example.org {";
    return "{\nadmin off\nauto_https disable_redirects\nstorage file_system " + dir.string() +
           "\n}\n" +
           with(site, name,
                "https://" + own_name() + ":" + std::to_string(at.tls) + " {\ntls " +
                    own.certificate.string() + " " + own.key.string()) +
           with(site, name, "http://:" + std::to_string(at.clear) + " {\nbind 127.0.0.1");
}

const proxy_kind kinds[] = {
    {"nginx", "/usr/sbin/nginx", nginx_config,
     [](const std::filesystem::path& dir) {
         return std::vector<std::string>{"/usr/sbin/nginx", "-p", dir.string(), "-c",
                                         (dir / "config").string()};
     }},
    {"caddy", "/usr/bin/caddy", caddy_config,
     [](const std::filesystem::path& dir) {
         return std::vector<std::string>{"/usr/bin/caddy", "run",      "--adapter",
                                         "caddyfile",      "--config", (dir / "config").string()};
     }},
};

class proxy_test : public system_test, public ::testing::WithParamInterface<proxy_kind> {
  protected:
    void SetUp() override {
        if (!std::filesystem::exists(GetParam().program)) {
            GTEST_SKIP() << "NO PROXY: scripts/install-deps --tests fetches " << GetParam().program;
        }
        std::filesystem::create_directory(dir());
        own_ = write_certificate(temp_path(""), "own");
        for (int n = 0; n < 10 && !is_up(); ++n) try_ports();
        ASSERT_TRUE(is_up()) << (proxy_ ? proxy_->errors() : "");
    }

    std::filesystem::path dir() const { return temp_path("proxy"); }
    std::string public_url() const {
        return "https://" + own_name() + ":" + std::to_string(at_.tls);
    }

    std::unique_ptr<server> server_;
    std::unique_ptr<process> proxy_;
    certificate_files own_;
    proxy_ports at_;

  private:
    // Another process may take a port before the proxy does; the proxy then exits, and other ports
    // are tried.
    void try_ports() {
        at_ = {free_port(), free_port()};
        server_.reset();
        server_ = start({}, {{"CALLSIGN_MASTER_KEY", std::string(64, '7')},
                             {"CALLSIGN_FEED_HEARTBEAT", "1s"},
                             {"CALLSIGN_SERVER_TRUSTED_PROXIES", "127.0.0.1"},
                             {"CALLSIGN_SERVER_PUBLIC_URL", public_url()}});
        std::ofstream(dir() / "config") << GetParam().config(dir(), own_, at_, server_->port());
        proxy_ = std::make_unique<process>(GetParam().command(dir()),
                                           environment{{"HOME", dir().string()}});
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        while (!is_up() && proxy_->running() && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
        }
    }
    bool is_up() const {
        if (at_.clear == 0) return false;
        http_client anyone(at_.clear);
        const auto answer = anyone.get("/livez");
        return answer && answer->status == 200;
    }
};

TEST_P(proxy_test, followers_receive_changes_at_once_and_skip_nothing) {
    const feed_account ada{at_.clear, make_account(*server_, "ada", "ADA")};
    constexpr std::int64_t wanted = 12;
    asio::io_context io{1};
    std::vector<heard> books(3);
    std::vector<std::unique_ptr<feed_client>> clients;
    int ended = 0;
    for (heard& book : books) {
        clients.push_back(std::make_unique<feed_client>(
            ada, book, [&book] { return book.seq >= wanted || !book.fault.empty(); }));
    }
    const auto end = [&](const std::exception_ptr& e) {
        EXPECT_FALSE(e);
        ++ended;
    };
    asio::co_spawn(io, clients[0]->poll(), end);
    asio::co_spawn(io, clients[1]->stream(), end);
    asio::co_spawn(io, clients[2]->talk(), end);
    http_client writer(at_.clear, ada.token);
    for (int n = 0; n < wanted; ++n) {
        // Each change must arrive before the next one is made: proxies must not buffer.
        const auto made =
            writer.post_json("/v1/tasks", R"({"description":"d"})", "key-" + std::to_string(n));
        ASSERT_TRUE(made);
        EXPECT_EQ(made->status, 201u) << made->body;
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        const auto behind = [&](const heard& book) { return book.seq < n + 1; };
        while (std::ranges::any_of(books, behind) && std::chrono::steady_clock::now() < deadline) {
            io.run_for(std::chrono::milliseconds(5));
        }
    }
    io.run_for(timeout);
    EXPECT_EQ(ended, 3);
    for (const heard& book : books) {
        EXPECT_EQ(book.fault, "");
        EXPECT_EQ(book.changes, wanted);
        EXPECT_EQ(book.connections, &book == &books[0] ? book.connections : 1)
            << "the connection was cut off";
    }
}

TEST_P(proxy_test, the_client_is_the_proxys_peer_whatever_its_headers) {
    const std::string token = make_account(*server_, "ada", "ADA");
    asio::io_context io;
    tcp::socket socket(io, tcp::endpoint(asio::ip::make_address_v4("127.0.0.2"), 0));
    socket.connect({asio::ip::address_v4::loopback(), at_.clear});
    asio::write(socket, asio::buffer("GET /v1/account HTTP/1.1\r\nHost: localhost\r\n"
                                     "X-Forwarded-For: 192.0.2.9\r\nForwarded: for=192.0.2.9\r\n"
                                     "Connection: close\r\nAuthorization: Bearer " +
                                     token + "\r\n\r\n"));
    std::string answer;
    boost::system::error_code error;
    asio::read(socket, asio::dynamic_buffer(answer), error);
    EXPECT_THAT(answer, HasSubstr("200 OK"));
    const std::string log = await_line(server_->child(), "route=/v1/account ");
    EXPECT_THAT(log, HasSubstr("client=127.0.0.2 method=GET route=/v1/account status=200"));
    EXPECT_EQ(log.find("192.0.2.9"), log.npos);
}

TEST_P(proxy_test, a_taskwarrior_and_the_command_line_notice_nothing) {
    const std::string program = taskwarrior_program(CALLSIGN_TASKWARRIOR);
    const std::vector<std::string> asked{
        (programs() / "callsign").string(), "account", "list", "--url", public_url(), "--cacert",
        own_.certificate.string()};
    const finished listed = run(asked, timeout, {{"CALLSIGN_TOKEN", server_->admin_token()}});
    EXPECT_EQ(listed.status, (exit_status{0, 0})) << listed.err;
    make_account(*server_, "ada", "ADA");
    const json::object device = ask_callsign({"device", "add", "ada", "--name", "laptop"});
    EXPECT_THAT(std::string(device.at("taskrc").as_string()),
                HasSubstr("sync.server.url=" + public_url() + "\n"));
    const auto text = [&](const char* name) { return std::string(device.at(name).as_string()); };
    if (program.empty()) GTEST_SKIP() << "NO TASKWARRIOR: scripts/get-taskwarrior fetches one.";
    const taskwarrior laptop(program, at_.clear, text("clientId"), text("encryptionSecret"));
    // 3 MB: more than a proxy forwards or buffers by default.
    const std::string note(30'000, 'x');
    std::string tasks;
    for (int n = 0; n < 100; ++n) {
        tasks += R"({"description":"task )" + std::to_string(n) + R"(","note":")" + note + "\"}\n";
    }
    std::ofstream(temp_path("tasks.json")) << tasks;
    laptop.configure("uda.note.type=string");
    const finished done[] = {laptop({"import", temp_path("tasks.json").string()}), laptop.sync(),
                             laptop.sync()};
    for (const finished& each : done) EXPECT_EQ(each.status, (exit_status{0, 0})) << each.err;
    std::set<std::string> keys;
    for (const auto& [uuid, task] : tasks_of(laptop)) {
        keys.insert(std::string(task.at("key").as_string()));
    }
    EXPECT_EQ(keys.size(), 100u);
    EXPECT_TRUE(keys.contains("ADA-100"));
}

INSTANTIATE_TEST_SUITE_P(debian, proxy_test, ::testing::ValuesIn(kinds),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace callsign::testing
