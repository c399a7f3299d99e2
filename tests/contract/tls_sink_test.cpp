// A remote task store over TLS: nothing is sent before its certificate is verified. The test
// generates the certificates, so that none expires unintentionally.

#include "net/use_result.hpp"
#include "support/at_once.hpp"
#include "support/localhost.hpp"
#include "support/seeded_entropy.hpp"
#include "support/temp_dir.hpp"

#include <callsign/remote/task_sink.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <fstream>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace callsign::testing {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::awaitable;
using asio::ip::tcp;

using net::use_result;

template <auto destroy>
struct with {
    template <class T>
    void operator()(T* object) const {
        destroy(object);
    }
};
using key_ptr = std::unique_ptr<EVP_PKEY, with<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, with<X509_free>>;

struct certificate {
    key_ptr key;
    certificate_ptr shown;
};

// `from` and `until`: days from now. Without an issuer: a self-signed CA certificate.
certificate make_certificate(const std::string& name, int from, int until,
                             const certificate* issuer) {
    static long serial = 0;
    certificate made{key_ptr(EVP_EC_gen("P-256")), certificate_ptr(X509_new())};
    X509* const x = made.shown.get();
    X509_set_version(x, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x), ++serial);
    constexpr long day = 24 * 3600;
    X509_gmtime_adj(X509_getm_notBefore(x), from * day);
    X509_gmtime_adj(X509_getm_notAfter(x), until * day);
    X509_set_pubkey(x, made.key.get());
    const auto* const text = reinterpret_cast<const unsigned char*>(name.c_str());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, text, -1, -1, 0);
    X509* const by = issuer ? issuer->shown.get() : x;
    X509_set_issuer_name(x, X509_get_subject_name(by));
    const int kind = issuer ? NID_subject_alt_name : NID_basic_constraints;
    const std::string value = issuer ? "DNS:" + name : "critical,CA:TRUE";
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
    EXPECT_GT(X509_sign(x, issuer ? issuer->key.get() : made.key.get(), EVP_sha256()), 0);
    return made;
}

// Responds to every request as an empty store.
class tls_server {
  public:
    explicit tls_server(asio::io_context& io)
        : acceptor_(io, {asio::ip::address_v4::loopback(), 0}) {
        asio::co_spawn(io, serve(), asio::detached);
    }

    void show(const certificate& c) {
        tls_ = std::make_shared<ssl::context>(ssl::context::tls_server);
        SSL_CTX_use_certificate(tls_->native_handle(), c.shown.get());
        SSL_CTX_use_PrivateKey(tls_->native_handle(), c.key.get());
    }
    std::string url() const {
        return "https://localhost:" + std::to_string(acceptor_.local_endpoint().port());
    }
    std::size_t bytes_told() const { return told_; }

  private:
    awaitable<void> serve() {
        for (;;) {
            auto [error, socket] = co_await acceptor_.async_accept(use_result);
            if (error) co_return;
            asio::co_spawn(acceptor_.get_executor(), answer(std::move(socket)), asio::detached);
        }
    }
    awaitable<void> answer(tcp::socket socket) {
        const auto tls = tls_;  // the next connection may use another certificate
        ssl::stream<tcp::socket> stream(std::move(socket), *tls);
        const auto [distrusted] =
            co_await stream.async_handshake(ssl::stream_base::server, use_result);
        if (distrusted) co_return;
        std::string text;
        const auto [cut, bytes] = co_await asio::async_read_until(
            stream, asio::dynamic_buffer(text), "\r\n\r\n", use_result);
        told_ += bytes;
        if (cut) co_return;
        const std::string said =
            "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        co_await asio::async_write(stream, asio::buffer(said), use_result);
    }

    tcp::acceptor acceptor_;
    std::shared_ptr<ssl::context> tls_;
    std::size_t told_ = 0;
};

class tls_sink : public ::testing::Test {
  protected:
    tls_sink() {
        const std::string file = (dir_.path() / "ca.pem").string();
        std::FILE* const out = std::fopen(file.c_str(), "w");
        PEM_write_X509(out, authority_.shown.get());
        std::fclose(out);
        sinks_ =
            std::make_unique<remote::sinks>(io_.get_executor(), at_once, chance_,
                                            remote::sink_options{.timeout = 10s, .ca_file = file});
        const auto key = std::make_shared<const seal::key>(std::array<std::uint8_t, 32>{});
        sink_ =
            sinks_->open(account_id{1}, server_.url(), make_uuid_v7(time_point{1ms}, 1, 1), key);
    }

    void SetUp() override {
        if (!knows_localhost()) GTEST_SKIP() << no_localhost;
    }

    template <class T>
    T await(awaitable<T> work) {
        auto done = asio::co_spawn(io_, std::move(work), asio::use_future);
        while (done.wait_for(0s) != std::future_status::ready) {
            io_.restart();
            io_.run_one_for(20s);
        }
        return done.get();
    }
    void expect_distrusted(const std::string& why) {
        const auto asked = await(sink_->get_child(uuid{}));
        const auto sent = await(sink_->add_version(uuid{}, {}));
        const auto* const not_asked = std::get_if<sink_failure>(&asked);
        const auto* const not_sent = std::get_if<sink_failure>(&sent);
        ASSERT_TRUE(not_asked && not_sent) << why;
        for (const sink_failure* const failure : {not_asked, not_sent}) {
            EXPECT_EQ(failure->why, sink_failure::kind::unreachable) << why;
            EXPECT_EQ(failure->text, "The remote server's certificate is not valid: " + why + ".");
        }
        EXPECT_EQ(server_.bytes_told(), 0u) << why;
    }

    temp_dir dir_;
    asio::io_context io_{1};
    seeded_entropy chance_{1};
    const certificate authority_ = make_certificate("Authority", -100, 100, nullptr);
    tls_server server_{io_};
    std::unique_ptr<remote::sinks> sinks_;
    std::unique_ptr<task_sink> sink_;
};

TEST_F(tls_sink, a_server_with_an_expired_certificate_receives_no_request) {
    server_.show(make_certificate("localhost", -90, -1, &authority_));
    expect_distrusted("certificate has expired");
    server_.show(make_certificate("localhost", -1, 90, &authority_));
    EXPECT_TRUE(std::holds_alternative<sink_up_to_date>(await(sink_->get_child(uuid{}))));
    EXPECT_GT(server_.bytes_told(), 0u);
}

TEST_F(tls_sink, a_server_with_another_name_receives_no_request) {
    server_.show(make_certificate("example.com", -1, 90, &authority_));
    expect_distrusted("hostname mismatch");
    server_.show(make_certificate("localhost", -1, 90, &authority_));
    EXPECT_TRUE(std::holds_alternative<sink_up_to_date>(await(sink_->get_child(uuid{}))));
}

TEST_F(tls_sink, an_untrusted_server_receives_no_request) {
    const certificate other = make_certificate("Other", -100, 100, nullptr);
    server_.show(make_certificate("localhost", -1, 90, &other));
    expect_distrusted("unable to get local issuer certificate");
}

}  // namespace
}  // namespace callsign::testing
