// Goal: requests are read the same however their bytes are split into reads. Method: every form is
// sent whole, byte by byte, split in two at every byte, and in three around its end; and some
// pipelined, split at random places. Where Boost's assertions are enabled (every preset but
// release), a split that violates one would end this program.

#include "net/request_reader.hpp"

#include "request_forms.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace callsign::net {
namespace {

using step = request_reader::step;

struct outcome {
    std::vector<std::string> requests;
    unsigned rejected = 0;
    std::string why;
    friend bool operator==(const outcome&, const outcome&) = default;
    friend std::ostream& operator<<(std::ostream& out, const outcome& o) {
        for (const std::string& r : o.requests) out << r.substr(0, 200) << "; ";
        return out << o.rejected << " " << o.why;
    }
};

std::string text_of(const http_request& r) {
    std::string text(r.method_string());
    text += " " + std::string(r.target()) + "|" + r.body();
    for (const auto& field : r) {
        text += "|" + std::string(field.name_string()) + "=" + std::string(field.value());
    }
    return text;
}

// `cuts`: the size of each read; the last one applies to all that follow.
outcome read_all(std::string_view bytes, const std::vector<std::size_t>& cuts,
                 const http_options& options = {}) {
    const http_hooks hooks;
    body_lease memory;
    request_reader reader(options, hooks, memory);
    outcome out;
    std::size_t round = 0;
    std::size_t left = cuts[0];
    reader.begin();
    for (;;) {
        const step next = reader.advance();
        if (next == step::ready) {
            out.requests.push_back(text_of(reader.take()));
            reader.begin();
        } else if (next == step::rejected) {
            out.rejected = reader.why().status;
            out.why = reader.why().code;
            return out;
        } else if (next == step::need_more) {
            if (bytes.empty()) return out;
            const auto space = reader.space();
            const std::size_t n = std::min({bytes.size(), space.size(), left});
            std::copy_n(bytes.data(), n, static_cast<char*>(space.data()));
            reader.received(n);
            bytes.remove_prefix(n);
            left -= n;
            if (left == 0) left = cuts[std::min(++round, cuts.size() - 1)];
        }
    }
}

constexpr std::size_t all = std::size_t{1} << 40;

TEST(request_reader, reads_each_form_in_pieces_as_in_one) {
    for (const request_form& form : request_forms()) {
        SCOPED_TRACE(form.name);
        const std::size_t size = form.bytes.size();
        const outcome whole = read_all(form.bytes, {all});
        EXPECT_EQ(read_all(form.bytes, {1}), whole);
        for (std::size_t cut = 1; cut < size; ++cut) {
            EXPECT_EQ(read_all(form.bytes, {cut, all}), whole) << cut;
        }
        const std::size_t end = size > 12 ? size - 12 : 1;
        for (std::size_t first = end; first < size; ++first) {
            for (std::size_t second = 1; first + second < size; ++second) {
                EXPECT_EQ(read_all(form.bytes, {first, second, all}), whole)
                    << first << ", " << second;
            }
        }
    }
}

// Verifies the forms that the test above compares.
TEST(request_reader, accepts_and_rejects_the_forms_as_listed) {
    std::vector<std::string> taken, rejected, awaited;
    for (const request_form& form : request_forms()) {
        const outcome o = read_all(form.bytes, {all});
        auto& list = o.rejected != 0 ? rejected : o.requests.empty() ? awaited : taken;
        list.push_back(form.name);
        if (o.rejected == 0) continue;
        EXPECT_EQ(o.rejected, o.why == "body-too-large" ? 413u : 400u);
    }
    EXPECT_EQ(taken.size(), 22u);
    EXPECT_EQ(taken.back(), "one behind another");
    EXPECT_EQ(rejected.size(), 26u);
    EXPECT_EQ(rejected.front(), "no HTTP");
    EXPECT_EQ(rejected.back(), "a trailer with a bare return");
    EXPECT_EQ(awaited.size(), 5u);
}

// Of two different values, a proxy in front may have used the other one.
TEST(request_reader, a_second_value_of_a_singleton_field_is_rejected) {
    const std::string begin = "GET / HTTP/1.1\r\nHost: h\r\n";
    for (const std::string name :
         {"Access-Control-Request-Method", "Authorization", "Content-Type", "Idempotency-Key",
          "Last-Event-ID", "Origin", "Sec-WebSocket-Key", "X-Client-Id"}) {
        const std::string once = begin + name + ": a\r\n";
        EXPECT_EQ(read_all(once + "A: b\r\n\r\n", {all}).rejected, 0u) << name;
        EXPECT_EQ(read_all(once + "A: b\r\n" + name + ": a\r\n\r\n", {all}).rejected, 400u) << name;
    }
    EXPECT_EQ(read_all(begin + "HOST: h\r\n\r\n", {all}).rejected, 400u);
    // These fields are lists.
    for (const std::string name : {"Accept", "Accept-Encoding", "Content-Encoding", "If-Match",
                                   "If-None-Match", "Sec-WebSocket-Protocol", "X-Forwarded-For"}) {
        const std::string twice = begin + name + ": a\r\n" + name + ": b\r\n\r\n";
        EXPECT_EQ(read_all(twice, {all}).rejected, 0u) << name;
    }
}

TEST(request_reader, drops_trailers) {
    const outcome o = read_all(
        chunked_put("1\r\na\r\n0\r\nAuthorization: x\r\nHost: i\r\nContent-Length: 9\r\n\r\n"),
        {all});
    EXPECT_EQ(o.requests, std::vector<std::string>{"PUT /c|a|Host=h|Transfer-Encoding=chunked"});
}

TEST(request_reader, lines_of_a_body_are_limited) {
    const std::string x(8'180, 'x');
    EXPECT_EQ(read_all(chunked_put("1;" + x + "\r\na\r\n0\r\n\r\n"), {all}).requests.size(), 1u);
    const std::string lines = "A:" + x.substr(0, 4'000) + "\r\n";
    EXPECT_EQ(read_all(chunked_put("0\r\n" + lines + lines + "\r\n"), {all}).requests.size(), 1u);
    for (const std::string& endless :
         {"1;" + x + x, "1;" + x + x + "\r\na\r\n0\r\n\r\n", "0\r\nA: " + x + x,
          "0\r\n" + lines + lines + lines + "\r\n"}) {
        for (const std::size_t cut : {all, std::size_t{100}}) {
            EXPECT_EQ(read_all(chunked_put(endless), {cut}).rejected, 400u) << endless.substr(0, 9);
        }
    }
}

TEST(request_reader, the_limit_of_a_header_is_the_same_in_pieces) {
    http_options o;
    o.header_bytes_max = 100;
    const std::string start = "GET / HTTP/1.1\r\nHost: h\r\nA: ";
    const std::string fits = start + std::string(100 - 4 - start.size(), 'x') + "\r\n\r\n";
    const std::string larger = start + std::string(101 - 4 - start.size(), 'x') + "\r\n\r\n";
    const std::string bad_and_larger = start + std::string(100, 'x') + "\n\r\n";
    for (const std::size_t cut : {all, std::size_t{1}, std::size_t{7}}) {
        EXPECT_EQ(read_all(fits, {cut}, o).requests.size(), 1u);
        EXPECT_EQ(read_all(larger, {cut}, o).rejected, 431u);
        EXPECT_EQ(read_all(bad_and_larger, {cut}, o).rejected, 431u);
    }
}

RC_GTEST_PROP(request_reader, does_not_care_how_bytes_arrive, ()) {
    std::vector<std::string> forms{
        "GET /" + std::string(9'000, 'l') + " HTTP/1.1\r\nHost: h\r\n\r\n",
        put_of(std::string(70'000, 'p')),
        chunked_put("11170\r\n" + std::string(70'000, 'c') + "\r\n1;x\r\nd\r\n0\r\nA: b\r\n\r\n")};
    for (const request_form& form : request_forms()) forms.push_back(form.bytes);
    const auto requests = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(forms));
    std::string bytes;
    for (const std::string& request : requests) bytes += request;
    const auto cuts = *rc::gen::nonEmpty<std::vector<std::size_t>>(
        rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 200)));
    RC_ASSERT(read_all(bytes, cuts) == read_all(bytes, {all}));
}

// ---- memory ----

// A body of `size` bytes that arrives in pieces; the memory held for it after each piece.
class reading {
  public:
    explicit reading(std::size_t bytes_max)
        : budget_(std::make_shared<body_budget>(bytes_max, bytes_max)) {
        reader_.begin();
    }

    step send(std::string_view bytes) {
        step next = reader_.advance();
        while (next == step::need_more || next == step::ask) {
            if (next == step::need_more) {
                if (bytes.empty()) break;
                const auto space = reader_.space();
                const std::size_t n = std::min(bytes.size(), space.size());
                std::copy_n(bytes.data(), n, static_cast<char*>(space.data()));
                reader_.received(n);
                bytes.remove_prefix(n);
            }
            next = reader_.advance();
        }
        return next;
    }
    std::size_t held() const { return budget_->held(); }
    request_reader& reader() { return reader_; }

  private:
    static http_options wide() {
        http_options o;
        o.body_bytes_max = 100u << 20;
        return o;
    }

    const http_options options_ = wide();
    const http_hooks hooks_;
    std::shared_ptr<body_budget> budget_;
    body_lease memory_{budget_};
    request_reader reader_{options_, hooks_, memory_};
};

TEST(request_reader, memory_is_held_for_a_body_as_it_arrives_not_as_it_is_announced) {
    for (const bool in_chunks : {false, true}) {
        reading r(10u << 20);
        const std::string head =
            in_chunks ? chunked_put("5000000\r\n")
                      : "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 83886080\r\n\r\n";
        EXPECT_EQ(r.send(head), step::need_more);
        EXPECT_LE(r.held(), 16u << 10);
        const std::string piece(100'000, 'x');
        for (std::size_t sent = piece.size(); sent < 4u << 20; sent += piece.size()) {
            ASSERT_EQ(r.send(piece), step::need_more);
            EXPECT_GE(r.held(), sent);
            EXPECT_LE(r.held(), std::max(std::size_t{16} << 10, 2 * sent));
        }
        step next = step::need_more;
        for (int i = 0; i < 100 && next == step::need_more; ++i) next = r.send(piece);
        EXPECT_EQ(next, step::rejected);
        EXPECT_EQ(r.reader().why().status, 503u);
        EXPECT_LE(r.held(), 10u << 20);
        r.reader().drop_body();
        EXPECT_EQ(r.held(), 0u);
    }
}

TEST(request_reader, a_small_body_counts_too) {
    reading r(1000);
    EXPECT_EQ(r.send(put_of(std::string(600, 'x'))), step::ready);
    EXPECT_EQ(r.held(), 600u);
    r.reader().take();
    r.reader().begin();
    EXPECT_EQ(r.held(), 0u);
    EXPECT_EQ(r.send(put_of(std::string(1001, 'x'))), step::rejected);
}

}  // namespace
}  // namespace callsign::net
