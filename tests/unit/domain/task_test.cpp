#include <callsign/domain/task.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace callsign {
namespace {

TEST(key, is_written_as_prefix_and_number) {
    EXPECT_EQ(format_key("SYN", "", 42), "SYN-42");
    EXPECT_EQ(format_key("INC", "20261120", 7), "INC-20261120-7");
}

TEST(task_ref, reads_keys_in_any_case) {
    EXPECT_EQ(parse_task_ref("SYN-42"), (task_ref{task_key{"SYN", "", 42}}));
    EXPECT_EQ(parse_task_ref("syn-42"), (task_ref{task_key{"SYN", "", 42}}));
    EXPECT_EQ(parse_task_ref("a_1-2026-7"), (task_ref{task_key{"A_1", "2026", 7}}));
    EXPECT_EQ(parse_task_ref("INC-202611-7"), (task_ref{task_key{"INC", "202611", 7}}));
    EXPECT_EQ(parse_task_ref("INC-20261120-7"), (task_ref{task_key{"INC", "20261120", 7}}));
}

TEST(task_ref, reads_uuids_in_either_case) {
    const std::optional<task_ref> ref = parse_task_ref("01936A5E-7b2c-7000-8000-00000000000F");
    ASSERT_TRUE(ref);
    EXPECT_EQ(to_string(*ref), "01936a5e-7b2c-7000-8000-00000000000f");
}

// A number that no task can have is still a key: the response is "not found", not "malformed".
TEST(task_ref, zero_is_a_number_that_no_task_has) {
    EXPECT_EQ(parse_task_ref("SYN-0"), (task_ref{task_key{"SYN", "", 0}}));
}

TEST(task_ref, rejects_other_text) {
    for (const char* bad :
         {"", "SYN", "SYN-", "-42", "42", "SYN-042", "SYN--42", "SYN-1-2", "SYN-20261-2", "SYN-+1",
          "SYN-1 ", " SYN-1", "SYN-1-", "2SYN-1", "SYN-12a", "SYN-9999999999999999999",
          "ABCDEFGHIJK-1", "01936a5e-7b2c-7000-8000-00000000000", "SYN-2026-11-7"}) {
        EXPECT_FALSE(parse_task_ref(bad)) << bad;
    }
}

// Goal: the text of a ref is read back as that ref. Method: random well-formed keys.
RC_GTEST_PROP(task_ref, is_read_back_from_its_text, ()) {
    const task_key key{
        *rc::gen::element<std::string>("A", "SYN", "A_1", "ABCDEFGHIJ"),
        *rc::gen::element<std::string>("", "2026", "202611", "20261120"),
        *rc::gen::inRange<std::int64_t>(0, 999'999'999'999'999'999),
    };
    RC_ASSERT(parse_task_ref(to_string(task_ref{key})) == task_ref{key});
}

// Goal: the parser accepts or rejects any text, and writes what it accepts. Method: random text.
RC_GTEST_PROP(task_ref, survives_any_text, (const std::string& text)) {
    const std::optional<task_ref> ref = parse_task_ref(text);
    if (ref) RC_ASSERT(parse_task_ref(to_string(*ref)) == ref);
}

// Few names and values, so that both sides often have the same ones.
attributes few_attributes() {
    attributes all;
    for (const int n : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 16))) {
        all.insert_or_assign("name" + std::to_string(n / 2), std::to_string(n % 2));
    }
    return all;
}

RC_GTEST_PROP(attribute_diff, leads_from_one_state_to_the_other, ()) {
    const attributes from = few_attributes(), to = few_attributes();
    const attribute_diff diff = diff_between(from, to);
    attributes state = from;
    RC_ASSERT(apply_diff(diff, state));
    RC_ASSERT(state == to);
    // The diff contains only differences.
    RC_ASSERT(diff.set.size() <= to.size());
    for (const auto& [name, value] : diff.set) RC_ASSERT(value_of(from, name) != value);
    for (const std::string& name : diff.absent)
        RC_ASSERT(from.contains(name) && !to.contains(name));
}

TEST(attribute_diff, is_rejected_by_another_state_than_its_own) {
    attributes state{{"a", "1"}};
    EXPECT_FALSE(apply_diff({{}, {"b"}}, state));
}

}  // namespace
}  // namespace callsign
