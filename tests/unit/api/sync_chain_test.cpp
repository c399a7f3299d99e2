// The rules of a chain in TaskChampion's sync protocol, and requests for snapshots. Names that
// begin with S and U are test cases of the reference server.

#include "support/check.hpp"
#include "support/setting.hpp"
#include "support/temp_dir.hpp"
#include "sync_fixture.hpp"

#include <callsign/store/sqlite.hpp>

#include <gtest/gtest.h>
#include <random>

namespace callsign::testing {
namespace {

using std::chrono_literals::operator""ms;

constexpr milliseconds day = std::chrono::hours{24};

// ---- the rules of the chain ----

TEST_F(sync, s_1_an_empty_chain_has_no_child_of_nil) {
    h.run(h.engine().submit(register_client{*parse_uuid(client)}));
    EXPECT_EQ(h.call(child_of(client, nil_id)).body, "no such version");
}

TEST_F(sync, s_2_nor_of_any_other) {
    h.run(h.engine().submit(register_client{*parse_uuid(client)}));
    EXPECT_EQ(h.call(child_of(client, some_id(8))).body, "no such version");
}

TEST_F(sync, s_3_the_last_version_has_no_child) {
    EXPECT_EQ(h.call(child_of(client, make_chain(3).back())).status, 404u);
}

TEST_F(sync, s_4_an_unknown_parent_is_gone) {
    make_chain(3);
    EXPECT_EQ(h.call(child_of(client, some_id(8))).status, 410u);
}

TEST_F(sync, s_5_every_other_version_has_its_child) {
    const auto chain = make_chain(4, some_id(5));
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
        EXPECT_EQ(header(h.call(child_of(client, chain[i])), "X-Version-Id"), chain[i + 1]);
    }
    // this chain began with another parent
    EXPECT_EQ(h.call(child_of(client, nil_id)).status, 410u);
}

TEST_F(sync, s_6_a_conflict_changes_nothing) {
    const auto chain = make_chain(2);
    EXPECT_EQ(h.call(add_version(client, chain[1], "late")).status, 409u);
    EXPECT_EQ(to_string(head().version), chain[2]);
    EXPECT_EQ(h.call(child_of(client, chain[1])).body, "sealed");
    EXPECT_EQ(h.call(snapshot_of(client)).status, 404u);
}

TEST_F(sync, s_7_without_a_snapshot_one_is_requested_urgently) {
    EXPECT_EQ(urgency_of_next(make_chain(3).back()), "urgency=high");
}

TEST_F(sync, s_8_an_empty_chain_accepts_any_parent) {
    EXPECT_EQ(urgency_of_next(some_id(8)), "urgency=high");
    EXPECT_EQ(h.call(child_of(client, some_id(8))).status, 200u);
}

TEST_F(sync, s_9_a_recent_snapshot_is_enough) {
    const auto chain = make_chain(1);
    h.call(add_snapshot(client, chain.back(), "x"));
    EXPECT_EQ(urgency_of_next(chain.back()), "");
}

TEST_F(sync, s_10_an_old_snapshot_is_not) {
    const auto chain = make_chain(1);
    h.call(add_snapshot(client, chain.back(), "x"));
    h.advance(50 * day);
    EXPECT_EQ(urgency_of_next(chain.back()), "urgency=high");
}

struct few_versions_sync : sync {
    static api::sync_options options() {
        auto few = open_to_all();
        few.snapshots.versions = 30;
        return few;
    }
    few_versions_sync() : sync(options()) {}
};

TEST_F(few_versions_sync, s_11_nor_is_one_many_versions_ago) {
    const auto chain = make_chain(1);
    h.call(add_snapshot(client, chain.back(), "x"));
    EXPECT_EQ(urgency_of_next(make_chain(50, chain.back()).back()), "urgency=high");
}

TEST_F(sync, s_12_a_snapshot_of_the_last_version_is_stored) {
    const auto chain = make_chain(1);
    h.call(add_snapshot(client, chain.back(), "x"));
    EXPECT_EQ(header(h.call(snapshot_of(client)), "X-Version-Id"), chain.back());
}

TEST_F(sync, s_13_and_of_the_one_before) {
    const auto chain = make_chain(2);
    h.call(add_snapshot(client, chain[1], "x"));
    EXPECT_EQ(header(h.call(snapshot_of(client)), "X-Version-Id"), chain[1]);
}

TEST_F(sync, s_14_none_of_an_unknown_version) {
    make_chain(1);
    h.call(add_snapshot(client, some_id(9), "x"));
    EXPECT_EQ(h.call(snapshot_of(client)).status, 404u);
}

TEST_F(sync, s_15_none_of_a_version_too_old) {
    const auto chain = make_chain(10);
    for (const int back : {9, 6, 5}) {
        h.call(add_snapshot(client, chain[static_cast<std::size_t>(10 - back)], "x"));
        EXPECT_EQ(h.call(snapshot_of(client)).status, 404u) << back;
    }
    for (const int back : {4, 3, 2, 1, 0}) {
        const std::string text = "back " + std::to_string(back);
        h.call(add_snapshot(client, chain[static_cast<std::size_t>(10 - back)], text));
        EXPECT_EQ(h.call(snapshot_of(client)).body, text);
    }
}

TEST_F(sync, s_16_none_of_a_version_before_the_snapshots) {
    const auto chain = make_chain(5);
    h.call(add_snapshot(client, chain[3], "newer"));
    for (const int seq : {1, 2, 3}) {
        h.call(add_snapshot(client, chain[static_cast<std::size_t>(seq)], "older"));
        EXPECT_EQ(h.call(snapshot_of(client)).body, "newer");
    }
}

TEST_F(sync, s_17_none_of_nil) {
    make_chain(1);
    h.call(add_snapshot(client, nil_id, "x"));
    EXPECT_EQ(h.call(snapshot_of(client)).status, 404u);
}

TEST_F(sync, s_18_a_snapshot_is_found) {
    const auto chain = make_chain(1);
    h.call(add_snapshot(client, chain.back(), "found"));
    EXPECT_EQ(h.call(snapshot_of(client)).body, "found");
}

TEST_F(sync, s_19_or_not) {
    make_chain(1);
    EXPECT_EQ(h.call(snapshot_of(client)).status, 404u);
}

TEST_F(sync, the_first_parent_of_a_chain_may_have_a_snapshot_while_it_is_near) {
    const auto chain = make_chain(4, some_id(5));
    h.call(add_snapshot(client, some_id(5), "the beginning"));
    EXPECT_EQ(h.call(snapshot_of(client)).body, "the beginning");

    const std::string other = some_id(2);
    std::string last = some_id(6);
    for (int i = 0; i < 5; ++i) {
        last = header(h.call(add_version(other, last, "x")), "X-Version-Id");
    }
    h.call(add_snapshot(other, some_id(6), "too far"));
    EXPECT_EQ(h.call(snapshot_of(other)).status, 404u);
}

TEST_F(sync, a_snapshot_outlives_a_conflict) {
    const auto chain = make_chain(2);
    h.call(add_snapshot(client, chain.back(), "x"));
    EXPECT_EQ(h.call(add_version(client, chain[1], "late")).status, 409u);
    EXPECT_EQ(h.call(snapshot_of(client)).body, "x");
}

// ---- urgency ----

TEST(snapshot_urgency, u_1_the_larger_counts) {
    EXPECT_LT(snapshot_urgency::none, snapshot_urgency::low);
    EXPECT_LT(snapshot_urgency::low, snapshot_urgency::high);
    const snapshot_policy usual;
    EXPECT_EQ(urgency_of(usual, snapshot_age{14 * day, 150}), snapshot_urgency::high);
    EXPECT_EQ(urgency_of(usual, snapshot_age{21 * day, 100}), snapshot_urgency::high);
    EXPECT_EQ(urgency_of(usual, snapshot_age{14 * day, 0}), snapshot_urgency::low);
    EXPECT_EQ(urgency_of(usual, snapshot_age{0ms, 0}), snapshot_urgency::none);
    EXPECT_EQ(urgency_of(usual, std::nullopt), snapshot_urgency::high);
}

TEST(snapshot_urgency, u_2_by_days) {
    const snapshot_policy usual;
    const std::pair<int, snapshot_urgency> cases[] = {{0, snapshot_urgency::none},
                                                      {13, snapshot_urgency::none},
                                                      {14, snapshot_urgency::low},
                                                      {20, snapshot_urgency::low},
                                                      {21, snapshot_urgency::high}};
    for (const auto& [days, expected] : cases) {
        EXPECT_EQ(urgency_for_days(usual, days), expected) << days;
        EXPECT_EQ(urgency_of(usual, snapshot_age{(days + 1) * day - 1ms, 0}), expected) << days;
    }
}

TEST(snapshot_urgency, u_3_by_versions) {
    const snapshot_policy usual;
    const std::pair<int, snapshot_urgency> cases[] = {{0, snapshot_urgency::none},
                                                      {99, snapshot_urgency::none},
                                                      {100, snapshot_urgency::low},
                                                      {149, snapshot_urgency::low},
                                                      {150, snapshot_urgency::high}};
    for (const auto& [versions, expected] : cases) {
        EXPECT_EQ(urgency_for_versions(usual, versions), expected) << versions;
    }
    EXPECT_EQ(urgency_for_versions({.days = 14, .versions = 5}, 7), snapshot_urgency::high);
}

TEST_F(sync, urgency_is_computed_without_the_new_version) {
    const auto chain = make_chain(1);
    h.call(add_snapshot(client, chain.back(), "x"));
    std::string last = chain.back();
    for (int since = 0; since <= 150; ++since) {
        const auto response = h.call(add_version(client, last, "x"));
        last = header(response, "X-Version-Id");
        EXPECT_EQ(header(response, "X-Snapshot-Request"), since < 100   ? ""
                                                          : since < 150 ? "urgency=low"
                                                                        : "urgency=high")
            << since;
    }
}

TEST_F(sync, versions_count_from_the_arrival_of_the_snapshot_not_from_its_version) {
    const auto chain = make_chain(5);
    h.call(add_snapshot(client, chain[1], "four back"));
    std::string last = chain.back();
    for (int since = 0; since < 100; ++since) {
        const auto response = h.call(add_version(client, last, "x"));
        EXPECT_EQ(header(response, "X-Snapshot-Request"), "");
        last = header(response, "X-Version-Id");
    }
    EXPECT_EQ(urgency_of_next(last), "urgency=low");
}

// ---- forks ----

// Goal: concurrent requests never fork the chain. Method: many replicas of one client id, each
// pulling and pushing, stepped in random order.
void expect_no_fork(std::uint64_t seed, int wanted, store* disk) {
    test_server world({.seed = seed, .service = {.sync = open_to_all()}, .disk = disk});
    const std::string client = some_id(1);
    std::mt19937 chance(seed);
    struct replica {
        std::string base = nil_id;
        std::shared_ptr<std::optional<net::http_response>> in_progress;
        bool sending = false;
    };
    std::vector<replica> replicas(6);
    int accepted = 0, conflicts = 0;
    const auto take = [&](replica& r) {
        const auto response = std::move(**r.in_progress);
        r.in_progress.reset();
        if (response.status == 200) r.base = header(response, "X-Version-Id");
        if (r.sending && response.status == 200) ++accepted;
        if (response.status == 409) ++conflicts;
    };
    while (accepted < wanted) {
        replica& r = replicas[chance() % replicas.size()];
        if (!r.in_progress) {
            r.sending = chance() % 2 == 0;
            r.in_progress = world.start(r.sending ? add_version(client, r.base, "x")
                                                  : child_of(client, r.base));
        }
        for (unsigned steps = chance() % 6; steps > 0 && world.step();) --steps;
        if (*r.in_progress) take(r);
    }
    world.settle();
    for (replica& r : replicas) {
        if (r.in_progress) take(r);
    }
    EXPECT_GT(conflicts, 0);
    std::string at = nil_id;
    int length = 0;
    for (;; ++length) {
        const auto child = world.call(child_of(client, at));
        if (child.status != 200) break;
        EXPECT_EQ(header(child, "X-Parent-Version-Id"), at);
        at = header(child, "X-Version-Id");
    }
    EXPECT_EQ(length, accepted) << "seed " << seed;
}

TEST(sync_property, cc_1_concurrent_versions_never_fork) {
    for (std::uint64_t seed = 1; seed <= times(15); ++seed) expect_no_fork(seed, 60, nullptr);
}

TEST(sync_property, cc_1_nor_do_they_on_disk) {
    temp_dir dir;
    {
        const auto disk = open_sqlite({.data_dir = dir.path()});
        expect_no_fork(7, 200, disk.get());
    }
    const auto report = report_on(dir.path());
    EXPECT_TRUE(report.ok()) << report.faults.front().text;
}

}  // namespace
}  // namespace callsign::testing
