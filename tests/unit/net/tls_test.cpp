// Goal: the server behaves over TLS as it does unencrypted, and no handshake harms it: of a client
// that is silent, sends plain HTTP, or truncates or corrupts its handshake anywhere.

#include "http_fixture.hpp"
#include "support/certificates.hpp"
#include "support/temp_dir.hpp"

#include <callsign/net/certificate.hpp>
#include <callsign/net/http_client.hpp>

#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <fstream>
#include <gmock/gmock.h>
#include <limits>

namespace callsign::net {
namespace {

using namespace std::chrono_literals;
using callsign::testing::temp_dir;
using callsign::testing::write_certificate;
using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace ssl = asio::ssl;

constexpr std::string_view question =
    "GET /a?b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

server_certificate load(const callsign::testing::certificate_files& files) {
    auto loaded = load_certificate(files.certificate, files.key);
    if (const auto* faults = std::get_if<std::vector<certificate_fault>>(&loaded)) {
        throw std::runtime_error(faults->front().text);
    }
    return std::get<server_certificate>(std::move(loaded));
}

class tls : public ::testing::Test {
  protected:
    http_options options() const {
        http_options o;
        o.tls = first_.context;
        return o;
    }
    // Trusts the certificate of that server only.
    ssl::context trusting(const std::string& name = "first") const {
        ssl::context context(ssl::context::tls_client);
        context.load_verify_file((dir_.path() / (name + ".pem")).string());
        return context;
    }
    static http_client_options to(const running_server& server, ssl::context& context) {
        http_client_options o;
        o.host = "localhost";
        o.port = std::to_string(server.endpoint().port());
        o.addresses = {server.endpoint()};
        o.tls = &context;
        o.deadline = 10s;
        return o;
    }

    temp_dir dir_;
    server_certificate first_ = load(write_certificate(dir_.path(), "first"));
};

// A client-side TLS whose output the test controls: `budget` bytes are sent, and the byte at
// `garbled` is altered.
class careless_client {
  public:
    careless_client(const tcp::endpoint& server, ssl::context& context, std::size_t budget,
                    std::size_t garbled = std::numeric_limits<std::size_t>::max())
        : socket_(io_),
          ssl_(SSL_new(context.native_handle()), SSL_free),
          budget_(budget),
          garbled_(garbled) {
        SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        SSL_set_connect_state(ssl_.get());
        socket_.connect(server);
        socket_.set_option(tcp::no_delay(true));
    }

    // Sends the text and reads to the end; returns the decrypted response. Empty if the connection
    // was closed or the handshake failed.
    std::string ask(std::string_view text) {
        std::string answer;
        std::array<char, 4096> plain{};
        bool asked = false;
        for (;;) {
            const int shaken = SSL_do_handshake(ssl_.get());
            if (shaken == 1 && !asked) {
                SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()));
                asked = true;
            }
            int read = 0;
            while (asked && (read = SSL_read(ssl_.get(), plain.data(), plain.size())) > 0) {
                answer.append(plain.data(), static_cast<std::size_t>(read));
            }
            const bool goes_on = flush() && receive();
            ERR_clear_error();
            if (!goes_on) return answer;
        }
    }
    std::size_t sent() const noexcept { return sent_; }

  private:
    bool flush() {
        std::array<char, 4096> sealed{};
        int size = 0;
        while ((size = BIO_read(SSL_get_wbio(ssl_.get()), sealed.data(), sealed.size())) > 0) {
            const std::size_t may = std::min(static_cast<std::size_t>(size), budget_ - sent_);
            if (garbled_ >= sent_ && garbled_ < sent_ + may) sealed[garbled_ - sent_] ^= 0x41;
            boost::system::error_code gone;
            asio::write(socket_, asio::buffer(sealed.data(), may), gone);
            sent_ += may;
            if (gone || sent_ == budget_) return false;
        }
        return true;
    }
    bool receive() {
        std::array<char, 4096> sealed{};
        boost::system::error_code gone;
        const std::size_t size = socket_.read_some(asio::buffer(sealed), gone);
        BIO_write(SSL_get_rbio(ssl_.get()), sealed.data(), static_cast<int>(size));
        return !gone;
    }

