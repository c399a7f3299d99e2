// Goal: no input breaks the parsers of client data: envelopes, segments and snapshots, request
// heads, ids and idempotency keys.
//
// Method: data of a real client is corrupted in a few places, from a seed: bits flipped, ranges
// deleted, duplicated or copied between inputs, the syntax characters of the format inserted.

#include "head_targets.hpp"
#include "support/setting.hpp"
#include "support/vectors.hpp"
#include "targets.hpp"
#include "unit/net/request_forms.hpp"

#include <callsign/wire/media_types.hpp>

#include <array>
#include <gtest/gtest.h>
#include <random>
#include <span>

namespace callsign::testing {
namespace {

const auto fuzz_rounds = static_cast<int>(times(CALLSIGN_FUZZ_ROUNDS));

constexpr std::string_view json_signs[] = {"{",
                                           "}",
                                           "[",
                                           "]",
                                           ":",
                                           ",",
                                           "\"",
                                           "\\",
                                           "\\u0000",
                                           "\\ud83d",
                                           "\\ude00",
                                           "null",
                                           "true",
                                           "-1e999",
                                           "0",
                                           "\"Create\"",
                                           "\"Delete\"",
                                           "\"Update\"",
                                           "\"uuid\"",
                                           "\"value\"",
                                           "\"property\"",
                                           "\"timestamp\"",
                                           "\"operations\"",
                                           "\xC3"};

constexpr std::string_view head_signs[] = {"\r\n",
                                           "\r\n\r\n",
                                           ": ",
                                           " ",
                                           "/",
                                           "?",
                                           "%",
                                           "%2D",
                                           ";",
                                           ",",
                                           "\"",
                                           "\t",
                                           "{",
                                           "}",
                                           "-",
                                           "urn:uuid:",
                                           "GET ",
                                           "POST ",
                                           "HTTP/1.1",
                                           "HTTP/1.0",
                                           "\r\nX-Client-Id: ",
                                           "\r\nContent-Type: ",
                                           "\r\nContent-Length: ",
                                           "\r\nTransfer-Encoding: chunked",
                                           "1e9",
                                           "/v1/client/",
                                           std::string_view("\0", 1),
                                           "\xC3"};

using sign_list = std::span<const std::string_view>;

class damager {
  public:
    damager(unsigned seed, sign_list signs) : chance_(seed), signs_(signs) {}

    std::string damaged(std::string text, const std::string& other) {
        for (int times = below(4) + 1; times > 0; --times) damage(text, other);
        return text;
    }

    std::size_t below(std::size_t limit) { return limit == 0 ? 0 : chance_() % limit; }

  private:
    void damage(std::string& text, const std::string& other) {
        const std::size_t at = below(text.size());
        const std::size_t size = below(below(8) == 0 ? text.size() : 16);
        switch (below(6)) {
        case 0:
            if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
            break;
        case 1: text.erase(at, size); break;
        case 2: text.insert(at, text.substr(at, size)); break;
        case 3: text.insert(at, signs_[below(signs_.size())]); break;
        case 4: text.replace(at, size, signs_[below(signs_.size())]); break;
        default: text.replace(at, size, other, below(other.size()), size); break;
        }
    }

