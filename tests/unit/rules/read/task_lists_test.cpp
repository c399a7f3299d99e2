// Lists of tasks, page by page, while the account changes.

#include "unit/rules/fixture.hpp"

#include <callsign/domain/task_list.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rows/versions.hpp>

namespace callsign {
namespace {

class task_lists : public managed_account {
  protected:
    void add(int n, attributes all = {}) {
        import_tasks c{account_, {}};
        c.tasks.push_back({uuid_of(n), std::move(all)});
        ASSERT_TRUE(std::holds_alternative<import_tasks::done>(run(c)));
    }
    void set(int n, const std::string& name, std::optional<std::string> value) {
        edit_task c{account_, uuid_of(n)};
        c.changes = {{name, std::move(value)}};
        ASSERT_TRUE(std::holds_alternative<edit_task::edited>(run(c)));
    }
    static int number_of(const uuid& id) {
        for (int n = 0; n < 1'000; ++n) {
            if (uuid_of(n) == id) return n;
        }
        return -1;
    }
    list_tasks asking(std::size_t limit = 50, bool descending = false,
                      std::size_t work_max = step_work_max) {
        list_tasks q;
        q.account = account_;
        q.descending = descending;
        q.limit = limit;
        q.work_max = work_max;
        return q;
    }
    list_tasks::part part(const list_tasks& q) { return std::get<list_tasks::part>(ask(q)); }
    // Reads all pages; calls `between` after each.
    template <class Between>
    std::vector<int> all_of(list_tasks q, Between between) {
        q.account = account_;
        std::vector<int> seen;
        for (int pages = 0; pages < 1'000; ++pages) {
            auto page = part(q);
            EXPECT_LE(page.tasks.size(), q.limit);
            for (const task& t : page.tasks) seen.push_back(number_of(t.uuid));
            if (!page.next) return seen;
            q.after = std::move(page.next);
            between();
        }
        ADD_FAILURE() << "the list does not end";
        return seen;
    }
    std::vector<int> all_of(list_tasks q) {
        return all_of(std::move(q), [] {});
    }

