// Goal: no bytes break the readers of segments and snapshots.
//
// Method: what a real client sent is damaged in a few places, by a seed: bits turned, pieces cut
// out, doubled, moved from one to another, JSON's own signs put in.

#include "support/vectors.hpp"
#include "targets.hpp"

#include <array>
#include <gtest/gtest.h>
#include <random>

namespace callsign::testing {
namespace {

constexpr std::array<std::string_view, 24> signs{"{",
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

class damager {
  public:
    explicit damager(unsigned seed) : chance_(seed) {}

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
        case 3: text.insert(at, signs[below(signs.size())]); break;
        case 4: text.replace(at, size, signs[below(signs.size())]); break;
        default: text.replace(at, size, other, below(other.size()), size); break;
        }
    }

    std::mt19937 chance_;
};

// The targets' asserts end the process; what is counted here shows that both sides were reached.
void run(bool (*target)(std::string_view), const std::vector<std::string>& from, unsigned seed,
         int rounds) {
    damager d(seed);
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
    // A short one, so that damage often meets its frame.
    from.push_back(
        "{\"operations\":[{\"Delete\":{\"uuid\":\"f70ed568-0132-4fb2-ad77-19c4c8c0c321\"}}]}");
    run(fuzz_segment, from, 1, CALLSIGN_FUZZ_ROUNDS);
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
    // Each is packed at least once, which takes a hundred times as long as reading it.
    run(fuzz_snapshot_json, json, 2, CALLSIGN_FUZZ_ROUNDS / 10);
    run(fuzz_snapshot, packed, 3, CALLSIGN_FUZZ_ROUNDS / 10);
}

}  // namespace
}  // namespace callsign::testing
