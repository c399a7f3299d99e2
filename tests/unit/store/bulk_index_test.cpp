// Buffered index entries: consistency of a bulk index when a commit fails at its very end, and
// after rows were removed. remembered_test.cpp compares all else with an in-memory store.

#include "store/sqlite/index/bulk_index.hpp"

#include "store/sqlite/tables/migrations.hpp"
#include "support/counted_ids.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace callsign::sqlite {
namespace {

using testing::temp_dir;

class bulk_index_of_versions : public ::testing::Test {
  protected:
    bulk_index_of_versions() {
        db_.execute("PRAGMA journal_mode = MEMORY");
        migrate(db_);
        index_.load();
    }

    void add() {
        const std::string row = std::to_string(++last_);
        db_.execute(("INSERT INTO versions VALUES (" + row + ", 1, " + row +
                     ", randomblob(16), randomblob(16), 0, NULL, 0, x'')")
                        .c_str());
        index_.add({{1, last_}, last_}, false);
    }
    void commit() {
        index_.prepare_commit(last_);
        db_.execute("COMMIT");
        index_.committed();
    }
    std::int64_t in_table() { return db_.integer_of("SELECT count(*) FROM version_places"); }

    temp_dir dir_;
    connection db_{dir_.path() / "index.sqlite3", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                   1u << 20};
    bulk_index index_{db_, version_places, 4};
    std::int64_t last_ = 0;
};

// In any order of additions and removals.
TEST(entry_buffer, equals_a_set) {
    std::mt19937 random(7);
    const auto up_to = [&](std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(0, most)(random);
    };
    const auto any = [&] { return index_entry{{up_to(4), up_to(9)}, up_to(2)}; };
    constexpr index_walk down{.descending = true}, open_up{.open_only = true},
        open_down{.descending = true, .open_only = true};
    entry_buffer buffer;
    std::map<index_entry, std::int64_t> all;  // the commit that closed its task
    // The nearest wanted entry of the owner before or after `last`.
    const auto nearest = [&](const index_entry& last, index_walk walk, std::int64_t commits) {
        std::optional<index_entry> found;
        for (const auto& [e, over_since] : all) {
            if (e.at.owner != last.at.owner || (walk.open_only && over_since <= commits)) continue;
            if (!walk.descending && !found && e > last) found = e;
            if (walk.descending && e < last) found = e;
        }
        return found;
    };
    int twins = 0, turned = 0;
    for (int n = 0; n < 20'000; ++n) {
        const index_entry e = any();
        if (all.contains(e) || up_to(2) == 0) {
            buffer.remove(e);
            all.erase(e);
        } else {
            const auto same = all.lower_bound(index_entry::before(e.at));
            const bool has_twin = same != all.end() && same->first.at == e.at;
            const std::int64_t over_since = up_to(1) == 0 ? entry_buffer::is_open : up_to(9);
            ASSERT_EQ(buffer.add(e, over_since), has_twin);
            all.emplace(e, over_since);
            twins += has_twin;
        }
        ASSERT_EQ(buffer.size(), all.size());
        const index_entry turning = any();
        const std::int64_t since = up_to(1) == 0 ? entry_buffer::is_open : up_to(9);
        const auto known = all.find(turning);
        ASSERT_EQ(buffer.turn(turning, since), known != all.end());
        if (known != all.end()) known->second = since, ++turned;
        const index_entry last = any();
        const std::int64_t commits = up_to(9);
        for (const index_walk walk : {index_walk{}, down, open_up, open_down}) {
            ASSERT_EQ(buffer.next(last, walk, commits), nearest(last, walk, commits));
        }
        const auto up = all.upper_bound(last);
        std::array<index_entry, 7> room;
        const auto some = buffer.behind(last, room);
        const auto left = static_cast<std::size_t>(std::distance(up, all.end()));
        ASSERT_EQ(some.size(), std::min(room.size(), left));
        ASSERT_TRUE(std::ranges::equal(some,
                                       std::ranges::subrange(up, std::next(up, std::ssize(some))),
                                       {}, {}, &std::pair<const index_entry, std::int64_t>::first));
    }
    EXPECT_GT(twins, 1000);
    EXPECT_GT(turned, 1000);
}

// A reader that began before a row was closed reads it, later ones skip it, for entries in the
// buffer and merged ones; after a rollback the row is read again.
TEST_F(bulk_index_of_versions, a_closed_row_is_skipped_by_later_readers_only) {
    const index_walk open{.open_only = true};
    const auto seen_with = [&](std::int64_t commits) {
        const index_view view(db_, version_places, &index_, commits);
        std::vector<std::int64_t> rows;
        auto e = view.next(index_entry::before({1, 0}), open);
        for (; e; e = view.next(*e, open)) rows.push_back(e->row);
        return rows;
    };
    using rows = std::vector<std::int64_t>;
    const auto turn = [&](std::int64_t row, bool over) {
        db_.execute("BEGIN");
        index_.turn({{1, row}, row}, over);
    };
    db_.execute("BEGIN");
    for (int n = 0; n < 4; ++n) add();
    const auto before = index_.commits();
    commit();  // rows 1 to 4 are merged
    ASSERT_TRUE(index_.is_merging());
    db_.execute("BEGIN");
    add();
    commit();
    const auto added = index_.commits();
    ASSERT_EQ(added, before + 2);
    EXPECT_EQ(seen_with(added), (rows{1, 2, 3, 4, 5}));
    for (const std::int64_t row : {3, 5}) {
        turn(row, true);
        EXPECT_EQ(seen_with(index_.commits()).size(), row == 3 ? 5 : 4) << "not committed yet";
        commit();
    }
    EXPECT_EQ(seen_with(index_.commits()), (rows{1, 2, 4}));
    EXPECT_EQ(seen_with(added + 1), (rows{1, 2, 4, 5}));
    EXPECT_EQ(seen_with(added), (rows{1, 2, 3, 4, 5}));
    turn(5, false);
    EXPECT_EQ(seen_with(index_.commits()), (rows{1, 2, 4, 5}));
    commit();
    for (const std::int64_t row : {2, 4}) {
        turn(row, true);
        db_.execute("ROLLBACK");
        index_.roll_back();
        turn(1, row == 4);
        commit();
    }
    EXPECT_EQ(seen_with(index_.commits()), (rows{2, 4, 5}));
    EXPECT_EQ(seen_with(index_.commits() - 1), (rows{1, 2, 4, 5}));
}

// The conflict is in one of four entries that are merged together.
TEST_F(bulk_index_of_versions, a_place_of_another_row_is_reported) {
    db_.execute("BEGIN");
    for (int n = 0; n < 4; ++n) add();
    db_.execute("INSERT INTO version_places VALUES (1, 2, 999)");
    commit();
    ASSERT_TRUE(index_.is_merging());
    db_.execute("BEGIN");
    add();
    add();
    EXPECT_THROW(index_.prepare_commit(last_), store_failure);
}

// Rolled back: merged and moved entries, and begun merges.
TEST_F(bulk_index_of_versions, continues_after_commits_that_failed_at_their_end) {
    int merges = 0;
    for (int n = 0; n < 60; ++n) {
        const bool was_merging = index_.is_merging();
        const auto newest = index_.newest();
        const auto through = index_.through();
        db_.execute("BEGIN");
        const std::int64_t before = last_;
        add();
        add();
        index_.prepare_commit(last_);
        db_.execute("ROLLBACK");
        index_.roll_back();
        last_ = before;
        ASSERT_EQ(index_.is_merging(), was_merging);
        ASSERT_EQ(index_.newest(), newest);
        ASSERT_EQ(index_.through(), through);
        db_.execute("BEGIN");
        add();
        commit();
        if (index_.through() > through) ++merges;
        ASSERT_GE(in_table(), index_.through());
        const index_view view(db_, version_places, &index_, index_.commits());
        auto e = view.next(index_entry::before({1, 0}));
        for (std::int64_t seq = index_.through() + 1; seq <= last_; ++seq, e = view.next(*e)) {
            ASSERT_TRUE(e);
            ASSERT_EQ(e->row, seq);
        }
        ASSERT_FALSE(e);
    }
    EXPECT_GT(merges, 5);
}

// The newest rows are removed with their account, so the index is ahead of all rows.
TEST(bulk_index_of_tasks, finds_rows_added_after_the_newest_were_removed) {
    temp_dir dir;
    testing::counted_ids ids;
    time_point now{milliseconds{1'700'000'000'000}};
    const auto open = [&] {
        return open_sqlite({.data_dir = dir.path(), .buffered_entries_max = 1});
    };
    auto store = open();
    const auto run = [&](const auto& c) {
        const auto tx = store->begin_write();
        auto answer = rules::apply(*tx, c, rules::moment{now += milliseconds{1}, ids});
        tx->commit();
        return answer;
    };
    const auto make = [&](const std::string& name, std::uint8_t tasks) {
        const auto id = std::get<account>(run(create_account{name, "SYN", "t", sha256(name)})).id;
        for (std::uint8_t n = 1; n <= tasks; ++n) {
            run(import_tasks{id, {{uuid{{n, 1}}, {{"description", name}}}}});
        }
        return id;
    };
    const account_id home = make("home", 3), gone = make("gone", 20);
    run(delete_account{gone});
    now += std::chrono::hours{1};
    remove_deleted c{milliseconds{1}, 1000};
    do {
        c.from = run(c).next;
    } while (c.from);
    store = nullptr;
    store = open();
    for (std::uint8_t n = 4; n <= 9; ++n) {
        run(import_tasks{home, {{uuid{{n, 1}}, {{"description", "new"}}}}});
    }
    const auto tx = store->begin_read();
    const series_id series = all_series::default_of(*tx, home)->id;
    for (std::int64_t n = 1; n <= 9; ++n) EXPECT_TRUE(tasks::find(*tx, series, "", n)) << n;
    EXPECT_EQ(std::ssize(versions::some(*tx, home, 0, 100)), accounts::find(*tx, home)->head.seq);
}

}  // namespace
}  // namespace callsign::sqlite
