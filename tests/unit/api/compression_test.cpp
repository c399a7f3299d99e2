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
    static bool varies(const net::http_response& response) {
        return header(response, "Vary").ends_with("Accept-Encoding");
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
        EXPECT_TRUE(varies(ask("/v1/changes?after=0", "gzip"))) << "which varies by nothing else";
        EXPECT_LT(packed.body.size(), plain.body.size() / 4);
        EXPECT_EQ(inflated(packed.body), plain.body);
        EXPECT_EQ(packed.content_type, plain.content_type);
        EXPECT_EQ(header(ask("/v1/tasks", "gzip;q=0, br"), "Content-Encoding"), "");
    }
}

// A strong tag would name both forms' bytes. 304 has the headers of the response that it stands
// for.
TEST_F(compression, a_compressed_response_has_a_weak_etag) {
    create(R"({"description":"x","attributes":{"note":")" + std::string(2'000, 'n') + "\"}}", "k");
    for (const char* const path : {"/v1/tasks", "/v1/tasks/SYN-1"}) {
        const std::string strong(header(ask(path, nullptr), "ETag"));
        const std::string weak(header(ask(path, "gzip"), "ETag"));
        EXPECT_EQ(weak, "W/" + strong);
        for (const std::string& known : {strong, weak}) {
            const auto plain = ask(path, nullptr, {{"If-None-Match", known}});
            EXPECT_EQ(plain.status, 304u);
            EXPECT_EQ(header(plain, "ETag"), strong);
            EXPECT_EQ(header(plain, "Vary"), "Accept, Accept-Encoding");
            const auto packed = ask(path, "gzip", {{"If-None-Match", known}});
            EXPECT_EQ(packed.status, 304u);
            EXPECT_EQ(header(packed, "ETag"), weak);
            EXPECT_EQ(header(packed, "Vary"), "Accept, Accept-Encoding");
            EXPECT_EQ(header(packed, "Content-Encoding"), "");
        }
    }
    // An edit's response, too; the tag fits If-Match.
    header_list headers = bearer(syn.token);
    headers.insert(headers.end(),
                   {{"Content-Type", "application/json"},
                    {"Accept-Encoding", "gzip"},
                    {"If-Match", std::string(header(ask("/v1/tasks/SYN-1", "gzip"), "ETag"))}});
    const auto edited =
        h.call(make_request(verb::patch, "/v1/tasks/SYN-1", R"({"description":"y"})", headers));
    EXPECT_EQ(edited.status, 200u) << edited.body;
    EXPECT_EQ(header(edited, "ETag"), header(ask("/v1/tasks/SYN-1", "gzip"), "ETag"));
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
