// The tasks of a list. tests/system/lists_test.cpp compares them with Taskwarrior's.

#include <callsign/base/text.hpp>
#include <callsign/domain/task_filter.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace std::chrono_literals;

constexpr time_point now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 22} + 12h;

std::string at(milliseconds from_now) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now + from_now);
    return std::to_string(seconds.time_since_epoch().count());
}

task of(attributes all) {
    task t;
    t.attributes = std::move(all);
    t.last_seq = 7;
    return t;
}

bool is_in(const task_filter& f, attributes all) {
    return matches(f, of(std::move(all)), now);
}

bool is(virtual_tag tag, attributes all) {
    task_filter f;
    f.statuses = {task_status::pending, task_status::completed, task_status::deleted,
                  task_status::recurring};
    f.is = {tag};
    return matches(f, of(std::move(all)), now);
}

TEST(task_filter, selects_pending_tasks_by_default) {
    const task_filter all;
    EXPECT_TRUE(matches(all, of({{"status", "pending"}}), now));
    EXPECT_TRUE(matches(all, of({}), now)) << "Taskwarrior treats it as pending";
    EXPECT_TRUE(matches(all, of({{"status", "waiting"}}), now)) << "a former name of that status";
    EXPECT_FALSE(matches(all, of({{"status", "recurring"}}), now));
    EXPECT_FALSE(matches(all, of({{"status", "completed"}}), now));
    EXPECT_FALSE(matches(all, of({{"status", "deleted"}}), now));
    EXPECT_TRUE(all.is_open_only());
    task purged = of({});
    purged.purged = true;
    EXPECT_FALSE(matches(all, purged, now));
}

TEST(task_filter, statuses_are_any_of_those_given) {
    task_filter f;
    f.statuses = {task_status::completed, task_status::recurring};
    EXPECT_TRUE(matches(f, of({{"status", "recurring"}}), now));
    EXPECT_TRUE(matches(f, of({{"status", "completed"}}), now));
    EXPECT_FALSE(matches(f, of({{"status", "pending"}}), now));
    EXPECT_FALSE(f.is_open_only());
}

TEST(task_filter, a_project_has_its_children_and_no_namesakes) {
    task_filter f;
    f.project = "Home";
    EXPECT_TRUE(matches(f, of({{"project", "Home"}}), now));
    EXPECT_TRUE(matches(f, of({{"project", "Home.Garden.Shed"}}), now));
    EXPECT_FALSE(matches(f, of({{"project", "Homework"}}), now));
    EXPECT_FALSE(matches(f, of({{"project", "My.Home"}}), now));
    EXPECT_FALSE(matches(f, of({{"project", "Hom"}}), now));
    EXPECT_FALSE(matches(f, of({}), now));
}

TEST(task_filter, all_tags_must_be_present_and_none_of_the_excluded) {
    task_filter f;
    f.tags = {"a", "b"};
    f.not_tags = {"c", "d"};
    EXPECT_TRUE(matches(f, of({{"tag_a", ""}, {"tag_b", ""}, {"tag_x", ""}}), now));
    EXPECT_FALSE(matches(f, of({{"tag_a", ""}}), now));
    EXPECT_FALSE(matches(f, of({{"tag_a", ""}, {"tag_b", ""}, {"tag_d", ""}}), now));
}

TEST(task_filter, priorities_are_any_of_those_given) {
    task_filter f;
    f.priorities = {"H", ""};
    EXPECT_TRUE(is_in(f, {{"priority", "H"}}));
    EXPECT_TRUE(is_in(f, {})) << "has none";
    EXPECT_FALSE(is_in(f, {{"priority", "L"}}));
}

TEST(task_filter, all_attributes_must_have_their_values) {
    task_filter f;
    f.attributes = {{"estimate", "3h"}, {"size", "L"}};
    EXPECT_TRUE(is_in(f, {{"estimate", "3h"}, {"size", "L"}, {"x", "y"}}));
    EXPECT_FALSE(is_in(f, {{"estimate", "3h"}}));
    EXPECT_FALSE(is_in(f, {{"estimate", "3h"}, {"size", "XL"}}));
    f.attributes = {{"estimate", ""}};
    EXPECT_TRUE(is_in(f, {{"size", "L"}})) << "is absent";
}

TEST(task_filter, text_is_found_in_any_case_in_description_and_annotations) {
    task_filter f;
    f.text = folded("BÄREN straße");
    EXPECT_TRUE(matches(f, of({{"description", "in der bären Straße 7"}}), now));
    EXPECT_TRUE(matches(f, of({{"annotation_1700000000", "Bären STRAßE"}}), now));
    EXPECT_FALSE(matches(f, of({{"project", "bären straße"}}), now));
    EXPECT_FALSE(matches(f, of({{"description", "bären"}, {"annotation_1", "straße"}}), now));
}

TEST(task_filter, ranges_of_instants_have_strict_ends) {
    task_filter f;
    f.instants[static_cast<std::size_t>(task_instant::due)] = {now, now + 2h};
    EXPECT_TRUE(matches(f, of({{"due", at(1h)}}), now));
    EXPECT_FALSE(matches(f, of({{"due", at(0h)}}), now));
    EXPECT_FALSE(matches(f, of({{"due", at(2h)}}), now));
    EXPECT_FALSE(matches(f, of({{"wait", at(1h)}}), now));
    EXPECT_FALSE(matches(f, of({{"due", "tomorrow"}}), now));
    task_filter after;
    after.changed_after = 6;
    EXPECT_TRUE(matches(after, of({}), now));
    after.changed_after = 7;
    EXPECT_FALSE(matches(after, of({}), now));
}

