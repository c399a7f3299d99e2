// `callsign check` looked up a task's version for each task. SQLite copies the whole row at each
// lookup, so a check of 190,000 tasks imported as one version took more than ten minutes.

#include "support/check.hpp"
#include "support/counted_ids.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <gtest/gtest.h>

namespace callsign {
namespace {

TEST(regress, check_reads_each_version_once) {
    testing::temp_dir dir;
    {
        sqlite_options options;
        options.data_dir = dir.path();
        const auto store = open_sqlite(options);
        testing::counted_ids ids;
        const auto tx = store->begin_write();
        const rules::moment at{time_point{milliseconds{1'700'000'000'000}}, ids};
        const auto made = rules::apply(*tx, create_account{"one", "SYN", "t", sha256("one")}, at);
        import_tasks all{.account = std::get<account>(made).id};
        for (int n = 0; n < 500; ++n) all.tasks.push_back({ids.next(at.now), {{"a", "b"}}});
        rules::apply(*tx, all, at);
        tx->commit();
    }
    const auto report = testing::report_on(dir.path());
    EXPECT_TRUE(report.ok()) << report.faults.front().text;
    const auto read = std::ranges::find(report.checked, "operations", &check_report::count::name);
    ASSERT_NE(read, report.checked.end());
    EXPECT_EQ(read->rows, 1500);  // a Create and two Updates each
}

}  // namespace
}  // namespace callsign
