// Responses are compressed if their client accepts that and they are worth it.

#include "unit/api/service_fixture.hpp"

#include <zlib.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

std::string inflated(const std::string& packed) {
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    std::string out(std::size_t{8} << 20, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    EXPECT_EQ(stream.avail_in, 0u);
    out.resize(out.size() - stream.avail_out);
    inflateEnd(&stream);
    return out;
}

struct compression : service_test {
    net::http_response ask(std::string_view target, const char* accepted,
                           const header_list& more = {}) {
        header_list headers = bearer(syn.token);
        if (accepted) headers.emplace_back("Accept-Encoding", accepted);
        headers.insert(headers.end(), more.begin(), more.end());
        return h.call(make_request(verb::get, target, "", headers));
    }
    bool varies(const net::http_response& response) {
        return std::ranges::find(response.headers,
                                 std::pair<std::string, std::string>("Vary", "Accept-Encoding")) !=
               response.headers.end();
    }
};

TEST_F(compression, a_large_response_is_compressed_for_those_who_accept_it) {
    for (const std::size_t size : {2'000u, 500'000u}) {
        const std::string key = "k" + std::to_string(size);
        create(R"({"description":"x","attributes":{"note":")" + std::string(size, 'n') + "\"}}",
               key);
        const auto plain = ask("/v1/tasks", nullptr);
        EXPECT_EQ(header(plain, "Content-Encoding"), "");
        EXPECT_TRUE(varies(plain));
        const auto packed = ask("/v1/tasks", "br, gzip;q=0.5");
        EXPECT_EQ(header(packed, "Content-Encoding"), "gzip");
        EXPECT_TRUE(varies(packed));
        EXPECT_LT(packed.body.size(), plain.body.size() / 4);
        EXPECT_EQ(inflated(packed.body), plain.body);
        EXPECT_EQ(packed.content_type, plain.content_type);
        EXPECT_EQ(header(packed, "ETag"), header(plain, "ETag")) << "it names the content";
        EXPECT_EQ(header(ask("/v1/tasks", "gzip;q=0, br"), "Content-Encoding"), "");
        const std::string etag(header(packed, "ETag"));
        EXPECT_EQ(ask("/v1/tasks", "gzip", {{"If-None-Match", etag}}).status, 304u);
    }
}

TEST_F(compression, a_small_response_stays_as_it_is) {
    create(R"({"description":"x"})", "k");
    const auto small = ask("/v1/tasks/SYN-1", "gzip");
    EXPECT_EQ(small.status, 200u);
    EXPECT_EQ(header(small, "Content-Encoding"), "");
    EXPECT_FALSE(varies(small));
}

// Its size beside a text of the client's would reveal the secret.
TEST_F(compression, a_response_with_a_secret_is_never_compressed) {
    header_list headers = bearer(root);
    headers.emplace_back("Content-Type", "application/json");
    headers.emplace_back("Accept-Encoding", "gzip");
    const auto made = h.call(
        make_request(verb::post, "/v1/admin/accounts/syn/tokens", R"({"name":"phone"})", headers));
    ASSERT_EQ(made.status, 201u) << made.body;
    EXPECT_TRUE(made.has_secret);
    EXPECT_EQ(header(made, "Content-Encoding"), "");
}

TEST_F(compression, open_routes_are_compressed_too) {
    const auto reference =
        h.call(make_request(verb::get, "/openapi.yaml", "", {{"Accept-Encoding", "gzip"}}));
    EXPECT_EQ(header(reference, "Content-Encoding"), "gzip");
    EXPECT_EQ(inflated(reference.body).substr(0, 8), "openapi:");
}

}  // namespace
}  // namespace callsign::testing