TEST(task_filter, virtual_tags_mean_what_taskwarrior_means) {
    using tag = virtual_tag;
    EXPECT_TRUE(is(tag::overdue, {{"due", at(-1s)}}));
    EXPECT_FALSE(is(tag::overdue, {{"due", at(1s)}}));
    EXPECT_FALSE(is(tag::overdue, {{"due", at(-1s)}, {"status", "completed"}}));
    EXPECT_FALSE(is(tag::overdue, {{"due", at(-1s)}, {"status", "recurring"}}));
    EXPECT_TRUE(is(tag::due, {{"due", at(-1h)}})) << "today";
    EXPECT_TRUE(is(tag::due, {{"due", at(24h * 6)}}));
    EXPECT_FALSE(is(tag::due, {{"due", at(24h * 7)}}));
    EXPECT_FALSE(is(tag::due, {{"due", at(-13h)}})) << "yesterday";
    EXPECT_TRUE(is(tag::waiting, {{"wait", at(1s)}}));
    EXPECT_FALSE(is(tag::waiting, {{"wait", at(0s)}}));
    EXPECT_FALSE(is(tag::waiting, {{"wait", at(1s)}, {"status", "completed"}}));
    EXPECT_FALSE(is(tag::pending, {{"wait", at(1s)}}));
    EXPECT_TRUE(is(tag::pending, {}));
    EXPECT_TRUE(is(tag::ready, {{"scheduled", at(-1s)}}));
    EXPECT_FALSE(is(tag::ready, {{"scheduled", at(1s)}}));
    EXPECT_FALSE(is(tag::ready, {{"wait", at(1s)}}));
    EXPECT_TRUE(is(tag::active, {{"start", at(-1s)}}));
    EXPECT_FALSE(is(tag::active, {{"start", at(-1s)}, {"status", "deleted"}}));
    EXPECT_TRUE(is(tag::tagged, {{"tag_x", ""}}));
    EXPECT_FALSE(is(tag::tagged, {{"tags", "x"}}));
    EXPECT_TRUE(is(tag::annotated, {{"annotation_1", ""}}));
    EXPECT_TRUE(is(tag::child, {{"parent", "u"}}));
    EXPECT_TRUE(is(tag::parent, {{"mask", "-"}}));
    EXPECT_TRUE(is(tag::completed, {{"status", "completed"}}));
    EXPECT_FALSE(is(tag::deleted, {{"status", "completed"}}));
    for (const auto only : {tag::priority, tag::project, tag::until, tag::scheduled}) {
        EXPECT_FALSE(is(only, {}));
        EXPECT_TRUE(is(only, {{std::string(to_string(only)), "x"}}));
    }
}

TEST(task_filter, links_are_evaluated_separately) {
    task_filter f;
    EXPECT_FALSE(f.needs_links());
    f.is = {virtual_tag::unblocked, virtual_tag::blocking};
    EXPECT_TRUE(f.needs_links());
    EXPECT_TRUE(matches(f, of({}), now));
    EXPECT_TRUE(matches(f, task_links{.is_blocked = false, .is_blocking = true}));
    EXPECT_FALSE(matches(f, task_links{.is_blocked = true, .is_blocking = true}));
    EXPECT_FALSE(matches(f, task_links{}));
    f.is = {virtual_tag::ready};
    EXPECT_TRUE(f.needs_links());
    EXPECT_FALSE(matches(f, task_links{.is_blocked = true}));
    f.is = {virtual_tag::blocked};
    EXPECT_FALSE(matches(f, task_links{}));
}

TEST(task_filter, its_keywords_are_read_back) {
    for (const char* word : {"pending", "completed", "deleted", "recurring"}) {
        EXPECT_EQ(to_string(*parse_task_status(word)), word);
    }
    for (const char* word : {"overdue", "blocked", "ready", "waiting", "child", "parent"}) {
        EXPECT_EQ(to_string(*parse_virtual_tag(word)), word);
    }
    EXPECT_EQ(parse_virtual_tag("instance"), virtual_tag::child);
    EXPECT_FALSE(parse_virtual_tag("OVERDUE"));
    EXPECT_FALSE(parse_task_status("waiting"));
    EXPECT_EQ(parse_task_sort("urgency"), task_sort::urgency);
    EXPECT_FALSE(parse_task_sort("-key"));
}

TEST(task_filter, an_attribute_that_is_no_instant_is_none) {
    EXPECT_EQ(instant_of({{"due", "1700000000"}}, "due"), time_point{1'700'000'000s});
    for (const char* bad : {"", "x", "17 ", "-1", "9999999999999", "1e3"}) {
        EXPECT_FALSE(instant_of({{"due", bad}}, "due")) << bad;
    }
    const uuid id = make_uuid_v7(now, 1, 1);
    EXPECT_EQ(depends_of({{"dep_" + to_string(id), ""}, {"dep_x", ""}, {"depends", "y"}}),
              std::vector<uuid>{id});
}

}  // namespace
}  // namespace callsign
