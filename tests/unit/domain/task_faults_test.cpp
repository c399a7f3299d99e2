// Values that Taskwarrior 3 cannot export, as observed: each of them breaks `task export` of all
// tasks, or is exported as another value.

#include <callsign/domain/task_faults.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace std::string_view_literals;

const std::string other_task = "11111111-2222-4333-8444-55555555555a";

void expect_taken(std::string_view name, std::string_view value) {
    EXPECT_EQ(fault_of_attribute(name, value), std::nullopt) << name << "=" << value;
}
void expect_rejected(std::string_view name, std::string_view value) {
    EXPECT_TRUE(fault_of_attribute(name, value).has_value()) << name << "=" << value;
}

TEST(task_faults, instants_are_those_of_1980_to_9999_in_their_one_spelling) {
    for (const char* name :
         {"due", "end", "entry", "modified", "scheduled", "start", "until", "wait"}) {
        for (const char* good : {"315532800", "1700000000", "253402293598"}) {
            expect_taken(name, good);
        }
        for (const char* bad : {"", "0", "1", "-1", "86400", "315532799", "253402293599", "x",
                                "1.5", " 1700000000", "+1700000000", "1700000000 ", "01700000000",
                                "2024-01-01T00:00:00Z", "99999999999999999999"}) {
            expect_rejected(name, bad);
        }
    }
    expect_taken("reviewed", "1");
}

TEST(task_faults, annotations_are_named_by_their_second) {
    expect_taken("annotation_1700000000", "any \"text\\");
    expect_taken("annotation_2147483647", "");
    for (const char* bad : {"annotation_", "annotation_x", "annotation_1", "annotation_01700000000",
                            "annotation_2147483648", "annotation_99999999999999999999"}) {
        expect_rejected(bad, "note");
    }
}

TEST(task_faults, names_are_exported_as_they_are) {
    for (const std::string_view good : {"note"sv, "A b"sv, "x:y"sv, "tag_+\xC3\xBC,"sv, "tag_a b"sv,
                                        "x\x7F"sv, "\xE2\x80\xA8"sv}) {
        expect_taken(good, "");
    }
    for (const std::string_view bad :
         {""sv, "tag_"sv, "a\"b"sv, "a\\b"sv, "a\nb"sv, "a\tb"sv, "a\0b"sv, "tag_a\"b"sv,
          "tag_a\\b"sv, "tag_a\nb"sv, "dep_a\"b"sv, "dep_x"sv, "dep_"sv}) {
        expect_rejected(bad, "");
    }
    expect_taken("dep_" + other_task, "");
    expect_rejected("dep_" + std::string(other_task.begin(), other_task.end() - 1) + "A", "");
    for (const char* made_up : {"id", "urgency", "uuid", "annotations"})
        expect_rejected(made_up, "1");
}

TEST(task_faults, values_have_the_control_characters_that_are_escaped) {
    for (const char* name :
         {"description", "project", "priority", "note", "annotation_1700000000"}) {
        for (const std::string_view good :
             {"a\"b"sv, "a\\"sv, "\b\f\n\r\t"sv, "\x7F\xC2\x85\xEF\xBB\xBF"sv, ""sv}) {
            expect_taken(name, good);
        }
        for (const std::string_view bad : {"\0"sv, "a\x01"sv, "\x1B["sv, "\x0B"sv, "\x1F"sv}) {
            expect_rejected(name, bad);
        }
    }
}

TEST(task_faults, statuses_and_numbers_are_of_its_own_words) {
    for (const char* good : {"pending", "completed", "deleted", "recurring"}) {
        expect_taken("status", good);
    }
    for (const char* bad : {"", "foo", "Pending", "waiting", "pending "}) {
        expect_rejected("status", bad);
    }
    for (const char* name : {"imask", "last"}) {
        for (const char* good : {"", "0", "5", "-1", "12.00000", "0.5"}) expect_taken(name, good);
        for (const char* bad :
             {"x", "nan", "01", "+3", " 3", ".5", "5.", "-", "0x1", "1e3", "1,5"}) {
            expect_rejected(name, bad);
        }
    }
}

TEST(task_faults, a_task_without_a_description_or_a_status_is_incomplete) {
    EXPECT_TRUE(is_incomplete({}));
    EXPECT_TRUE(is_incomplete({{"description", "x"}, {"status", ""}}));
    EXPECT_TRUE(is_incomplete({{"entry", "1"}, {"status", "pending"}}));
    EXPECT_FALSE(is_incomplete({{"description", "x"}, {"status", "completed"}}));
}

TEST(task_faults, every_attribute_is_named) {
    const auto found = faults_of_attributes(
        {{"description", "x"}, {"due", "1"}, {"status", "foo"}, {"tag_a\"", ""}, {"wait", "x"}});
    ASSERT_EQ(found.size(), 4u);
    EXPECT_EQ(found[0].attribute, "due");
    EXPECT_EQ(found[1].attribute, "status");
    EXPECT_EQ(found[2].attribute, "tag_a\"");
    EXPECT_EQ(found[3].attribute, "wait");
}

}  // namespace
}  // namespace callsign
