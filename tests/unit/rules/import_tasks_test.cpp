// Import of tasks.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>

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

TEST_F(imports, an_incomplete_task_gets_missing_attributes_and_keeps_its_own) {
    send({create(uuid_of(1)), update(uuid_of(1), "description", "as the server has it"),
          create(uuid_of(2)), create(uuid_of(3)), update(uuid_of(3), "description", "whole"),
          update(uuid_of(3), "status", "pending")});
    const auto seq = head().seq;
    const attributes whole{{"description", "exported"},
                           {"key", "OLD-7"},
                           {"modified", "1600000000"},
                           {"status", "completed"},
                           {"tag_a", ""}};
    const import_tasks c{account_,
                         {{uuid_of(1), whole},
                          {uuid_of(2), whole},
                          {uuid_of(2), {{"description", "again"}, {"late", "x"}}},
                          {uuid_of(3), whole}}};
    const auto done = std::get<import_tasks::done>(run(c));
    EXPECT_EQ(std::tuple(done.imported, done.completed, done.there_already), std::tuple(0, 2, 2));
    EXPECT_EQ(head().seq, seq + 1);
    EXPECT_EQ(attribute(uuid_of(1), "description"), "as the server has it");
    EXPECT_EQ(attribute(uuid_of(1), "status"), "completed");
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
    EXPECT_EQ(attribute(uuid_of(2), "description"), "exported");
    EXPECT_EQ(attribute(uuid_of(2), "tag_a"), "");
    EXPECT_EQ(attribute(uuid_of(2), "late"), "(none)");
    EXPECT_EQ(attribute(uuid_of(3), "status"), "pending");
    EXPECT_EQ(attribute(uuid_of(3), "tag_a"), "(none)");
    // With the time of the export, so that a later change by a device wins.
    const auto completing = chain().back().operations;
    for (const operation& o : completing) {
        EXPECT_EQ(o.at, precise_time{std::chrono::seconds{1600000000}});
    }
    const auto again = std::get<import_tasks::done>(run(c));
    EXPECT_EQ(std::tuple(again.completed, again.there_already), std::tuple(0, 4));
}

