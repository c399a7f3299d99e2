#include "http_fixture.hpp"
#include "support/localhost.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

#include <callsign/base/text.hpp>
#include <callsign/net/outgoing.hpp>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <fstream>
#include <gmock/gmock.h>
#include <random>
#include <thread>

namespace callsign::net {
namespace {

using namespace std::chrono_literals;
namespace ssl = asio::ssl;

outgoing_url read(const std::string& text) {
    const auto url = parse_outgoing_url(text);
    EXPECT_TRUE(std::holds_alternative<outgoing_url>(url)) << text;
    return std::get<outgoing_url>(url);
}

TEST(outgoing_url, has_a_host_and_a_target) {
    EXPECT_EQ(read("https://example.com/a/b?c=d%20e"),
              (outgoing_url{true, "example.com", "443", "/a/b?c=d%20e"}));
    EXPECT_EQ(read("http://example.com"), (outgoing_url{false, "example.com", "80", "/"}));
    EXPECT_EQ(read("http://example.com:8080?q"),
              (outgoing_url{false, "example.com", "8080", "/?q"}));
    EXPECT_EQ(read("HTTPS://[2001:db8::1]:1/"), (outgoing_url{true, "2001:db8::1", "1", "/"}));
}

TEST(outgoing_url, is_rejected_with_a_reason) {
    for (const char* text : {"",
                             "example.com",
                             "/hook",
                             "ftp://example.com/",
                             "file:///etc/passwd",
                             "https:///a",
                             "https://",
                             "https://user@example.com/",
                             "https://user:secret@example.com/",
                             "https://example.com/#part",
                             "https://exa mple.com/",
                             "https://example.com/a b",
                             "https://example.com\r\nHost: other/",
                             "https://example.com/a\r\nX: y",
                             "https://example.com:0/",
                             "https://example.com:65536/",
                             "https://example.com:122491/",
                             "https://example.com:18446744073709551695/",
                             "https://%0d%0aX/",
                             "javascript:alert(1)"}) {
        const auto url = parse_outgoing_url(text);
        EXPECT_TRUE(std::holds_alternative<std::string>(url)) << text;
    }
    EXPECT_TRUE(std::holds_alternative<std::string>(
        parse_outgoing_url("https://example.com/" + std::string(2048, 'a'))));
}

// An accepted URL is written into a request line and a header field unchanged.
TEST(outgoing_url, an_accepted_one_cannot_end_a_line) {
    constexpr std::string_view alphabet = "ab1.-:/?#[]@!$&'()*+,;=%0aAfF \r\n\t\0\x7f\xc3\xa4";
    std::mt19937_64 random(1);
    const auto draw = [&](std::size_t below) {
        return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
    };
    int accepted = 0;
    for (int n = 0; n < 50'000; ++n) {
        std::string text = draw(2) == 0 ? "https://" : "http://a";
        for (std::size_t size = draw(24); size > 0; --size) text += alphabet[draw(alphabet.size())];
        const auto parsed = parse_outgoing_url(text);
        const auto* const url = std::get_if<outgoing_url>(&parsed);
        if (url == nullptr) continue;
        ++accepted;
        const auto is_plain = [](char c) { return c > ' ' && c < 0x7f; };
        EXPECT_TRUE(std::ranges::all_of(url->host, is_plain)) << text;
        EXPECT_TRUE(std::ranges::all_of(url->target, is_plain)) << text;
        EXPECT_TRUE(std::ranges::all_of(url->port, is_digit)) << text;
        EXPECT_FALSE(url->host.empty()) << text;
        EXPECT_TRUE(url->target.starts_with('/')) << text;
    }
    EXPECT_GT(accepted, 1000);
}

asio::awaitable<http_outcome> exchange(outgoing& out, outgoing_url url, http_call call) {
    auto looking = out.look_up(url);
    auto found = co_await std::move(looking);
    if (!found) co_return http_failure{found.error(), false};
    auto calling = out.exchange(std::move(url), *std::move(found), std::move(call));
    co_return co_await std::move(calling);
}

// Calls from a blocking thread.
class calls {
  public:
    explicit calls(outgoing_options options = {})
        : out_(make_outgoing(context_.get_executor(), lookups_.get_executor(),
                             std::move(options))) {}
    ~calls() { lookups_.join(); }

    http_outcome to(const std::string& url, http_call call = {"POST", {}, {}, "body"}) {
        auto outcome =
            asio::co_spawn(context_, exchange(*out_, read(url), std::move(call)), asio::use_future);
        context_.restart();
        context_.run();
        return outcome.get();
    }
    outgoing& operator*() { return *out_; }

