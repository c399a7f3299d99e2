// The order of lists, and the dependencies between the tasks of a list.

#include <callsign/domain/task_list.hpp>
#include <callsign/domain/urgency.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace std::chrono_literals;

constexpr time_point noon = std::chrono::sys_days{std::chrono::year{2026} / 11 / 22} + 12h;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

uuid id(int n) {
    return make_uuid_v7(noon, 1, static_cast<std::uint64_t>(n));
}
scanned_task wanted(int n, double rank, std::vector<uuid> depends = {}) {
    return {id(n), true, true, rank, std::move(depends)};
}
std::vector<int> order_of(const std::vector<scanned_task>& all, const task_order& order,
                          const task_filter& filter = {}) {
    std::vector<int> numbers;
    for (const uuid& each : ordered(all, filter, order)) {
        for (int n = 0; n < 100; ++n) {
            if (id(n) == each) numbers.push_back(n);
        }
    }
    return numbers;
}
std::string text_at(milliseconds from_now) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(noon + from_now);
    return std::to_string(seconds.time_since_epoch().count());
}

using numbers = std::vector<int>;

TEST(task_list, equal_ones_stay_in_the_order_of_keys_and_those_without_come_last) {
    const std::vector<scanned_task> all{wanted(1, 5), wanted(2, none), wanted(3, 1), wanted(4, 5),
                                        wanted(5, none)};
    EXPECT_EQ(order_of(all, {task_sort::due, false}), (numbers{3, 1, 4, 2, 5}));
    EXPECT_EQ(order_of(all, {task_sort::due, true}), (numbers{1, 4, 3, 2, 5}));
    EXPECT_EQ(order_of({wanted(1, 0), wanted(2, 0)}, {task_sort::key, true}), (numbers{2, 1}));
}

TEST(task_list, a_task_is_blocked_by_pending_ones_only) {
    scanned_task over = wanted(3, 0);
    over.is_open = false;
    scanned_task not_wanted = wanted(4, 0);
    not_wanted.is_wanted = false;
    scanned_task closed_needs = wanted(6, 0, {id(1)});
    closed_needs.is_open = false;
    const std::vector<scanned_task> all{
        wanted(1, 0, {id(3)}),  // depends on a closed task
        wanted(2, 0, {id(4)}),  // not in the list, and pending
        over,
        not_wanted,
        wanted(5, 0, {id(99)}),  // depends on a task that does not exist
        closed_needs,
    };
    task_filter f;
    f.is = {virtual_tag::blocked};
    EXPECT_EQ(order_of(all, {}, f), numbers{2});
    f.is = {virtual_tag::unblocked};
    EXPECT_EQ(order_of(all, {}, f), (numbers{1, 3, 5, 6}));
    f.is = {virtual_tag::blocking};
    EXPECT_EQ(order_of(all, {}, f), numbers{}) << "4 does not match the filter";
    std::vector<scanned_task> again = all;
    again[3].is_wanted = true;
    EXPECT_EQ(order_of(again, {}, f), numbers{4});
}

TEST(task_list, links_count_in_the_urgency) {
    const std::vector<scanned_task> all{wanted(1, 3, {id(2)}), wanted(2, 1), wanted(3, 4)};
    EXPECT_EQ(order_of(all, {task_sort::urgency, true}), (numbers{2, 3, 1}));
}

TEST(urgency, each_term_by_itself) {
    const std::string today = text_at(0s);
    const auto alone = [&](attributes all) {
        all.emplace("entry", today);
        return urgency_of(all, noon);
    };
    EXPECT_DOUBLE_EQ(alone({}), 0.0);
    EXPECT_DOUBLE_EQ(alone({{"priority", "H"}}), 6.0);
    EXPECT_DOUBLE_EQ(alone({{"priority", "M"}}), 3.9);
    EXPECT_DOUBLE_EQ(alone({{"priority", "L"}}), 1.8);
    EXPECT_DOUBLE_EQ(alone({{"project", "x"}}), 1.0);
    EXPECT_DOUBLE_EQ(alone({{"start", today}}), 4.0);
    EXPECT_DOUBLE_EQ(alone({{"scheduled", text_at(-1s)}}), 5.0);
    EXPECT_DOUBLE_EQ(alone({{"scheduled", text_at(1s)}}), 0.0);
    EXPECT_DOUBLE_EQ(alone({{"wait", text_at(1s)}}), -3.0);
    EXPECT_DOUBLE_EQ(alone({{"tag_a", ""}}), 0.8);
    EXPECT_DOUBLE_EQ(alone({{"tag_a", ""}, {"tag_b", ""}}), 0.9);
    EXPECT_DOUBLE_EQ(alone({{"tag_a", ""}, {"tag_b", ""}, {"tag_c", ""}, {"tag_d", ""}}), 1.0);
    EXPECT_DOUBLE_EQ(alone({{"tag_next", ""}}), 15.8);
    EXPECT_DOUBLE_EQ(alone({{"annotation_1", ""}, {"annotation_2", ""}}), 0.9);
    EXPECT_DOUBLE_EQ(alone({{"due", text_at(24h * 15)}}), 12 * 0.2);
    EXPECT_DOUBLE_EQ(alone({{"due", text_at(-24h * 8)}}), 12.0);
    EXPECT_DOUBLE_EQ(alone({{"due", text_at(0s)}}), 12 * (14 * 0.8 / 21 + 0.2));
    EXPECT_DOUBLE_EQ(urgency_of({{"entry", text_at(-24h * 73)}}, noon), 2 * 0.2);
    EXPECT_DOUBLE_EQ(urgency_of({{"entry", text_at(-24h * 73 - 23h)}}, noon), 2 * 0.2)
        << "whole days";
    EXPECT_DOUBLE_EQ(urgency_of({{"entry", text_at(-24h * 800)}}, noon), 2.0);
    EXPECT_DOUBLE_EQ(urgency_of(task_links{true, true}), 3.0);
    EXPECT_DOUBLE_EQ(urgency_of(task_links{true, false}), -5.0);
}

}  // namespace
}  // namespace callsign
