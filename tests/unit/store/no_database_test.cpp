// Each function that opens a file named by an operator reports a file of another type as not a
// database, at any size.

#include "support/check.hpp"
#include "support/temp_dir.hpp"

#include <callsign/store/sqlite.hpp>
#include <callsign/store/taskchampion_file.hpp>

#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign {
namespace {

// The error, thrown or returned.
std::string said_by(const std::function<std::string()>& action) {
    try {
        return action();
    } catch (const std::exception& error) {
        return error.what();
    }
}

TEST(no_database, is_reported_for_text_files) {
    const testing::temp_dir dir;
    const auto file = dir.path() / "callsign.sqlite3";
    for (const std::size_t size : {2, 15, 16, 99, 100, 512, 4095, 4096, 4097, 20'000}) {
        std::ofstream(file, std::ios::trunc) << std::string(size, 'x');
        const std::vector<std::string> all{
            said_by([&] {
                open_taskchampion_file(file);
                return "imported";
            }),
            said_by([&] {
                const auto report = testing::report_on(dir.path());
                return report.faults.empty() ? std::string("sound") : report.faults.front().text;
            }),
            said_by([&] {
                repair_sqlite_clock(dir.path(), time_point{});
                return "repaired";
            }),
            said_by([&] {
                open_sqlite({.data_dir = dir.path()});
                return "opened";
            })};
        EXPECT_THAT(all, ::testing::Each(::testing::HasSubstr("it is no SQLite database"))) << size;
    }
}

}  // namespace
}  // namespace callsign