TEST_F(imports, a_removed_task_is_not_completed) {
    send({create(uuid_of(1)), remove(uuid_of(1))});
    send({create(uuid_of(2))});
    send({remove(uuid_of(2))});
    const auto seq = head().seq;
    run(import_tasks{account_, {{uuid_of(2), {{"description", "d"}}}}});
    EXPECT_EQ(head().seq, seq);
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

TEST_F(imports, a_change_by_a_device_after_the_export_wins) {
    const auto modified = t0 - std::chrono::hours{2};
    const std::string seconds = std::to_string(modified.time_since_epoch().count() / 1000);
    run(import_tasks{account_, {{uuid_of(1), {{"p", "exported"}, {"modified", seconds}}}}});
    send(phone, uuid{},
         {create(uuid_of(1)), update(uuid_of(1), "p", "newer", modified + std::chrono::hours{1})});
    EXPECT_EQ(attribute(uuid_of(1), "p"), "newer");
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
}

TEST_F(imports, a_rejected_import_writes_nothing) {
    import_tasks c{
        account_,
        {{uuid_of(2), {{"a", std::string(task_bytes_max, 'x')}}}, {uuid_of(1), {{"p", "v"}}}}};
    EXPECT_EQ(std::get<task_too_large>(run(c)).task, uuid_of(2));
    EXPECT_FALSE(find(uuid_of(1)));
    c.tasks[0].attributes.clear();
    for (std::size_t n = 0; n <= task_attributes_max; ++n) {
        c.tasks[0].attributes["a" + std::to_string(n)] = "";
    }
    EXPECT_EQ(std::get<task_too_large>(run(c)).task, uuid_of(2));
    EXPECT_FALSE(find(uuid_of(1)));
    run(create_account{"desk", "DESK", "t", digest{1}, uuid_of(500)});
    c.account = accounts::find(*store_->begin_read(), "desk")->id;
    EXPECT_TRUE(std::holds_alternative<account_is_opaque>(run(c)));
    c.account = account_id{99};
    EXPECT_TRUE(std::holds_alternative<no_such_account>(run(c)));
}

TEST_F(imports, an_import_is_applied_in_steps) {
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

// ---- with keys ----

struct imports_with_keys : imports {
    using fault = import_tasks::key_fault_kind;

    void add(int n, const std::string& key, std::int64_t after = 0) {
        attributes all{{"description", "d"}};
        if (!key.empty()) all.emplace("key", key);
        c_.tasks.push_back({uuid_of(n), std::move(all), after});
    }

    // The rejected tasks: index, kind of error, and the other keys it names.
    using told = std::vector<std::tuple<std::size_t, fault, std::string>>;
    told faults() {
        told all;
        const auto seq = head().seq;
        const auto answer = run(c_);
        for (const auto& each : std::get<import_tasks::keys_rejected>(answer).faults) {
            EXPECT_EQ(each.key, value_of(c_.tasks[each.task].attributes, "key"));
            all.emplace_back(each.task, each.kind, each.other);
        }
        EXPECT_EQ(head().seq, seq);
        return all;
    }

    import_tasks c_{.account = account_, .with_keys = true};
};

TEST_F(imports_with_keys, all_key_conflicts_are_listed_and_nothing_is_imported) {
    run(create_series{account_ref{account_}, "INC", "inc", reset_policy::daily});
    run(create_series{.account = account_ref{account_}, .prefix = "GAP", .allows_gaps = true});
    send({create(uuid_of(90)), create(uuid_of(91))});
    ASSERT_EQ(attribute(uuid_of(91), "key"), "SYN-2");
    const std::string tomorrow =
        period_of(now_ + std::chrono::hours{24}, reset_policy::daily, "UTC");
    add(0, "SYN-3");
    add(1, "no key");
    add(2, "OLD-1");
    add(3, "SYN-1");
    add(4, "SYN-3");
    add(5, "SYN-6");
    add(6, "INC-" + tomorrow + "-1");
    add(7, "INC-1");
    add(8, "GAP-1000001");
    add(91, "SYN-1");
    add(90, "syn-1");
    add(9, "GAP-5");
    add(10, "GAP-3");
    add(11, "GAP-5");
    const std::string first = to_string(uuid_of(90));
    EXPECT_EQ(faults(), (told{{1, fault::not_a_key, ""},
                              {2, fault::unknown_prefix, "OLD"},
                              {3, fault::number_taken, first},
                              {4, fault::number_taken, "SYN-3"},
                              {5, fault::gap, "SYN-4"},
                              {6, fault::other_period, "INC"},
                              {7, fault::other_period, "INC"},
                              {8, fault::too_far_ahead, "GAP-0"},
                              {9, fault::uuid_taken, "SYN-2"},
                              {13, fault::number_taken, "GAP-5"}}));
    EXPECT_FALSE(find(uuid_of(0)));
    c_.check_only = true;
    EXPECT_EQ(faults().size(), 10u);
}

TEST_F(imports_with_keys, keys_are_kept_and_tasks_without_one_are_numbered_between) {
    run(create_series{.account = account_ref{account_}, .prefix = "GAP", .allows_gaps = true});
    add(1, "SYN-1");
    add(2, "");
    add(3, "SYN-3");
    add(7, "GAP-7");
    add(5, "GAP-5");
    const auto done = std::get<import_tasks::done>(run(c_));
    EXPECT_EQ(std::tuple(done.imported, done.keys_kept, done.keys_left_out), std::tuple(5, 4, 0));
    for (const auto& t : c_.tasks) {
        const std::string_view key = value_of(t.attributes, "key");
        EXPECT_EQ(attribute(t.uuid, "key"), key.empty() ? "SYN-2" : key);
    }
    const auto again = std::get<import_tasks::done>(run(c_));
    EXPECT_EQ(std::tuple(again.imported, again.there_already), std::tuple(0, 5));
}

TEST_F(imports_with_keys, a_task_without_a_key_cannot_take_the_number_of_a_later_one) {
    add(1, "");
    add(2, "SYN-1");
    EXPECT_EQ(faults(), (told{{1, fault::number_taken, "SYN-1"}}));
}

TEST_F(imports_with_keys, a_check_counts_the_tasks_before_its_part) {
    c_.check_only = true;
    add(21, "SYN-21", 20);
    add(22, "SYN-22", 21);
    const auto seq = head().seq;
    const auto done = std::get<import_tasks::done>(run(c_));
    EXPECT_EQ(std::tuple(done.imported, done.key_attribute), std::tuple(2, "key"));
    EXPECT_EQ(head().seq, seq);
    EXPECT_FALSE(find(uuid_of(21)));
    c_.check_only = false;
    EXPECT_EQ(faults(), (told{{0, fault::gap, "SYN-1"}, {1, fault::gap, "SYN-1"}}));
}

TEST_F(imports_with_keys, a_check_in_steps_counts_from_step_to_step) {
    c_.check_only = true;
    for (int n = 1; n <= 20; ++n) add(n, n % 2 == 0 ? "SYN-" + std::to_string(n) : "");
    c_.work_max = 3'000;
    int steps = 0;
    while (!c_.tasks.empty()) {
        const auto answer = run(c_);
        const auto* const done = std::get_if<import_tasks::done>(&answer);
        ASSERT_TRUE(done);
        c_.counted = done->counted;
        c_.tasks.erase(c_.tasks.begin(),
                       c_.tasks.begin() + static_cast<std::ptrdiff_t>(done->taken));
        ++steps;
    }
    EXPECT_GT(steps, 3);
}

}  // namespace
}  // namespace callsign
