// Tasks taken over from elsewhere.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

using imports = managed_account;

TEST_F(imports, imported_tasks_are_one_version_and_numbered_in_their_order) {
    send({create(uuid_of(5)), update(uuid_of(5), "p", "v")});
    const auto done = std::get<import_tasks::done>(
        run(import_tasks{account_,
                         {{uuid_of(3), {{"description", "three"}, {"tag_a", ""}}},
                          {uuid_of(5), {{"p", "other"}}},
                          {uuid_of(1), {{"key", "OLD-7"}, {"entry", "1600000000"}}},
                          {uuid_of(3), {{"description", "again"}}}}}));
    EXPECT_EQ(done.imported, 2);
    EXPECT_EQ(done.there_already, 2);
    EXPECT_EQ(attribute(uuid_of(3), "key"), "SYN-2");
    EXPECT_EQ(attribute(uuid_of(3), "description"), "three");
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-3");
    EXPECT_EQ(attribute(uuid_of(1), "entry"), "1600000000");
    EXPECT_EQ(attribute(uuid_of(5), "p"), "v");
    const auto all = chain();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[2].operations,
              (operations{create(uuid_of(3)), update(uuid_of(3), "description", "three", now_),
                          update(uuid_of(3), "tag_a", "", now_), create(uuid_of(1)),
                          update(uuid_of(1), "entry", "1600000000", now_)}));
}

TEST_F(imports, importing_again_changes_nothing) {
    const import_tasks c{account_, {{uuid_of(1), {{"p", "v"}}}, {uuid_of(2), {}}}};
    EXPECT_EQ(std::get<import_tasks::done>(run(c)).imported, 2);
    edit_task purge{account_, uuid_of(2)};
    purge.purge = true;
    run(purge);
    const auto seq = head().seq;
    const auto again = std::get<import_tasks::done>(run(c));
    EXPECT_EQ(again.imported, 0);
    EXPECT_EQ(again.there_already, 2);
    EXPECT_EQ(head().seq, seq);
    EXPECT_TRUE(find(uuid_of(2))->purged);
    EXPECT_EQ(std::get<import_tasks::done>(run(import_tasks{account_})).imported, 0);
}

TEST_F(imports, a_device_that_changed_its_task_after_the_import_was_made_is_newer) {
    const auto modified = t0 - std::chrono::hours{2};
    const std::string seconds = std::to_string(modified.time_since_epoch().count() / 1000);
    run(import_tasks{account_, {{uuid_of(1), {{"p", "exported"}, {"modified", seconds}}}}});
    send(phone, uuid{},
         {create(uuid_of(1)), update(uuid_of(1), "p", "newer", modified + std::chrono::hours{1})});
    EXPECT_EQ(attribute(uuid_of(1), "p"), "newer");
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
}

TEST_F(imports, an_import_that_is_refused_writes_nothing) {
    import_tasks c{
        account_,
        {{uuid_of(2), {{"a", std::string(task_bytes_max, 'x')}}}, {uuid_of(1), {{"p", "v"}}}}};
    EXPECT_EQ(std::get<task_too_large>(run(c)).task, uuid_of(2));
    EXPECT_FALSE(find(uuid_of(1)));
    run(create_account{"desk", "DESK", "t", digest{1}, uuid_of(500)});
    c.account = store_->begin_read()->find_account("desk")->id;
    EXPECT_TRUE(std::holds_alternative<account_is_opaque>(run(c)));
    c.account = account_id{99};
    EXPECT_TRUE(std::holds_alternative<no_such_account>(run(c)));
}

TEST_F(imports, an_import_is_taken_in_steps) {
    import_tasks c{account_};
    for (int n = 0; n < 20; ++n) c.tasks.push_back({uuid_of(n), {{"p", "v"}}});
    c.tasks.push_back({uuid_of(3), {}});
    c.work_max = 3'000;
    import_tasks::done all;
    int steps = 0;
    while (!c.tasks.empty()) {
        const auto done = std::get<import_tasks::done>(run(c));
        ASSERT_GT(done.taken, 0u);
        EXPECT_EQ(static_cast<std::int64_t>(done.taken), done.imported + done.there_already);
        all.imported += done.imported;
        all.there_already += done.there_already;
        c.tasks.erase(c.tasks.begin(), c.tasks.begin() + static_cast<std::ptrdiff_t>(done.taken));
        ++steps;
    }
    EXPECT_GT(steps, 3);
    EXPECT_EQ(all.imported, 20);
    EXPECT_EQ(all.there_already, 1);
    EXPECT_EQ(attribute(uuid_of(19), "key"), "SYN-20");
}

}  // namespace
}  // namespace callsign
