// Look-up of tasks by their refs, and reads of all tasks in pages or steps.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

using task_queries = rules_test;

using collected = managed_account;

TEST_F(task_queries, a_task_is_found_by_uuid_or_key_or_an_error_is_returned) {
    const auto id = make("a");
    import(id, 1, 2);
    edit_task purge{id, uuid_of(2)};
    purge.purge = true;
    run(purge);
    const auto fault = [&](const char* ref) {
        return std::get<ref_fault>(ask(find_task{id, *parse_task_ref(ref)}));
    };
    EXPECT_EQ(std::get<task>(ask(find_task{id, *parse_task_ref("syn-1")})).uuid, uuid_of(1));
    EXPECT_EQ(fault("SYN-2"), ref_fault::task_deleted);
    EXPECT_EQ(fault("SYN-3"), ref_fault::task_not_found);
    EXPECT_EQ(fault("X-1"), ref_fault::unknown_prefix);
    const auto other = make("b");
    EXPECT_EQ(std::get<ref_fault>(ask(find_task{other, uuid_of(1)})), ref_fault::task_not_found);
}

// A page of rows may end anywhere, and the next one begins there, in each series.
TEST_F(task_queries, all_tasks_are_read_with_any_page_size) {
    const auto id = make("a");
    import(id, 1, 40);
    run(create_series{id, "HOME", "house"});
    import_tasks c{id, {}};
    for (int n = 100; n < 137; ++n) c.tasks.push_back({uuid_of(n), {{"project", "house"}}});
    run(c);
    for (const std::size_t work : {1u, 5'000u, 17'500u, 10'000'000u}) {
        std::set<uuid> seen;
        read_tasks q{id, {}, work};
        std::size_t rows = 0;
        for (bool more = true; more;) {
            auto page = ask(q);
            ASSERT_LE(rows, 77u) << "no end, with work_max " << work;
            for (const task& t : page.tasks) seen.insert(t.uuid);
            rows += page.tasks.size();
            q.after = page.next;
            more = page.next.has_value();
        }
        EXPECT_EQ(seen.size(), 77u) << work;
        EXPECT_EQ(rows, 77u) << "none twice, with work_max " << work;
    }
}

TEST_F(collected, all_tasks_are_read_with_the_version_they_are_of) {
    send({create(uuid_of(1)), create(uuid_of(2)), update(uuid_of(2), "p", "v")});
    send({remove(uuid_of(1))});
    const auto tx = store_->begin_read();
    auto all = testing::collect(*tx, account_, 1000);
    ASSERT_FALSE(all.too_large());
    EXPECT_EQ(all.version(), head().version);
    ASSERT_EQ(all.tasks().size(), 1u);
    EXPECT_EQ(all.tasks().at(uuid_of(2)).at("p"), "v");
    EXPECT_TRUE(testing::collect(*tx, account_, 3).too_large());
}

// Reads in steps, with changes in between, return one consistent state.
TEST_F(collected, all_tasks_are_read_in_steps_while_they_change) {
    operations many;
    for (int n = 0; n < 4'000; ++n) {
        many.push_back(create(uuid_of(n)));
        many.push_back(update(uuid_of(n), "p", "v"));
    }
    for (add_version c{laptop, uuid{}, many, account_, 0}; !c.operations.empty();) {
        const auto added = std::get<add_version::added>(run(c));
        c.operations.erase(c.operations.begin(),
                           c.operations.begin() + static_cast<std::ptrdiff_t>(added.taken));
        c.parent = added.version;
    }
    collected_tasks all(account_, 1'000'000);
    int steps = 0;
    while (testing::collect_step(all, *store_->begin_read(), 100'000)) {
        if (++steps > 20) continue;
        // Changes of tasks before and after the cursor; removed, recreated and new ones.
        send({update(uuid_of(1), "p", "w" + std::to_string(steps)),
              update(uuid_of(3'999), "p", "w" + std::to_string(steps)), remove(uuid_of(10 + steps)),
              remove(uuid_of(3'000 + steps)), create(uuid_of(5'000 + steps)),
              update(uuid_of(5'000 + steps), "p", "new")});
        send({create(uuid_of(10 + steps)), create(uuid_of(3'000 + steps)),
              update(uuid_of(10 + steps), "q", "back")});
        if (steps % 2 == 0) send({remove(uuid_of(10 + steps)), remove(uuid_of(5'000 + steps))});
    }
    EXPECT_GT(steps, 20);
    ASSERT_FALSE(all.too_large());
    EXPECT_EQ(all.version(), head().version);
    EXPECT_TRUE(all.tasks() ==
                testing::collect(*store_->begin_read(), account_, 1'000'000).tasks());
}

}  // namespace
}  // namespace callsign