    asio::io_context io_;
    tcp::socket socket_;
    std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
    std::size_t budget_;
    std::size_t garbled_;
    std::size_t sent_ = 0;
};

TEST_F(tls, responds_as_unencrypted) {
    running_server server(options());
    ssl::context context = trusting();
    blocking_http_client client(to(server, context));
    for (int i = 0; i < 3; ++i) {
        const auto answer = client.exchange({"PUT", "/p?q", {}, "body"});
        ASSERT_TRUE(answer) << answer.error().error.message() << answer.error().certificate_error;
        EXPECT_EQ(answer->body, "PUT /p q body");
    }
    const std::string large(900'000, 'b');
    EXPECT_EQ(client.exchange({"POST", "/size", {}, large})->body, "900000");
    EXPECT_EQ(client.exchange({"GET", "/large"})->body.size(), 64u << 20);
    EXPECT_EQ(client.exchange({"GET", "/empty"})->status, 204u);
    EXPECT_EQ(client.exchange({"HEAD", "/a"})->body, "");
    server.probe.await(server.probe.answered, 7);
    EXPECT_EQ(server.probe.opened, 1);
}

TEST_F(tls, is_rejected_by_a_client_that_does_not_trust_it) {
    running_server server(options());
    write_certificate(dir_.path(), "other");
    ssl::context context = trusting("other");
    const auto answer = blocking_http_client(to(server, context)).exchange({"GET", "/a"});
    ASSERT_FALSE(answer);
    EXPECT_FALSE(answer.error().sent);
    EXPECT_NE(answer.error().certificate_error, "");
}

TEST_F(tls, responds_to_plain_http_that_it_requires_tls) {
    running_server server(options());
    client c(server.endpoint());
    c.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    const answer_text answer = c.read_answer();
    EXPECT_EQ(answer.status(), 400u);
    EXPECT_EQ(answer.body, "https-required");
    EXPECT_EQ(c.read_rest(), "");
}

TEST_F(tls, a_silent_client_is_disconnected) {
    http_options o = options();
    o.handshake_timeout = 40ms;
    running_server server(o);
    client silent(server.endpoint());
    client halfway(server.endpoint());
    // announces a record and does not send it
    halfway.send(std::string("\x16\x03\x01\x02\x00", 5));
    EXPECT_EQ(silent.read_rest(), "");
    EXPECT_EQ(halfway.read_rest(), "");
    server.probe.await(server.probe.timed_out, 2);
    server.probe.await(server.probe.closed, 2);
}

TEST_F(tls, a_connection_before_its_handshake_counts_and_can_be_evicted) {
    http_options o = options();
    o.connections_max = 1;
    running_server server(o);
    client silent(server.endpoint());
    server.probe.await(server.probe.opened, 1);
    ssl::context context = trusting();
    EXPECT_TRUE(blocking_http_client(to(server, context)).exchange({"GET", "/a"}));
    EXPECT_EQ(silent.read_rest(), "");
    server.probe.await(server.probe.evicted, 1);
}

TEST_F(tls, a_stop_does_not_wait_for_handshakes) {
    running_server server(options());
    client silent(server.endpoint());
    server.probe.await(server.probe.opened, 1);
    server.stop();
    EXPECT_EQ(silent.read_rest(), "");
}

// After a cut at any byte, and after any altered byte, the next client gets a response.
TEST_F(tls, a_handshake_and_a_request_may_be_cut_or_garbled_anywhere) {
    http_options o = options();
    o.connections_per_address_max = 100'000;
    o.handshake_timeout = 500ms;  // for clients that announce more than they send
    running_server server(o);
    ssl::context context = trusting();
    constexpr auto all = std::numeric_limits<std::size_t>::max();
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        SSL_CTX_set_max_proto_version(context.native_handle(), version);
        careless_client whole(server.endpoint(), context, all);
        ASSERT_THAT(whole.ask(question), HasSubstr("GET /a b"));
        const std::size_t size = whole.sent();
        ASSERT_GT(size, 300u);
        for (std::size_t at = 1; at < size; ++at) {
            careless_client(server.endpoint(), context, at).ask(question);
        }
        // Some altered bytes have no effect; none may do more than end its own connection. A
        // handshake that waits for more bytes is closed by its timeout.
        for (std::size_t at = 0; at < size; at += 3) {
            careless_client(server.endpoint(), context, size, at).ask(question);
        }
        EXPECT_THAT(careless_client(server.endpoint(), context, all).ask(question),
                    HasSubstr("GET /a b"));
    }
    EXPECT_EQ(server.probe.failed, 0) << server.probe.last_failure;
}

