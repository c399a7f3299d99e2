// Operations applied to a copy of all tasks.

#include "support/carry_out.hpp"

#include <callsign/domain/replay.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace callsign {
namespace {

// The same result, operation by operation.
TEST(replay, comes_to_what_each_operation_by_itself_comes_to) {
    std::mt19937 chance(1);
    const auto id = [](unsigned n) { return make_uuid_v7({}, 1, n); };
    task_map begun{{id(0), {{"a", "1"}, {"m", "2"}, {"z", "3"}}}};
    task_map wanted = begun;
    replay tasks(begun);
    for (int n = 0; n < 2'000; ++n) {
        operation o{operation_kind::update, id(chance() % 3), {}, {}, {}};
        const auto kind = chance() % 20;
        if (kind == 0) o.kind = operation_kind::remove;
        if (kind == 1 || kind == 2) o.kind = operation_kind::create;
        if (o.kind == operation_kind::update) {
            o.property = std::string(1, static_cast<char>('a' + chance() % 26));
            if (chance() % 3 != 0) o.value = std::to_string(n);
        }
        EXPECT_EQ(tasks.carry_out(o), carry_out(wanted, o));
        if (n % 5 == 0) {
            const auto there = wanted.find(o.uuid);
            const attributes* const found = tasks.find(o.uuid);
            ASSERT_EQ(found != nullptr, there != wanted.end());
            if (found) {
                ASSERT_EQ(*found, there->second);
            }
        }
        if (n % 37 == 0) {
            ASSERT_EQ(tasks.tasks(), wanted);
        }
    }
    EXPECT_EQ(tasks.tasks(), wanted);
    tasks.put(id(9), {{"b", "4"}});
    EXPECT_EQ(tasks.find(id(9))->at("b"), "4");
}

}  // namespace
}  // namespace callsign