    std::mt19937 chance_;
    sign_list signs_;
};

// A failed assert of a target ends the process; the counters verify that both outcomes occurred.
void run(bool (*target)(std::string_view), const std::vector<std::string>& from, unsigned seed,
         int rounds, sign_list signs = json_signs) {
    damager d(seed, signs);
    int good = 0;
    for (const std::string& text : from) EXPECT_TRUE(target(text));
    for (int i = 0; i < rounds; ++i) {
        const std::string& text = from[d.below(from.size())];
        if (target(d.damaged(text, from[d.below(from.size())]))) ++good;
    }
    EXPECT_LT(good, rounds);
    EXPECT_GT(good, 0);
}

TEST(fuzz, segments) {
    std::vector<std::string> from;
    for (const client_vector& v : client_vectors()) {
        if (!v.is_snapshot) from.push_back(v.plaintext);
    }
    // A short input, so that mutations often hit its framing.
    from.push_back(
        "{\"operations\":[{\"Delete\":{\"uuid\":\"f70ed568-0132-4fb2-ad77-19c4c8c0c321\"}}]}");
    run(fuzz_segment, from, 1, fuzz_rounds);
}

TEST(fuzz, snapshots) {
    std::vector<std::string> json, packed;
    for (const client_vector& v : client_vectors()) {
        if (!v.is_snapshot) continue;
        json.push_back(v.plaintext);
        packed.push_back(wire::encode_snapshot({}));
    }
    json.emplace_back("{\"f70ed568-0132-4fb2-ad77-19c4c8c0c321\":{\"a\":\"b\"}}");
    packed.push_back(wire::encode_snapshot({{uuid{}, {{"a", "b"}}}}));
    // Each input is compressed at least once, which takes a hundred times as long as reading it.
    run(fuzz_snapshot_json, json, 2, fuzz_rounds / 10);
    run(fuzz_snapshot, packed, 3, fuzz_rounds / 10);
}

// Almost no mutated envelope decrypts; one that does is unchanged by its mutation.
TEST(fuzz, envelopes) {
    std::vector<std::string> from;
    for (const client_vector& v : client_vectors()) {
        from.push_back(std::string(v.place.begin(), v.place.end()) + v.sealed);
    }
    const uuid nowhere{};
    const std::array<std::uint8_t, seal::nonce_bytes> nonce{};
    from.push_back(std::string(nowhere.begin(), nowhere.end()) +
                   seal::seal_body(fuzz_key(), nowhere, nonce, ""));
    run(fuzz_envelope, from, 4, fuzz_rounds);
}

TEST(fuzz, an_envelope_that_was_altered_does_not_decrypt) {
    std::vector<std::string> from{std::string("\7\0\0\0", 4) + "{\"operations\":[]}"};
    for (const client_vector& v : client_vectors()) {
        if (!v.is_snapshot) from.push_back(std::string("\7\1\2\3", 4) + v.plaintext);
    }
    run(fuzz_sealed, from, 5, fuzz_rounds);
}

TEST(fuzz, idempotency_keys) {
    run(fuzz_idempotency_key,
        {"8e03978e-40d5-43dd-bc93-6894a57f9324", "\"8e03978e\"", R"("a\"b\\c")",
         R"("k"; a=1;b=-12.345;c=?1;d=:YWJj:;e=@1659578233;f=%"f%c3%bc")"},
        6, fuzz_rounds, head_signs);
}

TEST(fuzz, ids) {
    run(fuzz_id,
        {"f70ed568-0132-4fb2-ad77-19c4c8c0c321", "F70ED56801324FB2AD7719C4C8C0C321",
         "{f70ed568-0132-4FB2-ad77-19c4c8c0c321}", "urn:uuid:f70ed568-0132-4fb2-ad77-19c4c8c0c321"},
        7, fuzz_rounds, head_signs);
}

TEST(fuzz, heads) {
    const std::string client = fuzzed_server::client, id = "f70ed568-0132-4fb2-ad77-19c4c8c0c321";
    const std::string end = " HTTP/1.1\r\nHost: h\r\nX-Client-Id: " + client + "\r\n";
    const std::string segment = "Content-Type: " + std::string(wire::media_type::segment) + "\r\n";
    const std::string get = "GET /v1/client/get-child-version/",
                      add = "POST /v1/client/add-version/";
    run(fuzz_head,
        {get + id + end + "\r\n", get + "%7B" + id + "%7D" + end + "\r\n",
         add + "urn:uuid:" + id + end + segment + "Content-Length: 2\r\n\r\n{}",
         add + id + end + segment + "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n" +
             "3;e=f\r\nabc\r\n0\r\n\r\n",
         "GET /v1/client/snapshot" + end + "\r\nGET http://h/" + end + "\r\n",
         "POST /v1/tasks" + end + "Idempotency-Key: \"k\"\r\nContent-Length: 0\r\n\r\n"},
        8, fuzz_rounds / 10, head_signs);
}

TEST(fuzz, pieces) {
    std::vector<std::string> from;
    for (const net::request_form& form : net::request_forms()) {
        const std::string bytes = "\7\1\40\2" + form.bytes;
        if (fuzz_pieces(bytes)) from.push_back(bytes);
    }
    EXPECT_GT(from.size(), 20u);
    run(fuzz_pieces, from, 10, fuzz_rounds, head_signs);
}

// Each byte makes one choice. Few bytes suffice for a request that reaches a handler; many bytes
// make one with repeated fields.
TEST(fuzz, chosen_heads) {
    damager d(9, head_signs);
    int answered = 0;
    for (int i = 0; i < fuzz_rounds / 10; ++i) {
        std::string bytes(d.below(200), '\0');
        for (char& byte : bytes) byte = static_cast<char>(d.below(256));
        if (fuzz_chosen_head(bytes)) ++answered;
    }
    EXPECT_GT(answered, fuzz_rounds / 40);
}

}  // namespace
}  // namespace callsign::testing
