// The table of transforms, cell by cell, and functions based on it.

#include "support/carry_out.hpp"

#include <callsign/rules/transform.hpp>

#include <gtest/gtest.h>

namespace callsign::rules {
namespace {

using kind = operation_kind;
using operations = std::vector<operation>;

constexpr uuid one{{1}};
constexpr uuid two{{2}};

operation create(const uuid& id = one) {
    return {kind::create, id, {}, {}, {}};
}
operation remove(const uuid& id = one) {
    return {kind::remove, id, {}, {}, {}};
}
operation update(std::string property, std::optional<std::string> value, int at,
                 const uuid& id = one) {
    return {kind::update, id, std::move(property), std::move(value),
            precise_time{std::chrono::nanoseconds{at}}};
}

enum class kept { both, server, local, none };

kept decided(const operation& server, const operation& local) {
    const transformed_pair pair = transform(server, local);
    if (pair.server) {
        EXPECT_EQ(*pair.server, server);
    }
    if (pair.local) {
        EXPECT_EQ(*pair.local, local);
    }
    if (pair.server && pair.local) return kept::both;
    if (pair.server) return kept::server;
    return pair.local ? kept::local : kept::none;
}

TEST(transform, decides_as_the_clients_table_does) {
    const operation u = update("p", "v", 5);
    EXPECT_EQ(decided(create(), create()), kept::none);
    EXPECT_EQ(decided(create(), remove()), kept::server);
    EXPECT_EQ(decided(create(), u), kept::local);
    EXPECT_EQ(decided(remove(), create()), kept::local);
    EXPECT_EQ(decided(remove(), remove()), kept::none);
    EXPECT_EQ(decided(remove(), u), kept::server);
    EXPECT_EQ(decided(u, create()), kept::server);
    EXPECT_EQ(decided(u, remove()), kept::local);
}

TEST(transform, the_later_update_applies_and_at_one_time_the_servers) {
    const operation at_5 = update("p", "v", 5);
    EXPECT_EQ(decided(at_5, update("p", "v", 5)), kept::none);
    EXPECT_EQ(decided(at_5, update("p", "v", 4)), kept::none);
    EXPECT_EQ(decided(at_5, update("p", "v", 6)), kept::none);
    EXPECT_EQ(decided(at_5, update("p", "w", 4)), kept::server);
    EXPECT_EQ(decided(at_5, update("p", "w", 5)), kept::server);
    EXPECT_EQ(decided(at_5, update("p", "w", 6)), kept::local);
    EXPECT_EQ(decided(at_5, update("p", std::nullopt, 6)), kept::local);
    EXPECT_EQ(decided(update("p", std::nullopt, 5), at_5), kept::server);
    EXPECT_EQ(decided(update("p", std::nullopt, 5), update("p", std::nullopt, 9)), kept::none);
}

TEST(transform, keeps_operations_on_different_tasks_and_properties) {
    EXPECT_EQ(decided(update("p", "v", 5), update("q", "v", 5)), kept::both);
    EXPECT_EQ(decided(update("p", "v", 5), update("p", "v", 5, two)), kept::both);
    for (const operation& server : {create(), remove(), update("p", "v", 5)}) {
        for (const operation& local : {create(two), remove(two), update("p", "v", 5, two)}) {
            EXPECT_EQ(decided(server, local), kept::both);
        }
    }
}

TEST(transform, of_lists_goes_one_server_operation_at_a_time) {
    // The first operation of the server cancels the local Create; the next one loses against the
    // local update, and keeps the local Delete.
    const operations server{create(), update("p", "server", 1), update("q", "server", 9)};
    const operations local{create(), update("p", "local", 2), create(two)};
    const transformed_lists lists = transform_lists(server, local);
    EXPECT_EQ(lists.server, operations{update("q", "server", 9)});
    EXPECT_EQ(lists.local, (operations{update("p", "local", 2), create(two)}));
}

TEST(transform, of_a_list_against_its_like_leaves_nothing) {
    const operations all{create(), update("p", "a", 1),         update("p", "b", 2), remove(),
                         create(), update("p", std::nullopt, 3)};
    const transformed_lists lists = transform_lists(all, all);
    EXPECT_TRUE(lists.server.empty());
    EXPECT_TRUE(lists.local.empty());
    EXPECT_EQ(transform_lists(all, {}).server, all);
    EXPECT_EQ(transform_lists({}, all).local, all);
}

// A client may send a full body about one task; the cost must not be quadratic.
TEST(transform, of_long_lists_is_not_quadratic) {
    constexpr int size = 100'000;
    operations server, local;
    for (int i = 0; i < size; ++i) {
        server.push_back(update(i % 2 == 0 ? "p" : "q", std::to_string(i), 0));
        local.push_back(update(i % 2 == 0 ? "q" : "p", std::to_string(i), 1));
    }
    const transformed_lists lists = transform_lists(server, local);
    EXPECT_TRUE(lists.server.empty());
    EXPECT_EQ(lists.local, local);
    const transformed_lists back = transform_lists(local, server);
    EXPECT_EQ(back.server, local);
    EXPECT_TRUE(back.local.empty());
}

TEST(carry_out, changes_an_existing_task) {
    task_map tasks;
    EXPECT_TRUE(carry_out(tasks, create()));
    EXPECT_TRUE(carry_out(tasks, update("p", "v", 1)));
    EXPECT_TRUE(carry_out(tasks, update("q", "w", 1)));
    EXPECT_TRUE(carry_out(tasks, update("p", "v2", 0)));  // times matter only in transforms
    EXPECT_TRUE(carry_out(tasks, update("q", std::nullopt, 1)));
    EXPECT_TRUE(carry_out(tasks, update("q", std::nullopt, 1)));
    EXPECT_EQ(tasks, (task_map{{one, {{"p", "v2"}}}}));
    EXPECT_TRUE(carry_out(tasks, remove()));
    EXPECT_TRUE(tasks.empty());
}

TEST(carry_out, reports_operations_without_effect) {
    task_map tasks;
    EXPECT_FALSE(carry_out(tasks, remove()));
    EXPECT_FALSE(carry_out(tasks, update("p", "v", 1)));
    EXPECT_TRUE(tasks.empty());
    carry_out(tasks, create());
    carry_out(tasks, update("p", "v", 1));
    EXPECT_FALSE(carry_out(tasks, create()));
    EXPECT_EQ(tasks.at(one).size(), 1u);
}

TEST(presence, before_operations_follows_from_the_first_of_each_task) {
    const presence there = there_before(
        operations{create(), update("p", "v", 1), update("p", "v", 1, two), remove(two)});
    EXPECT_EQ(there.size(), 2u);
    EXPECT_FALSE(there.at(one));
    EXPECT_TRUE(there.at(two));
}

TEST(effective_only, keeps_effective_operations_in_their_place) {
    const operations list{update("p", "v", 1), create(), create(), update("p", "v", 2),
                          create(two),         remove(), remove(), update("p", "w", 3)};
    int asked = 0;
    const auto kept = effective_only(list, [&](const uuid& id) {
        ++asked;
        return id == two;
    });
    EXPECT_EQ(kept, (operations{create(), update("p", "v", 2), remove()}));
    EXPECT_EQ(asked, 2);
}

// The reason why the chain holds effective operations only.
TEST(effective_only, is_needed_for_lists_to_converge) {
    const task_map common{{one, {{"p", "v"}}}};
    const operation server = remove();
    const operation local = create();  // of an existing task
    const auto lists = transform_lists({server}, {local});
    task_map server_first = common;
    carry_out(server_first, server);
    for (const operation& o : lists.local) carry_out(server_first, o);
    task_map local_first = common;
    carry_out(local_first, local);
    for (const operation& o : lists.server) carry_out(local_first, o);
    EXPECT_NE(server_first, local_first);
}

}  // namespace
}  // namespace callsign::rules