    using numbers = std::vector<int>;
};

TEST_F(task_lists, come_in_the_order_of_keys_or_in_reverse) {
    run(create_series{account_, "HOME", "house"});
    for (int n = 1; n <= 5; ++n)
        add(n, n % 2 == 0 ? attributes{{"project", "house"}} : attributes{});
    EXPECT_EQ(all_of(asking()), (numbers{1, 3, 5, 2, 4}));
    EXPECT_EQ(all_of(asking(50, true)), (numbers{4, 2, 5, 3, 1}));
    list_tasks of_home;
    of_home.filter.prefix = "HOME";
    EXPECT_EQ(all_of(of_home), (numbers{2, 4}));
    of_home.filter.prefix = "NONE";
    of_home.account = account_;
    EXPECT_TRUE(std::holds_alternative<unknown_series>(ask(of_home)));
}

// This holds for any page size, and for any changes between two pages.
TEST_F(task_lists, each_page_resumes_where_the_last_one_ended) {
    run(create_series{account_, "HOME", "house"});
    for (int n = 1; n <= 40; ++n)
        add(n, n % 3 == 0 ? attributes{{"project", "house"}} : attributes{});
    for (const bool down : {false, true}) {
        for (const std::size_t limit : {1u, 2u, 7u, 100u}) {
            for (const std::size_t work : {1u, 5'000u, 10'000'000u}) {
                const list_tasks q = asking(limit, down, work);
                auto seen = all_of(q);
                std::sort(seen.begin(), seen.end());
                ASSERT_EQ(seen.size(), 40u) << limit << " " << work;
                for (int n = 1; n <= 40; ++n) EXPECT_EQ(seen[static_cast<std::size_t>(n - 1)], n);
            }
        }
    }
    int round = 0;
    auto seen = all_of(asking(3), [&] {
        ++round;
        set(round, "description", "changed");
        set(40 - round, "status", "completed");
        add(100 + round);
    });
    for (int n = 1; n <= 20; ++n) {
        EXPECT_EQ(std::count(seen.begin(), seen.end(), n), 1) << "it matched all the time";
    }
    for (const int n : seen) EXPECT_EQ(std::count(seen.begin(), seen.end(), n), 1) << n;
}

// A page of pending tasks does not read closed ones.
TEST_F(task_lists, cost_is_proportional_to_the_result) {
    for (int n = 1; n <= 60; ++n) add(n, {{"status", n % 20 == 0 ? "pending" : "completed"}});
    const list_tasks q = asking(10, false, 3 * 1'200);
    const auto page = part(q);
    EXPECT_EQ(page.tasks.size(), 3u);
    set(20, "status", "completed");
    set(1, "status", "pending");
    edit_task purge{account_, uuid_of(40)};
    purge.purge = true;
    run(purge);
    EXPECT_EQ(all_of(asking()), (numbers{1, 60}));
    list_tasks over;
    over.filter.statuses = {task_status::completed};
    EXPECT_EQ(all_of(over).size(), 57u);
}

TEST_F(task_lists, have_the_creator_of_a_task) {
    send({create(uuid_of(1))});
    write([&](write_tx& tx) {
        tokens::put(tx, account_, "pipeline", token_scope::write, sha256("other"), now_);
    });
    const auto token = tokens::of(*store_->begin_read(), account_).back().id;
    const auto slot = reserved("k", uuid_of(2));
    run(fulfil{slot, "", {{"description", "x"}}, token});
    add(3);
    const auto page = part(asking());
    ASSERT_EQ(page.tasks.size(), 3u);
    EXPECT_EQ(page.tasks[0].author_name, "laptop");
    EXPECT_EQ(page.tasks[1].author_name, "pipeline");
    EXPECT_EQ(page.tasks[2].author_name, "");
    const auto found = ask(find_task{account_, uuid_of(2)});
    EXPECT_EQ(std::get<task>(found).author_name, "pipeline");
    // An edit by another caller does not change the creator.
    edit_task c{account_, uuid_of(1)};
    c.changes = {{"description", "y"}};
    c.author = token;
    EXPECT_EQ(std::get<edit_task::edited>(run(c)).now.author_name, "laptop");
    const auto last = versions::some(*store_->begin_read(), account_, head().seq - 1, 1).front();
    EXPECT_EQ(last.author, author{token});
}

TEST_F(task_lists, a_scan_reads_pending_tasks_too_where_links_matter) {
    run(create_series{account_, "HOME", "house"});
    add(1, {{"project", "house"}, {"dep_" + to_string(uuid_of(2)), ""}});
    add(2);
    add(3, {{"status", "completed"}});
    scan_tasks q;
    q.account = account_;
    q.filter.prefix = "HOME";
    q.filter.is = {virtual_tag::blocked};
    for (const std::size_t work : {1u, 1'000'000u}) {
        q.work_max = work;
        q.after.reset();
        std::vector<scanned_task> all;
        do {
            auto found = std::get<scan_tasks::part>(ask(q));
            all.insert(all.end(), found.tasks.begin(), found.tasks.end());
            q.after = std::move(found.next);
        } while (q.after);
        ASSERT_EQ(all.size(), 2u);
        EXPECT_EQ(ordered(all, q.filter, {}), std::vector<uuid>{uuid_of(1)});
    }
    q.filter.is.clear();
    q.filter.prefix.clear();
    q.by = task_sort::due;
    EXPECT_EQ(std::get<scan_tasks::part>(ask(q)).tasks.size(), 2u);
}

TEST_F(task_lists, a_sorted_list_shows_only_tasks_that_still_match) {
    for (int n = 1; n <= 4; ++n) add(n);
    set(2, "status", "completed");
    edit_task purge{account_, uuid_of(3)};
    purge.purge = true;
    run(purge);
    find_listed_tasks q;
    q.account = account_;
    q.tasks = {uuid_of(4), uuid_of(3), uuid_of(2), uuid_of(9), uuid_of(1)};
    const auto found = ask(q);
    ASSERT_EQ(found.tasks.size(), 2u);
    EXPECT_EQ(found.tasks[0].uuid, uuid_of(4));
    EXPECT_EQ(found.tasks[1].uuid, uuid_of(1));
    EXPECT_EQ(found.looked_at, 5u);
    q.work_max = 1;
    EXPECT_EQ(ask(q).looked_at, 1u);
}

}  // namespace
}  // namespace callsign
