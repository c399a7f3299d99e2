// Versions and snapshots of opaque accounts.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

using sealed_queries = rules_test;

TEST_F(sealed_queries, sealed_content_is_loaded_if_memory_is_reserved) {
    const auto id = make("vault", uuid_of(900));
    const std::string segment(1'000, 's');
    const auto added = std::get<add_sealed_version::added>(
        run(add_sealed_version{uuid_of(900), uuid{}, segment, false, id}));
    EXPECT_TRUE(was_told<events::version_appended>());
    const auto child = [&](std::size_t bytes_max, bool room) {
        return ask(find_sealed_child{id, uuid{}, bytes_max, [=](std::size_t bytes) {
                                         EXPECT_EQ(bytes, 1'000u);
                                         return room;
                                     }});
    };
    EXPECT_EQ(std::get<find_sealed_child::too_large>(child(999, true)).bytes, 1'000u);
    EXPECT_TRUE(std::holds_alternative<no_room>(child(1'000, false)));
    EXPECT_EQ(std::get<sealed_version>(child(1'000, true)).segment, segment);
    EXPECT_TRUE(std::holds_alternative<up_to_date>(ask(find_sealed_child{id, added.version})));
    EXPECT_TRUE(std::holds_alternative<unknown_version>(ask(find_sealed_child{id, uuid_of(7)})));
    EXPECT_TRUE(std::holds_alternative<find_sealed_snapshot::none>(ask(find_sealed_snapshot{id})));
}

TEST_F(sealed_queries, a_sealed_history_is_read_page_by_page) {
    const auto id = make("vault", uuid_of(900));
    uuid parent{};
    constexpr int count = 700;
    for (int n = 0; n < count; ++n) {
        parent =
            std::get<add_sealed_version::added>(
                run(add_sealed_version{uuid_of(900), parent, "s" + std::to_string(n), false, id}))
                .version;
    }
    std::vector<std::string> read;
    read_sealed_versions q{id, {}};
    for (;;) {
        const auto page = ask(q);
        if (page.versions.empty()) break;
        EXPECT_LE(std::ssize(page.versions), read_sealed_versions::versions_max);
        EXPECT_FALSE(page.before) << "it is the first page";
        for (const auto& v : page.versions) read.push_back(v.segment);
        q.after = {page.versions.back().seq, page.versions.back().id};
    }
    ASSERT_EQ(read.size(), std::size_t{count});
    EXPECT_EQ(read.front(), "s0");
    EXPECT_EQ(read.back(), "s699");
}

}  // namespace
}  // namespace callsign
