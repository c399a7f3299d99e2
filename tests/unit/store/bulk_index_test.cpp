// What an index in bulk must not lose where a commit fails at its very end, and after rows are
// gone. Everything else is held against a store in memory: remembered_test.cpp.

#include "store/sqlite/bulk_index.hpp"

#include "store/sqlite/migrations.hpp"
#include "support/counted_ids.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <gtest/gtest.h>

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
                     ", randomblob(16), randomblob(16), 0, NULL, x'')")
                        .c_str());
        index_.add({{1, last_}, last_});
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

// What a commit merged, moved and began is as it was.
TEST_F(bulk_index_of_versions, goes_on_after_commits_that_failed_at_their_end) {
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
        const index_view view(db_, version_places, &index_);
        auto e = view.next(index_entry::before({1, 0}));
        for (std::int64_t seq = index_.through() + 1; seq <= last_; ++seq, e = view.next(*e)) {
            ASSERT_TRUE(e);
            ASSERT_EQ(e->row, seq);
        }
        ASSERT_FALSE(e);
    }
    EXPECT_GT(merges, 5);
}

// The newest rows go with their account, and the index has come further than any row there is.
TEST(bulk_index_of_tasks, finds_what_comes_after_the_newest_rows_are_gone) {
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
    const series_id series = tx->default_series(home)->id;
    for (std::int64_t n = 1; n <= 9; ++n) EXPECT_TRUE(tx->find_task(series, "", n)) << n;
    EXPECT_EQ(std::ssize(tx->versions(home, 0, 100)), tx->find_account(home)->last_seq);
}

}  // namespace
}  // namespace callsign::sqlite
