// Tables of numbered tasks: the accepted forms of CSV, and every error with its line.

#include "cli/numbers_file.hpp"

#include <gtest/gtest.h>

namespace callsign::cli {
namespace {

const std::string id = "11111111-2222-4333-8444-55555555555";
const std::string at = "2020-01-01T00:00:00Z";

std::string faults(const std::string& csv) {
    std::string all;
    for (const std::string& fault : read_numbers_file(csv).faults) all += fault + "\n";
    return all;
}

TEST(numbers_file, reads_columns_in_any_order_and_quoted_fields) {
    const auto read = read_numbers_file(
        "\xEF\xBB\xBF"
        "title,created_at,uuid,number,prefix\r\n"
        "plain," +
        at + "," + id +
        "1,1,SYN\r\n"
        "\r\n"
        "\"with \"\"quotes\"\", commas\nand lines\"," +
        at + "," + id + "2,12,OPS_2");
    ASSERT_TRUE(read.faults.empty()) << read.faults.front();
    ASSERT_EQ(read.rows.size(), 2u);
    EXPECT_EQ(read.rows[0].title, "plain");
    EXPECT_EQ(read.rows[0].line, 2u);
    EXPECT_EQ(read.rows[1].title, "with \"quotes\", commas\nand lines");
    EXPECT_EQ(read.rows[1].prefix, "OPS_2");
    EXPECT_EQ(read.rows[1].number, 12);
    EXPECT_EQ(read.rows[1].line, 4u);
    EXPECT_EQ(read.rows[1].created_at, parse_rfc3339(at).value());
}

TEST(numbers_file, reports_every_error_with_its_line) {
    std::string csv = "prefix,number,uuid,title,created_at\n";
    for (const std::string& line : {std::string("syn,0,x,,yesterday"), std::string("SYN,1"),
                                    "SYN,01," + id + "1,t," + at, "SYN,2," + id + "2,t," + at,
                                    "SYN,3," + id + "2,t," + at, "SYN,4," + id + "4,\"t," + at}) {
        csv.append(line).append("\n");
    }
    EXPECT_EQ(faults(csv),
              "line 2: prefix must be one such as SYN\n"
              "line 2: number must be a positive integer\n"
              "line 2: title must not be empty\n"
              "line 2: created_at must be a time such as 2026-11-20T12:48:00Z\n"
              "line 2: uuid must be a UUID\n"
              "line 3: it has 2 fields, not 5\n"
              "line 4: number must be a positive integer\n"
              "line 6: duplicate uuid, see line 5\n"
              "line 7: missing closing quote\n");
}

// The limits of REST apply: a longer title could never be edited.
TEST(numbers_file, a_title_is_one_that_a_description_may_be) {
    std::string csv = "prefix,number,uuid,title,created_at\n";
    int number = 0;
    for (const std::string& title :
         {std::string("a\tb"), std::string("a\x1b") + "b", std::string("a\0b", 3),
          std::string("a\x7f"), std::string("\xff"), std::string(65'536, 'x'),
          std::string(65'537, 'x')}) {
        ++number;
        csv += "SYN," + std::to_string(number) + "," + id + std::to_string(number) + ",\"" + title +
               "\"," + at + "\n";
    }
    csv += "SYN,8," + id + "8,t,1979-12-31T23:59:59Z\n";
    EXPECT_EQ(faults(csv),
              "line 3: title must not contain control characters other than tab and newline\n"
              "line 4: title must not contain control characters other than tab and newline\n"
              "line 5: title must not contain control characters other than tab and newline\n"
              "line 6: title must be UTF-8\n"
              "line 8: title must have at most 65536 bytes\n"
              "line 9: created_at must be after 1979\n");
}

TEST(numbers_file, counts_lines_however_they_end) {
    for (const std::string end : {"\n", "\r\n", "\r"}) {
        EXPECT_EQ(
            faults("prefix,number,uuid,title,created_at" + end + "SYN,1" + end + "SYN,2" + end),
            "line 2: it has 2 fields, not 5\nline 3: it has 2 fields, not 5\n");
    }
}

TEST(numbers_file, needs_a_header_with_the_names_of_the_columns) {
    EXPECT_EQ(faults("prefix,number,uuid,title\n"),
              "line 1: the first line names each of the columns prefix, number, uuid, title and "
              "created_at once: created_at is missing\n");
    EXPECT_NE(faults("prefix,number,uuid,title,created_at,done\n"), "");
    EXPECT_NE(faults("prefix,prefix,number,uuid,title,created_at\n"), "");
    EXPECT_TRUE(read_numbers_file("").rows.empty());
    EXPECT_EQ(faults(""), "line 1: the file is empty\n");
}

}  // namespace
}  // namespace callsign::cli
