#include "support/temp_dir.hpp"

#include <callsign/base/describe_file_error.hpp>

#include <cerrno>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace callsign {
namespace {

using ::testing::HasSubstr;

TEST(describe_file_error, names_the_missing_directory) {
    const testing::temp_dir temp;
    const auto folder = temp.path() / "a" / "b";
    EXPECT_EQ(describe_file_error(folder / "file", ENOENT, file_use::making),
              "No such directory: mkdir -p " + folder.string());
    EXPECT_EQ(describe_file_error(folder / "file", ENOENT),
              "No such file: missing directory " + folder.string());
    EXPECT_EQ(describe_file_error(temp.path() / "file", ENOENT), "No such file");
    EXPECT_EQ(describe_file_error("file", ENOENT), "No such file");
}

TEST(describe_file_error, names_the_owner_of_an_inaccessible_file) {
    const testing::temp_dir temp;
    const auto file = temp.path() / "file";
    std::ofstream(file) << "x";
    EXPECT_EQ(describe_file_error(file, EACCES),
              "Permission denied: " + file.string() +
                  " is not accessible to its owner: chmod u+rwX " + file.string());
    if (::geteuid() != 0) GTEST_SKIP() << "needs root for a file of another user";
    ASSERT_EQ(::chown(file.c_str(), 1, 1), 0);
    EXPECT_EQ(describe_file_error(file, EACCES),
              "Permission denied: " + file.string() + " belongs to " + user_name(1) +
                  ": run it as that user (sudo -u " + user_name(1) + " ...)");
}

TEST(describe_file_error, describes_other_errors_and_what_to_do) {
    EXPECT_THAT(describe_file_error("/tmp/x", ENOSPC), HasSubstr("No space left: free space"));
    EXPECT_THAT(describe_file_error("/tmp", EISDIR), HasSubstr("Is a directory"));
    EXPECT_THAT(describe_file_error("/tmp/x", EROFS), HasSubstr("Read-only"));
    EXPECT_THAT(describe_file_error("/tmp/x", EMFILE), HasSubstr("ulimit"));
    EXPECT_NE(describe_file_error("/tmp/x", EIO), "");
}

TEST(user_name, is_a_number_where_there_is_no_name) {
    EXPECT_EQ(user_name(3'999'999'999), "3999999999");
    EXPECT_EQ(user_name(0), "root");
}

}  // namespace
}  // namespace callsign