  private:
    asio::io_context context_{1};
    asio::thread_pool lookups_{1};
    std::unique_ptr<outgoing> out_;
};

outgoing_options to_this_machine() {
    outgoing_options options;
    options.allow = loopback_blocks();
    options.deadline = 5s;
    return options;
}

TEST(outgoing, posts_where_it_may) {
    running_server server;
    const std::string port = std::to_string(server.endpoint().port());
    calls out(to_this_machine());
    const auto names = testing::own_names();
    for (const std::string& host : names) {
        const auto answer = out.to("http://" + host + ":" + port + "/p?q");
        ASSERT_TRUE(answer) << answer.error().error.message();
        EXPECT_EQ(answer->body, "POST /p q body");
    }
    server.probe.await(server.probe.answered, static_cast<int>(names.size()));
    EXPECT_EQ(server.probe.opened, static_cast<int>(names.size()));
}

// A name can resolve to any address: the check applies to the resolved one.
TEST(outgoing, connects_to_no_private_address_by_any_name) {
    running_server server;
    const std::string port = std::to_string(server.endpoint().port());
    calls out;
    auto hosts = testing::own_names();
    hosts.insert(hosts.end(), {"0.0.0.0", "2130706433", "127.1", "[::ffff:127.0.0.1]", "0x7f.1"});
    for (const std::string& host : hosts) {
        const auto answer = out.to("http://" + host + ":" + port + "/");
        ASSERT_FALSE(answer) << host;
        EXPECT_EQ(answer.error().error, asio::error::access_denied)
            << host << ": " << answer.error().error.message();
        EXPECT_FALSE(answer.error().sent);
    }
    EXPECT_EQ(server.probe.opened, 0);
}

TEST(outgoing, rejects_a_url_with_a_forbidden_address) {
    calls strict;
    EXPECT_FALSE((*strict).may_call(read("http://127.0.0.1/")));
    EXPECT_FALSE((*strict).may_call(read("http://[::1]/")));
    EXPECT_FALSE((*strict).may_call(read("http://169.254.169.254/latest/meta-data")));
    EXPECT_TRUE((*strict).may_call(read("http://localhost/")));  // a name: not resolved yet
    EXPECT_TRUE((*strict).may_call(read("https://1.1.1.1/")));
    calls to_own(to_this_machine());
    EXPECT_TRUE((*to_own).may_call(read("http://127.0.0.1/")));
    EXPECT_FALSE((*to_own).may_call(read("http://10.0.0.1/")));
}

TEST(outgoing, sends_nothing_once_it_is_stopped) {
    running_server server;
    calls out(to_this_machine());
    (*out).stop();
    const auto answer =
        out.to("http://127.0.0.1:" + std::to_string(server.endpoint().port()) + "/");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().error, asio::error::operation_aborted);
    EXPECT_EQ(server.probe.opened, 0);
}

// A call that is cancelled during a look-up ends with the look-up, and changes nothing else.
TEST(outgoing, can_be_cancelled_while_a_name_is_looked_up) {
    asio::io_context context{1};
    asio::thread_pool lookups{2};
    const auto out =
        make_outgoing(context.get_executor(), lookups.get_executor(), to_this_machine());
    for (int n = 0; n < 200; ++n) {
        asio::cancellation_signal cut;
        bool is_over = false;
        // Started and cancelled on its executor, as its callers do. From another thread Boost 1.83
        // throws out of the context if the call had not begun, and 1.81 uses freed memory if it had
        // ended.
        asio::post(context, [&] {
            asio::co_spawn(
                context, exchange(*out, read("http://localhost:1/"), {"POST", {}, {}, "b"}),
                asio::bind_cancellation_slot(
                    cut.slot(), [&](const std::exception_ptr&, const http_outcome& outcome) {
                        is_over = !outcome;
                    }));
        });
        context.restart();
        context.poll_one();
        for (int step = 0; step < n % 4; ++step) context.poll_one();
        asio::post(context, [&] { cut.emit(asio::cancellation_type::terminal); });
        context.run();
        EXPECT_TRUE(is_over);
    }
    lookups.join();
}

TEST(outgoing, an_unknown_name_is_a_failure) {
    calls out(to_this_machine());
    const auto answer = out.to("http://no-such-name.invalid/");
    ASSERT_FALSE(answer);
    EXPECT_FALSE(answer.error().sent);
}

TEST(outgoing, waits_until_its_deadline) {
    running_server server;
    outgoing_options options = to_this_machine();
    options.deadline = 100ms;
    calls out(options);
    const auto answer =
        out.to("http://127.0.0.1:" + std::to_string(server.endpoint().port()) + "/hold");
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().timed_out());
}

// A receiver that has sent its status has received the event, whatever happens to the rest of its
// response.
TEST(outgoing, a_success_counts_whatever_follows_its_header) {
    outgoing_options options = to_this_machine();
    options.deadline = 200ms;
    options.answer_bytes_max = 100;
    const std::string ok = "HTTP/1.1 200 OK\r\n";
    for (const std::string& rest :
         {std::string("Content-Length: 10\r\n\r\nhalf"), std::string("Content-Length: 101\r\n\r\n"),
          std::string("Transfer-Encoding: chunked\r\n\r\nno size\r\n"),
          "\r\n" + std::string(1000, 'x'), std::string("\r\n")}) {
        for (const auto end :
             {fixed_answer::end::closes, fixed_answer::end::resets, fixed_answer::end::stays}) {
            fixed_answer server(ok + rest, end);
            calls out(options);
            const auto answer = out.to("http://127.0.0.1:" + server.port() + "/");
            ASSERT_TRUE(answer) << rest << ": " << answer.error().error.message();
            EXPECT_EQ(answer->status, 200u);
        }
    }
    for (const char* text :
         {"HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\n"}) {
        fixed_answer server(text);
        calls out(options);
        EXPECT_FALSE(out.to("http://127.0.0.1:" + server.port() + "/")) << text;
    }
}

