#include "http_fixture.hpp"
#include "request_forms.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>

namespace callsign::net {
namespace {

http_options with_timeouts(milliseconds idle, milliseconds header, milliseconds body,
                           milliseconds write) {
    http_options o;
    o.idle_timeout = idle;
    o.header_timeout = header;
    o.body_timeout = body;
    o.write_timeout = write;
    return o;
}

constexpr milliseconds soon{40};
constexpr milliseconds never{60'000};

TEST(http_server, responds) {
    running_server server;
    client c(server.endpoint());
    c.send(get_a);
    const answer_text a = c.read_answer();
    EXPECT_EQ(a.head.substr(0, 17), "HTTP/1.1 200 OK\r\n");
    EXPECT_EQ(a.body, "GET /a b=c ");
    EXPECT_TRUE(a.has("Server: callsign"));
    EXPECT_TRUE(a.has("Content-Type: text/plain"));
    EXPECT_TRUE(a.has("Content-Length: 11"));
    EXPECT_EQ(a.field("Date").size(), 29u);
    EXPECT_EQ(a.field("Connection"), "(none)");
    EXPECT_EQ(a.field("X-Split"), "a  X-Injected: b");
    server.probe.await(server.probe.answered, 1);
    EXPECT_EQ(server.probe.last_target, "/a?b=c");
}

// ---- events of finished requests ----

TEST(http_server, reports_when_a_response_was_received) {
    running_server server;
    client c(server.endpoint());
    c.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nxyz");
    c.read_answer();
    server.probe.await(server.probe.finished, 1);
    const auto& told = server.probe.last_finished;
    EXPECT_EQ(told.status, 200u);
    EXPECT_EQ(told.client, "127.0.0.1");
    EXPECT_EQ(told.in, 3u);
    EXPECT_EQ(told.out, 12u);
    EXPECT_TRUE(told.sent);
}

TEST(http_server, reports_requests_that_it_rejects_itself) {
    running_server server;
    client c(server.endpoint());
    c.send("nonsense\r\n\r\n");
    c.read_answer();
    server.probe.await(server.probe.finished, 1);
    EXPECT_EQ(server.probe.last_finished.status, 400u);
    EXPECT_EQ(server.probe.last_finished.client, "127.0.0.1");
    EXPECT_EQ(server.probe.answered, 1) << "these requests count as answered, too";
    EXPECT_EQ(server.probe.last_status, 400u);
}

TEST(http_server, reports_the_client_of_a_trusted_proxy) {
    running_server server;
    client c(server.endpoint());
    c.send(
        "GET /a HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 198.51.100.1, "
        "2001:db8:1:2:3:4:5:6\r\n\r\n");
    c.read_answer();
    server.probe.await(server.probe.finished, 1);
    EXPECT_EQ(server.probe.last_finished.client, "2001:db8:1:2:3:4:5:6") << "the complete address";
    c.send(get_a);
    c.read_answer();
    server.probe.await(server.probe.finished, 2);
    EXPECT_EQ(server.probe.last_finished.client, "127.0.0.1");
}

TEST(http_server, keeps_the_connection_and_generates_ids) {
    running_server server;
    client c(server.endpoint());
    c.send(get_a);
    const std::string first = c.read_answer().field("X-Request-Id");
    c.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nxyz");
    const answer_text second = c.read_answer();
    EXPECT_EQ(second.body, "POST /p  xyz");
    EXPECT_NE(second.field("X-Request-Id"), first);
    server.probe.await(server.probe.answered, 2);
    EXPECT_EQ(server.probe.opened, 1);
}

TEST(http_server, responds_to_pipelined_requests_in_order) {
    running_server server;
    client c(server.endpoint());
    c.send(
        "\r\nPOST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab"
        "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n\r\n"
        "POST /3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2;x=y\r\ncd\r\n1\r\ne\r\n0\r\n\r\n"
        "GET /4 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(c.read_answer().body, "POST /1  ab");
    EXPECT_EQ(c.read_answer().body, "GET /2  ");
    EXPECT_EQ(c.read_answer().body, "POST /3  cde");
    const answer_text last = c.read_answer();
    EXPECT_EQ(last.body, "GET /4  ");
    EXPECT_TRUE(last.has("Connection: close"));
    EXPECT_EQ(c.read_rest(), "");
}

TEST(http_server, takes_a_large_body) {
    http_options o;
    o.body_bytes_max = 4u << 20;
    running_server server(o);
    client c(server.endpoint());
    const std::string body(4u << 20, 'b');
    c.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body);
    EXPECT_EQ(c.read_answer().body, "PUT /  " + body);
    c.send(get_a);
    EXPECT_EQ(c.read_answer().status(), 200u);
}

TEST(http_server, sends_continue_to_clients_that_wait) {
    running_server server;
    client c(server.endpoint());
    c.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    EXPECT_EQ(c.read_answer().head, "HTTP/1.1 100 Continue\r\n\r\n");
    c.send("abc");
    EXPECT_EQ(c.read_answer().body, "PUT /  abc");
    // Not to clients that have already sent the body, or that have none.
    c.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc");
    EXPECT_EQ(c.read_answer().status(), 200u);
    c.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(c.read_answer().status(), 200u);
    c.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: miracles\r\nContent-Length: 3\r\n\r\n");
    EXPECT_EQ(c.read_answer().status(), 417u);
}

TEST(http_server, sends_no_body_where_none_is_allowed) {
    running_server server;
    client c(server.endpoint());
    c.send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(c.read_answer(false).has("Content-Length: 9"));
    c.send("GET /empty HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(c.read_answer().field("Content-Length"), "(none)");
    c.send(get_a);
    EXPECT_EQ(c.read_answer().body, "GET /a b=c ");
}

TEST(http_server, speaks_http10) {
    running_server server;
    client stays(server.endpoint());
    stays.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_TRUE(stays.read_answer().has("Connection: keep-alive"));
    stays.send("GET /a HTTP/1.0\r\n\r\n");
    EXPECT_TRUE(stays.read_answer().has("Connection: close"));
    EXPECT_EQ(stays.read_rest(), "");
}

TEST(http_server, takes_the_absolute_form_and_half_closed_clients) {
    running_server server;
    client c(server.endpoint());
    c.send(
        "GET HTTP://h:80/a?b HTTP/1.1\r\nHost: h\r\n\r\nGET http://h HTTP/1.1\r\nHost: h\r\n\r\n");
    c.half_close();
    EXPECT_EQ(c.read_answer().body, "GET /a b ");
    EXPECT_EQ(c.read_answer().body, "GET /  ");
    EXPECT_EQ(c.read_rest(), "");
}

// ---- rejected requests ----

void expect_rejected(const http_options& options, std::string_view bytes, unsigned status,
                     std::string_view code) {
    running_server server(options);
    client c(server.endpoint());
    c.send(bytes);
    const answer_text a = c.read_answer();
    EXPECT_EQ(a.status(), status) << bytes.substr(0, 100);
    EXPECT_EQ(a.body, code) << bytes.substr(0, 100);
    EXPECT_TRUE(a.has("Connection: close"));
    EXPECT_EQ(c.read_rest(), "");
}

TEST(http_server, rejects_large_headers) {
    http_options o;
    o.header_bytes_max = 1000;
    const std::string start = "GET / HTTP/1.1\r\nHost: h\r\n";
    const auto padded_to = [&](std::size_t size) {
        std::string fields;
        while (start.size() + fields.size() + 2 < size - 100) fields += "A: b\r\n";
        const std::size_t left = size - 2 - start.size() - fields.size();
        return start + fields + "A: " + std::string(left - 5, 'b') + "\r\n\r\n";
    };
    ASSERT_EQ(padded_to(1000).size(), 1000u);
    expect_rejected(o, padded_to(1001), 431, "header-too-large");
    expect_rejected(o, start + "A: " + std::string(100'000, 'b'), 431, "header-too-large");
    expect_rejected(o, "GET /" + std::string(5'000, 'b'), 431, "header-too-large");

    running_server server(o);
    client c(server.endpoint());
    c.send(padded_to(1000));
    EXPECT_EQ(c.read_answer().status(), 200u);
}

TEST(http_server, rejects_large_bodies) {
    http_options o;
    o.body_bytes_max = 10;
    const std::string start = "PUT / HTTP/1.1\r\nHost: h\r\n";
    expect_rejected(o, start + "Content-Length: 11\r\n\r\n", 413, "body-too-large");
    expect_rejected(o, start + "Content-Length: 11\r\nExpect: 100-continue\r\n\r\n", 413,
                    "body-too-large");
    expect_rejected(o, start + "Transfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n5\r\n12345\r\n",
                    413, "body-too-large");
    expect_rejected(o, start + "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n", 413,
                    "body-too-large");

    running_server server(o);
    client c(server.endpoint());
    c.send(start + "Content-Length: 10\r\n\r\n0123456789");
    EXPECT_EQ(c.read_answer().status(), 200u);
}

// ---- bodies with limits of their own ----

http_hooks wide_terms_for_size() {
    http_hooks hooks;
    hooks.body_limits_of = [](const http_header& header) {
        if (header.target() != "/size") return body_limits{.bytes_max = 1000};
        return body_limits{.bytes_max = 200'000,
                           .too_large = http_response{400, "text/plain", "overflow", {}}};
    };
    return hooks;
}

std::string chunked(std::size_t bytes, std::size_t chunk = 10'000) {
    std::ostringstream out;
    for (; bytes > 0; bytes -= std::min(bytes, chunk)) {
        const std::size_t n = std::min(bytes, chunk);
        out << std::hex << n << "\r\n" << std::string(n, 'c') << "\r\n";
    }
    out << "0\r\n\r\n";
    return out.str();
}

TEST(http_server, a_requests_own_terms_decide_how_large_its_body_may_be) {
    http_options o;
    o.body_bytes_max = 1000;
    running_server server(o, wide_terms_for_size());
    const std::string put = "PUT /size HTTP/1.1\r\nHost: h\r\n";
    const std::string other = "PUT /other HTTP/1.1\r\nHost: h\r\n";
    const std::string in_chunks = "Transfer-Encoding: chunked\r\n\r\n";
    const auto status_of = [&](const std::string& bytes) {
        client c(server.endpoint());
        c.send(bytes);
        const answer_text answer = c.read_answer();
        return std::to_string(answer.status()) + " " + answer.body;
    };
    EXPECT_EQ(status_of(put + "Content-Length: 200000\r\n\r\n" + std::string(200'000, 'b')),
              "200 200000");
    EXPECT_EQ(status_of(put + in_chunks + chunked(200'000)), "200 200000");
    EXPECT_EQ(status_of(put + "Content-Length: 200001\r\n\r\n"), "400 overflow");
    EXPECT_EQ(status_of(put + in_chunks + chunked(200'001)), "400 overflow");
    EXPECT_EQ(status_of(other + "Content-Length: 1001\r\n\r\n"), "413 body-too-large");
    EXPECT_EQ(status_of(other + in_chunks + chunked(1001, 100)), "413 body-too-large");
}

TEST(http_server, rejects_malformed_requests) {
    for (const std::string_view bytes : {
             "\x16\x03\x01\x02",
             "GET / HTTP/1.1\n\n",
             "GET / HTTP/1.1\r\nHost: h\n",
             "GET /\r\n\r\n",
             "GET / HTTP/2.0\r\nHost: h\r\n\r\n",
             "GET / HTTP/1.1\r\n\r\n",
             "GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n",
             "GET / HTTP/1.1\r\nHost : h\r\n\r\n",
             "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
             "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
             "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
             "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
             "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n",
             "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
             "PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
             "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
         }) {
        expect_rejected({}, bytes, 400, "malformed-request");
    }
    const std::string endless_chunk_header =
        "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
        std::string(20'000, 'x');
    expect_rejected({}, endless_chunk_header, 400, "malformed-request");
}

// ---- pieces ----

// The responses to a client that sends `bytes` in pieces, without the fields that differ each time.
std::string answers_to(running_server& server, std::string_view bytes, std::size_t cut,
                       std::size_t second_cut) {
    client c(server.endpoint());
    for (const std::size_t piece : {cut, second_cut, bytes.size()}) {
        c.send(bytes.substr(0, piece));
        bytes.remove_prefix(std::min(piece, bytes.size()));
        // No event reports that the server has read a piece; it has when it has handled another
        // task.
        if (!bytes.empty()) server.round_trip();
    }
    c.half_close();
    std::string all = c.read_rest();
    constexpr std::string_view interim = "HTTP/1.1 100 Continue\r\n\r\n";
    for (auto at = all.find(interim); at != all.npos; at = all.find(interim)) {
        all.erase(at, interim.size());
    }
    std::istringstream rest(std::move(all));
    std::string out;
    for (std::string line; std::getline(rest, line);) {
        const bool differs = line.starts_with("Date: ") || line.starts_with("X-Request-Id: ");
        if (!differs) out += line + "\n";
    }
    return out;
}

TEST(http_server, responds_to_each_form_in_pieces_as_to_the_whole) {
    running_server server;
    for (const request_form& form : request_forms()) {
        SCOPED_TRACE(form.name);
        const std::size_t size = form.bytes.size();
        const std::string whole = answers_to(server, form.bytes, size, 0);
        for (std::size_t cut = 1; cut<size; cut += size> 120 ? 7 : 3) {
            EXPECT_EQ(answers_to(server, form.bytes, cut, size), whole) << cut;
        }
        for (std::size_t end = size > 6 ? size - 6 : 1; end < size; ++end) {
            EXPECT_EQ(answers_to(server, form.bytes, end, 1), whole) << end;
        }
    }
}

// ---- deadlines ----

TEST(http_server, closes_idle_connections) {
    running_server server(with_timeouts(soon, never, never, never));
    client fresh(server.endpoint());
    EXPECT_EQ(fresh.read_rest(), "");
    client kept(server.endpoint());
    kept.send(get_a);
    EXPECT_EQ(kept.read_answer().status(), 200u);
    EXPECT_EQ(kept.read_rest(), "");
    EXPECT_EQ(server.probe.timed_out, 0);
}

TEST(http_server, rejects_slow_headers_and_bodies) {
    {
        running_server server(with_timeouts(never, soon, never, never));
        client c(server.endpoint());
        c.send("GET / HT");
        EXPECT_EQ(c.read_answer().status(), 408u);
        EXPECT_EQ(c.read_rest(), "");
        server.probe.await(server.probe.timed_out, 1);
    }
    running_server server(with_timeouts(never, never, soon, never));
    client c(server.endpoint());
    c.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nx");
    EXPECT_EQ(c.read_answer().body, "request-timeout");
    EXPECT_EQ(c.read_rest(), "");
}

TEST(http_server, closes_on_clients_that_do_not_read) {
    running_server server(with_timeouts(never, never, never, soon));
    client c(server.endpoint());
    c.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
    server.probe.await(server.probe.closed, 1);
    EXPECT_EQ(server.probe.timed_out, 1);
}

// The handler has the engine's deadlines, not those of the connection.
TEST(http_server, does_not_limit_the_handler) {
    running_server server(with_timeouts(soon, soon, soon, soon));
    client held(server.endpoint());
    held.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
    server.held.wait(0);
    client idle(server.endpoint());
    EXPECT_EQ(idle.read_rest(), "");  // by then every deadline has passed
    server.release();
    EXPECT_EQ(held.read_answer().status(), 200u);
}

// ---- errors and shutdown ----

TEST(http_server, an_exception_ends_its_session_only) {
    running_server server;
    client other(server.endpoint());
    client c(server.endpoint());
    c.send("GET /throw HTTP/1.1\r\nHost: h\r\n\r\n");
    const answer_text a = c.read_answer();
    EXPECT_EQ(a.status(), 500u);
    EXPECT_EQ(a.body, "internal-error");
    EXPECT_EQ(c.read_rest(), "");
    server.probe.await(server.probe.failed, 1);
    EXPECT_EQ(server.probe.last_failure, "thrown");
    other.send(get_a);
    EXPECT_EQ(other.read_answer().status(), 200u);
}

TEST(http_server, stop_completes_requests_in_progress) {
    running_server server;
    client idle(server.endpoint());
    idle.send(get_a);
    EXPECT_EQ(idle.read_answer().status(), 200u);
    client busy(server.endpoint());
    busy.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
    server.held.wait(0);
    client sending(server.endpoint());
    sending.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
    sending.read_answer();

    server.stop();
    EXPECT_EQ(idle.read_rest(), "");
    EXPECT_ANY_THROW(client(server.endpoint()));
    sending.send("x");
    EXPECT_TRUE(sending.read_answer().has("Connection: close"));
    server.release();
    EXPECT_TRUE(busy.read_answer().has("Connection: close"));
    EXPECT_EQ(busy.read_rest(), "");
    server.drained(never);
    EXPECT_EQ(server.probe.closed, 3);
}

TEST(http_server, drain_closes_requests_beyond_its_timeout) {
    running_server server;
    client c(server.endpoint());
    c.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
    server.held.wait(0);
    server.stop();
    server.drained(milliseconds{1});
    EXPECT_EQ(c.read_rest(), "");
}

std::string whose(http_options options, const std::string& fields) {
    running_server server(std::move(options));
    client c(server.endpoint());
    c.send("GET /whose HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
    return c.read_answer().body;
}

TEST(http_server, accepts_client_addresses_from_a_trusted_proxy_only) {
    const std::string named = "X-Forwarded-For: 192.0.2.9, 198.51.100.7\r\n";
    http_options trusting;
    EXPECT_EQ(whose(trusting, ""), "127.0.0.1");
    EXPECT_EQ(whose(trusting, named), "198.51.100.7");
    EXPECT_EQ(whose(trusting, named + "X-Forwarded-For: 127.0.0.1\r\n"), "198.51.100.7");
    EXPECT_EQ(whose(trusting, "Forwarded: for=192.0.2.9, for=\"[2001:db8::1]\"\r\n"),
              "2001:db8::1");
    EXPECT_EQ(whose(trusting, "Forwarded: for=192.0.2.8\r\n" + named), "198.51.100.7");
    EXPECT_EQ(whose(trusting, "X-Forwarded-For: rubbish\r\n"), "127.0.0.1");
    http_options believes_nobody;
    believes_nobody.trusted_proxies.clear();
    EXPECT_EQ(whose(believes_nobody, named), "127.0.0.1");
    EXPECT_EQ(whose(believes_nobody, "Forwarded: for=192.0.2.9\r\n"), "127.0.0.1");
}

}  // namespace
}  // namespace callsign::net
