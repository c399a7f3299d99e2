#include "cli/http_client.hpp"

#include "cli/failure.hpp"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace callsign::cli {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;
using testing::HasSubstr;

// Accepts one connection, reads the head of a request, and responds with the given bytes.
class one_answer {
  public:
    explicit one_answer(std::string bytes, milliseconds delay = 0ms)
        : acceptor_(context_, {asio::ip::address_v4::loopback(), 0}),
          url_("http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port())),
          thread_([this, bytes = std::move(bytes), delay] { serve(bytes, delay); }) {}
    ~one_answer() { thread_.join(); }

    server_url url(const std::string& base = "") const { return parse_server_url(url_ + base); }
    std::string head() {
        thread_.join();
        thread_ = std::thread([] {});
        return head_;
    }

  private:
    void serve(const std::string& bytes, milliseconds delay) {
        tcp::socket socket(context_);
        acceptor_.accept(socket);
        asio::streambuf buffer;
        boost::system::error_code ignored;
        asio::read_until(socket, buffer, "\r\n\r\n", ignored);
        head_.assign(asio::buffers_begin(buffer.data()), asio::buffers_end(buffer.data()));
        std::this_thread::sleep_for(delay);
        asio::write(socket, asio::buffer(bytes), ignored);
    }

    asio::io_context context_;
    tcp::acceptor acceptor_;
    std::string url_;
    std::string head_;
    std::thread thread_;
};

std::string failure_of(const server_url& server, const http_call& call, milliseconds timeout) {
    try {
        exchange(server, call, timeout);
    } catch (const failure& e) {
        return e.what();
    }
    return {};
}

TEST(http_client, sends_the_request_and_reads_the_response) {
    one_answer server(
        "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
    const http_answer answer =
        exchange(server.url("/base/"), {verb::post, "/v1/x?a=b", "cs_t", R"({"name":"n"})"}, 5s);
    EXPECT_EQ(answer.status, 201u);
    EXPECT_EQ(answer.content_type, "application/json");
    EXPECT_EQ(answer.body, "{}");
    const std::string head = server.head();
    EXPECT_THAT(head, HasSubstr("POST /base/v1/x?a=b HTTP/1.1\r\n"));
    EXPECT_THAT(head, HasSubstr("Authorization: Bearer cs_t\r\n"));
    EXPECT_THAT(head, HasSubstr("Content-Type: application/json\r\n"));
    EXPECT_THAT(head, HasSubstr("Content-Length: 12\r\n"));
}

TEST(http_client, a_post_without_a_body_has_a_content_length) {
    one_answer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(exchange(server.url(), {verb::post, "/v1/x", "", ""}, 5s).status, 200u);
    EXPECT_THAT(server.head(), HasSubstr("Content-Length: 0\r\n"));
}

TEST(http_client, an_unreachable_server_is_an_error) {
    std::string url;
    {
        asio::io_context context;
        const tcp::acceptor gone(context, {asio::ip::address_v4::loopback(), 0});
        url = "http://127.0.0.1:" + std::to_string(gone.local_endpoint().port());
    }
    EXPECT_EQ(failure_of(parse_server_url(url), {verb::post, "/", "", ""}, 5s),
              "cannot reach " + url + ": Connection refused");
}

TEST(http_client, a_timed_out_change_may_have_been_carried_out) {
    one_answer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200ms);
    EXPECT_EQ(failure_of(server.url(), {verb::post, "/", "", ""}, 50ms),
              "incomplete response from " + server.url().text +
                  ": no response within 50ms; the request may have been carried out");
}

TEST(http_client, a_truncated_response_is_an_error) {
    one_answer server("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{");
    const std::string text = failure_of(server.url(), {verb::get, "/", "", ""}, 5s);
    EXPECT_THAT(text, HasSubstr("incomplete response from"));
    EXPECT_THAT(text, testing::Not(HasSubstr("may have been done")));
}

TEST(http_client, urls) {
    const server_url v6 = parse_server_url("http://[::1]:81/");
    EXPECT_EQ(v6.host, "::1");
    EXPECT_EQ(v6.port, "81");
    EXPECT_EQ(v6.base, "");
    EXPECT_EQ(parse_server_url("http://h").port, "80");
    EXPECT_FALSE(parse_server_url("http://h").tls);
    EXPECT_EQ(parse_server_url("https://h/base").port, "443");
    EXPECT_TRUE(parse_server_url("https://h").tls);
    for (const char* bad : {"", ":", ":x", "h:x", "ftp://h", "http://", "https://", "http://h?x",
                            "http://h#x", "http://u@h", "http://h:x", "http://h:", "http://h:99999",
                            "http://h:0", "http://h:122491", "http://h /"}) {
        EXPECT_THROW(parse_server_url(bad), failure) << bad;
    }
}

TEST(http_client, addresses_without_a_scheme) {
    const std::vector<std::pair<const char*, const char*>> meant{
        {"localhost:8090", "http://localhost:8090"},
        {"localhost", "http://localhost:8080"},
        {":8090", "http://127.0.0.1:8090"},
        {"127.0.0.1:81/base", "http://127.0.0.1:81/base"},
        {"[::1]:8090", "http://[::1]:8090"},
        {"[::1]", "http://[::1]:8080"},
        {"example.org", "https://example.org"},
        {"example.org:8443/base", "https://example.org:8443/base"},
        {"192.0.2.7:8080", "https://192.0.2.7:8080"},
        {"[2001:db8::1]:8080", "https://[2001:db8::1]:8080"},
        {"http://example.org", "http://example.org"}};
    for (const auto& [given, url] : meant) {
        const server_url parsed = parse_server_url(given);
        EXPECT_EQ(parsed.text, url) << given;
        EXPECT_EQ(parsed.tls, std::string_view(url).starts_with("https")) << given;
    }
    EXPECT_EQ(parse_server_url(":8090").port, "8090");
    EXPECT_EQ(parse_server_url("[2001:db8::1]:8080").host, "2001:db8::1");
    EXPECT_EQ(parse_server_url("example.org").port, "443");
}

TEST(http_client, percent_encoding) {
    EXPECT_EQ(percent_encode("aZ0-._~"), "aZ0-._~");
    EXPECT_EQ(percent_encode("a/b c%\xC3\xA9"), "a%2Fb%20c%25%C3%A9");
}

}  // namespace
}  // namespace callsign::cli
