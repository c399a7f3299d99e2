// The declared tables in SQLite.

#include "store/sqlite/tables/tables.hpp"

#include "support/temp_dir.hpp"

#include <callsign/ports/tables/all.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace callsign {
namespace {

using testing::temp_dir;

class tables_in_sqlite : public ::testing::Test {
  protected:
    tables_in_sqlite() : store_(open_sqlite({.data_dir = dir_.path()})) {}

    sqlite::connection file() {
        return {dir_.path() / "callsign.sqlite3", SQLite::OPEN_READONLY, 1 << 20};
    }
    static std::string plan_of(sqlite::connection& db, const std::string& text) {
        SQLite::Statement q(db.database(), "EXPLAIN QUERY PLAN " + text);
        std::string plan;
        while (q.executeStep()) plan += q.getColumn(3).getString() + "\n";
        return plan;
    }

    temp_dir dir_;
    std::unique_ptr<store> store_;
};

TEST_F(tables_in_sqlite, have_the_columns_that_are_declared_and_no_others) {
    auto db = file();
    for (const table_info* const t : all_tables()) {
        std::set<std::string> there, declared;
        SQLite::Statement q(db.database(), "PRAGMA table_info(" + std::string(t->name) + ")");
        while (q.executeStep()) there.insert(q.getColumn(1).getString());
        for (const column_info& c : t->columns) declared.emplace(c.name);
        EXPECT_EQ(there, declared) << t->name;
    }
}

// For any range, only rows within it are read, and none are sorted.
TEST_F(tables_in_sqlite, are_read_by_their_indexes) {
    auto db = file();
    for (const table_info* const t : all_tables()) {
        for (const index_info& i : t->indexes) {
            const bool is_in_tables = i.form == index_form::tree || i.form == index_form::bulk;
            if (!is_in_tables) continue;
            const std::string one = plan_of(db, sqlite::fetch_text(i));
            EXPECT_EQ(one.find("SCAN"), std::string::npos)
                << t->name << " " << i.columns.front() << ": " << one;
            const std::size_t parts = i.columns.size();
            // A bulk index is always read for one owner.
            for (std::size_t prefix = i.form == index_form::bulk ? 1 : 0; prefix < parts;
                 ++prefix) {
                for (std::size_t after = 0; after <= parts - prefix; ++after) {
                    for (const bool down : {false, true}) {
                        const std::string some =
                            plan_of(db, sqlite::scan_text({.index = &i,
                                                           .prefix_parts = prefix,
                                                           .after_parts = after,
                                                           .descending = down}));
                        EXPECT_EQ(some.find("TEMP B-TREE"), std::string::npos)
                            << t->name << " " << i.columns.front() << " " << prefix << " " << after
                            << ": " << some;
                        EXPECT_TRUE(prefix + after == 0 || some.find("SCAN") == std::string::npos)
                            << t->name << " " << i.columns.front() << " " << prefix << " " << after
                            << ": " << some;
                    }
                }
            }
        }
    }
}

TEST_F(tables_in_sqlite, report_corruption_if_a_row_that_was_read_is_missing) {
    const auto was = std::make_shared<const webhook>();
    for (const bool erases : {false, true}) {
        const auto tx = store_->begin_write();
        if (erases) {
            tx->erase(was);
        } else {
            tx->put(was, *was);
        }
        try {
            tx->commit();
            FAIL();
        } catch (const store_failure& failure) {
            EXPECT_EQ(failure.reason(), store_failure::kind::damaged);
        }
    }
}

}  // namespace
}  // namespace callsign