// ---- TLS ----

// A server with a self-signed certificate for one name.
class tls_server {
  public:
    explicit tls_server(const std::string& name) {
        testing::process made(
            {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=" + name, "-addext",
             "subjectAltName=" + std::string(is_address(name) ? "IP:" : "DNS:") + name, "-keyout",
             (dir_.path() / "key.pem").string(), "-out", certificate().string()});
        EXPECT_EQ(made.wait(30s), testing::exit_status{0}) << made.errors();
        tls_.use_certificate_chain_file(certificate().string());
        tls_.use_private_key_file((dir_.path() / "key.pem").string(), ssl::context::pem);
        thread_ = std::thread([this] { serve(); });
    }
    ~tls_server() {
        over_ = true;
        // Ends the accept that blocks.
        tcp::socket last(context_);
        boost::system::error_code ignored;
        last.connect(at_, ignored);
        thread_.join();
    }

    std::filesystem::path certificate() const { return dir_.path() / "certificate.pem"; }
    std::string port() const { return std::to_string(at_.port()); }
    bool was_asked() const { return asked_; }

  private:
    static bool is_address(const std::string& name) {
        boost::system::error_code error;
        asio::ip::make_address(name, error);
        return !error;
    }

    void serve() {
        for (;;) {
            boost::system::error_code error;
            tcp::socket socket(context_);
            acceptor_.accept(socket, error);
            if (error || over_) return;
            ssl::stream<tcp::socket> stream(std::move(socket), tls_);
            stream.handshake(ssl::stream_base::server, error);
            if (error) continue;
            std::string text;
            asio::read_until(stream, asio::dynamic_buffer(text), "body", error);
            if (error) continue;
            asked_ = true;
            // The end of the connection delimits the body, without a TLS close_notify, as with many
            // servers.
            asio::write(stream, asio::buffer(std::string("HTTP/1.1 200 OK\r\n\r\ngot it")), error);
            stream.next_layer().close(error);
        }
    }

    testing::temp_dir dir_;
    asio::io_context context_{1};
    ssl::context tls_{ssl::context::tls_server};
    tcp::acceptor acceptor_{context_, {asio::ip::address_v4::loopback(), 0}};
    const tcp::endpoint at_ = acceptor_.local_endpoint();
    std::atomic<bool> asked_{false};
    std::atomic<bool> over_{false};
    std::thread thread_;
};

outgoing_options trusting(const tls_server& server) {
    outgoing_options options = to_this_machine();
    options.ca_file = server.certificate();
    return options;
}

TEST(outgoing_tls, a_server_with_a_valid_certificate_receives_the_request) {
    for (const std::string& name : testing::own_names()) {
        tls_server server(name);
        calls out(trusting(server));
        const auto answer = out.to("https://" + name + ":" + server.port() + "/");
        ASSERT_TRUE(answer) << answer.error().error.message();
        EXPECT_EQ(answer->status, 200u);
        EXPECT_EQ(answer->body, "got it");
    }
}

// The client reads more than the header here.
TEST(outgoing_tls, a_response_without_close_notify_is_complete) {
    tls_server server("127.0.0.1");
    ssl::context trusted(ssl::context::tls_client);
    trusted.load_verify_file(server.certificate().string());
    http_client_options options{"127.0.0.1", server.port(), 5s};
    options.tls = &trusted;
    blocking_http_client client(options);
    const auto answer = client.exchange({"POST", "/", {}, "body"});
    ASSERT_TRUE(answer) << answer.error().error.message();
    EXPECT_EQ(answer->body, "got it");
}

TEST(outgoing_tls, a_server_without_a_valid_certificate_receives_nothing) {
    tls_server other("example.com");
    calls out(trusting(other));
    EXPECT_FALSE(out.to("https://localhost:" + other.port() + "/"));
    EXPECT_FALSE(out.to("https://127.0.0.1:" + other.port() + "/"));
    tls_server own("localhost");
    calls trusting_nobody(to_this_machine());
    EXPECT_FALSE(trusting_nobody.to("https://localhost:" + own.port() + "/"));
    EXPECT_FALSE(other.was_asked());
    EXPECT_FALSE(own.was_asked());
}

TEST(outgoing_tls, unreadable_certificates_are_an_error_at_the_start) {
    outgoing_options options;
    options.ca_file = "/nonexistent/ca.pem";
    EXPECT_THROW(calls{options}, std::runtime_error);
}

}  // namespace
}  // namespace callsign::net