TEST_F(tls, invalid_data_ends_its_own_connection) {
    running_server server(options());
    for (const std::string_view text :
         {std::string_view("\0\0\0\0", 4), std::string_view("\x80\x2e\x01\x03\x01", 5),
          std::string_view("\x16\x03\x01\xff\xff\x01\xff\xff\xff", 9),
          std::string_view("\x17\x03\x03\x00\x01\x00", 6),
          std::string_view("\x15\x03\x01\x00\x02\x02\x28", 7)}) {
        client c(server.endpoint());
        c.send(text);
        c.half_close();
        c.read_rest();
    }
    ssl::context context = trusting();
    EXPECT_TRUE(blocking_http_client(to(server, context)).exchange({"GET", "/a"}));
    EXPECT_EQ(server.probe.failed, 0) << server.probe.last_failure;
}

TEST_F(tls, rejects_old_versions_and_other_protocols) {
    running_server server(options());
    const auto shake = [&](const auto& prepare) {
        ssl::context context = trusting();
        asio::io_context io;
        ssl::stream<tcp::socket> stream(io, context);
        prepare(stream.native_handle());
        stream.next_layer().connect(server.endpoint());
        boost::system::error_code error;
        stream.handshake(ssl::stream_base::client, error);
        const unsigned char* chosen = nullptr;
        unsigned size = 0;
        SSL_get0_alpn_selected(stream.native_handle(), &chosen, &size);
        return error ? "rejected" : std::string(reinterpret_cast<const char*>(chosen), size);
    };
    EXPECT_EQ(shake([](SSL*) {}), "");
    EXPECT_EQ(shake([](SSL* s) {
                  SSL_set_security_level(s, 0);
                  SSL_set_min_proto_version(s, TLS1_VERSION);
                  SSL_set_max_proto_version(s, TLS1_1_VERSION);
              }),
              "rejected");
    const auto offer = [](const char* protocols) {
        return [protocols](SSL* s) {
            const auto* const bytes = reinterpret_cast<const unsigned char*>(protocols);
            SSL_set_alpn_protos(s, bytes, static_cast<unsigned>(std::strlen(protocols)));
        };
    };
    EXPECT_EQ(shake(offer("\x02h2\x08http/1.1")), "http/1.1");
    EXPECT_EQ(shake(offer("\x02h2")), "rejected");
}

TEST_F(tls, the_end_of_a_response_is_authenticated) {
    running_server server(options());
    ssl::context context = trusting();
    asio::io_context io;
    ssl::stream<tcp::socket> stream(io, context);
    stream.next_layer().connect(server.endpoint());
    stream.handshake(ssl::stream_base::client);
    asio::write(stream, asio::buffer(question));
    std::string answer;
    boost::system::error_code end;
    asio::read(stream, asio::dynamic_buffer(answer), end);
    EXPECT_THAT(answer, HasSubstr("GET /a b"));
    EXPECT_EQ(end, asio::error::eof) << end.message();  // and not ssl::error::stream_truncated
}

