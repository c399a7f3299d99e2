// Goal: requests are the same however their bytes are cut into reads. Method: a few requests behind
// one another, cut at random places.

#include "net/request_reader.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace callsign::net {
namespace {

using step = request_reader::step;

struct outcome {
    std::vector<std::string> requests;
    unsigned refused = 0;
    friend bool operator==(const outcome&, const outcome&) = default;
};

// `cuts`: the size of each read, over and over.
outcome read_all(std::string_view bytes, const std::vector<std::size_t>& cuts) {
    const http_options options;
    const http_hooks hooks;
    body_lease memory;
    request_reader reader(options, hooks, memory);
    outcome out;
    reader.begin();
    for (std::size_t round = 0;; ++round) {
        const step next = reader.advance();
        if (next == step::ready) {
            const http_request r = reader.take();
            out.requests.push_back(std::string(r.target()) + "|" + r.body() + "|" +
                                   std::string(r["A"]));
            reader.begin();
        } else if (next == step::refused) {
            out.refused = reader.why().status;
            return out;
        } else if (next == step::need_more) {
            if (bytes.empty()) return out;
            const auto space = reader.space();
            const std::size_t n = std::min({bytes.size(), space.size(), cuts[round % cuts.size()]});
            std::copy_n(bytes.data(), n, static_cast<char*>(space.data()));
            reader.received(n);
            bytes.remove_prefix(n);
        }
    }
}

RC_GTEST_PROP(RequestReader, DoesNotCareHowBytesArrive, ()) {
    const auto requests =
        *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
            "GET /1 HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n",
            "\r\nPUT /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n1\r\n\r\n",
            "PUT /3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
            "chunked\r\n\r\n3\r\nabc\r\n2;e=f\r\nde\r\n0\r\n\r\n",
            "PUT /4 HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n",
            "GET /" + std::string(9'000, 'l') + " HTTP/1.1\r\nHost: h\r\n\r\n",
            "PUT /5 HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
            "PUT /6 HTTP/1.1\r\nHost: h\r\nContent-Length: 70000\r\n\r\n" +
                std::string(70'000, 'p'),
            "GET /7 HTTP/1.1\r\nHost: h\nA: b\r\n\r\n"));
    std::string bytes;
    for (const std::string& request : requests) bytes += request;
    const auto cuts = *rc::gen::nonEmpty<std::vector<std::size_t>>(
        rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 200)));
    RC_ASSERT(read_all(bytes, cuts) == read_all(bytes, {bytes.size() + 1}));
}

TEST(RequestReader, SurvivesOneByteAtATime) {
    const outcome o =
        read_all("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n", {1});
    EXPECT_EQ(o.requests, (std::vector<std::string>{"/1||", "/2||"}));
}

}  // namespace
}  // namespace callsign::net