TEST_F(tls, a_new_certificate_applies_to_new_connections) {
    running_server server(options());
    ssl::context trusts_first = trusting();
    blocking_http_client old(to(server, trusts_first));
    ASSERT_TRUE(old.exchange({"GET", "/a"}));
    server.use_certificate(load(write_certificate(dir_.path(), "second")).context);
    ssl::context trusts_second = trusting("second");
    EXPECT_TRUE(blocking_http_client(to(server, trusts_second)).exchange({"GET", "/a"}));
    EXPECT_FALSE(blocking_http_client(to(server, trusts_first)).exchange({"GET", "/a"}));
    EXPECT_TRUE(old.exchange({"GET", "/a"}));
    EXPECT_TRUE(old.connected());
}

TEST_F(tls, carries_web_sockets) {
    namespace websocket = boost::beast::websocket;
    running_server server(options());
    ssl::context context = trusting();
    asio::io_context io;
    websocket::stream<ssl::stream<tcp::socket>> socket(io, context);
    socket.next_layer().next_layer().connect(server.endpoint());
    socket.next_layer().handshake(ssl::stream_base::client);
    socket.handshake("localhost", "/talk?bye");
    boost::beast::flat_buffer said;
    socket.read(said);
    EXPECT_EQ(boost::beast::buffers_to_string(said.data()), "hello");
    boost::system::error_code end;
    socket.read(said, end);
    EXPECT_EQ(end, websocket::error::closed) << end.message();
    EXPECT_EQ(socket.reason().code, 1001);
    socket.next_layer().next_layer().close();
    server.probe.await(server.probe.closed, 1);
}

TEST_F(tls, a_web_socket_whose_client_does_not_read_is_cut_off) {
    namespace websocket = boost::beast::websocket;
    http_options o = options();
    o.write_timeout = 40ms;
    o.body_rate_min = 64u << 20;
    running_server server(o);
    ssl::context context = trusting();
    asio::io_context io;
    websocket::stream<ssl::stream<tcp::socket>> socket(io, context);
    socket.next_layer().next_layer().connect(server.endpoint());
    socket.next_layer().handshake(ssl::stream_base::client);
    socket.handshake("localhost", "/shout");
    server.probe.await(server.probe.closed, 1);
}

// ---- the files ----

std::vector<std::string> faults_of(const std::filesystem::path& certificate,
                                   const std::filesystem::path& key) {
    const auto loaded = load_certificate(certificate, key);
    std::vector<std::string> texts;
    if (const auto* faults = std::get_if<std::vector<certificate_fault>>(&loaded)) {
        for (const auto& f : *faults)
            texts.push_back((f.of_key ? "key " : "certificate ") + f.text);
    }
    return texts;
}

TEST_F(tls, reports_the_error_of_each_file) {
    const auto one = write_certificate(dir_.path(), "one");
    const auto two = write_certificate(dir_.path(), "two");
    EXPECT_THAT(faults_of(one.certificate, one.key), ::testing::IsEmpty());
    EXPECT_THAT(faults_of("/nonexistent/a", "/nonexistent/b"),
                ::testing::ElementsAre("certificate cannot be read: No such file or directory",
                                       "key cannot be read: No such file or directory"));
    const auto empty = dir_.path() / "empty";
    std::ofstream(empty.string());
    EXPECT_THAT(faults_of(empty, one.key), ::testing::ElementsAre("certificate is empty"));
    EXPECT_THAT(faults_of(one.certificate, empty), ::testing::ElementsAre("key is empty"));
    EXPECT_THAT(faults_of(one.key, one.certificate),
                ::testing::ElementsAre(StartsWith("certificate has no usable certificate"),
                                       StartsWith("key has no private key")));
    EXPECT_THAT(faults_of(one.certificate, two.key),
                ::testing::ElementsAre(StartsWith("key has no private key of the certificate")));
}

TEST_F(tls, has_the_expiry_of_the_certificate) {
    const auto now = std::chrono::system_clock::now();
    EXPECT_GT(first_.expires, now + std::chrono::days(29));
    EXPECT_LT(first_.expires, now + std::chrono::days(31));
    EXPECT_LT(load(write_certificate(dir_.path(), "past", -3)).expires, now);
}

}  // namespace
}  // namespace callsign::net
