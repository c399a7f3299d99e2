// The feed: each change once, in order, with the state of the task at that change.

#include "../fixture.hpp"

#include <callsign/rules/rows/tasks.hpp>

namespace callsign {
namespace {

class feed : public managed_account {
  protected:
    read_changes::part read(feed_place after, std::size_t limit = 1000,
                            std::optional<task_filter> filter = {},
                            std::size_t work_max = step_work_max) {
        return std::get<read_changes::part>(
            ask(read_changes{account_, after, {}, limit, std::move(filter), now_, work_max}));
    }
    void edit(int n, std::string name, std::optional<std::string> value) {
        edit_task c;
        c.account = account_;
        c.task = uuid_of(n);
        c.changes.emplace_back(std::move(name), std::move(value));
        ASSERT_TRUE(std::holds_alternative<edit_task::edited>(run(c)));
    }
    void purge(int n) {
        edit_task c;
        c.account = account_;
        c.task = uuid_of(n);
        c.purge = true;
        ASSERT_TRUE(std::holds_alternative<edit_task::edited>(run(c)));
    }
    static std::vector<std::string> texts(const read_changes::part& all) {
        std::vector<std::string> found;
        for (const task_change& c : all.changes) {
            found.push_back(
                std::to_string(c.place.seq) + " " +
                (c.task.purged ? "purged" : std::string(value_of(c.task.attributes, "p"))));
        }
        return found;
    }
    using lines = std::vector<std::string>;
};

TEST_F(feed, shows_each_change_with_the_task_as_it_was) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "a")});            // version 1, and its key 2
    edit(1, "p", "b");                                                   // version 3
    send({update(uuid_of(1), "q", "x"), update(uuid_of(1), "p", "c")});  // version 4
    const auto all = read({});
    EXPECT_EQ(texts(all), (lines{"1 a", "2 a", "3 b", "4 c"}));
    EXPECT_EQ(all.next, (feed_place{4}));
    EXPECT_EQ(all.last, 4);
    EXPECT_FALSE(all.has_more);
    EXPECT_EQ(all.mark, mark_of_version(head().version));
    EXPECT_EQ(all.changes[0].by, "laptop");
    EXPECT_EQ(all.changes[0].task.attributes.at("key"), "SYN-1");
    EXPECT_EQ(all.changes[0].task.last_seq, 2);
    EXPECT_EQ(all.changes[0].changed, (lines{"p"}));
    EXPECT_EQ(all.changes[1].changed, (lines{"key"}));
    EXPECT_EQ(all.changes[1].by, "");
    EXPECT_EQ(all.changes[2].changed, (lines{"modified", "p"}));
    EXPECT_EQ(all.changes[3].changed, (lines{"p", "q"}));
    EXPECT_EQ(texts(read({2})), (lines{"3 b", "4 c"}));
    EXPECT_EQ(texts(read({4})), lines{});
}

TEST_F(feed, resumes_in_the_middle_of_a_version) {
    operations all;
    for (int n = 1; n <= 5; ++n) {
        all.push_back(create(uuid_of(n)));
        all.push_back(update(uuid_of(n), "p", std::to_string(n)));
    }
    key_attribute_ = "";
    send(all);
    edit(1, "p", "again");
    lines seen;
    feed_place at;
    for (int pages = 0; pages < 20; ++pages) {
        const auto some = read(at, 2);
        EXPECT_LE(some.changes.size(), 2u);
        for (auto& text : texts(some)) seen.push_back(text);
        at = some.next;
        if (!some.has_more) break;
    }
    EXPECT_EQ(seen, (lines{"1 1", "1 2", "1 3", "1 4", "1 5", "2 again"}));
    EXPECT_EQ(texts(read({1, 4})), (lines{"1 5", "2 again"}));
    // With the minimum of work a page has exactly one change.
    seen.clear();
    for (at = {}; seen.size() < 6;) {
        const auto some = read(at, 100, {}, 1);
        ASSERT_EQ(some.changes.size(), 1u);
        seen.push_back(texts(some).front());
        at = some.next;
    }
    EXPECT_EQ(seen.back(), "2 again");
}

// A page may end at its limit of changes or of work; the next one resumes there.
TEST_F(feed, pages_of_every_size_skip_nothing) {
    for (int v = 0; v < 6; ++v) {
        operations all;
        for (int n = 3 * v; n < 3 * v + 3; ++n) {
            all.push_back(create(uuid_of(n)));
            all.push_back(update(uuid_of(n), "p", std::string(100 * (n % 4), 'x')));
        }
        send(all);
        edit(3 * v, "p", std::to_string(v));
    }
    std::vector<feed_place> expected;
    for (const task_change& c : read({}).changes) expected.push_back(c.place);
    ASSERT_EQ(expected.size(), 6u * 7);
    for (std::size_t limit : {1, 2, 3, 5, 100}) {
        for (std::size_t work_max = 1; work_max < 60'000; work_max += 1 + work_max / 3) {
            std::vector<feed_place> seen;
            feed_place at;
            for (bool has_more = true; has_more;) {
                const auto some = read(at, limit, {}, work_max);
                ASSERT_LE(some.changes.size(), limit);
                ASSERT_NE(some.next, at);
                for (const task_change& c : some.changes) seen.push_back(c.place);
                at = some.next;
                has_more = some.has_more;
            }
            ASSERT_EQ(seen, expected) << limit << " " << work_max;
        }
    }
}

// A version is read as a whole, so a page need not end within it because of its operations.
TEST_F(feed, a_large_version_is_read_once) {
    operations all;
    for (int n = 0; n < 200; ++n) {
        all.push_back(create(uuid_of(n)));
        for (int p = 0; p < 5; ++p) {
            all.push_back(update(uuid_of(n), "p" + std::to_string(p), std::string(50, 'x')));
        }
    }
    key_attribute_ = "";
    send(all);
    int pages = 0;
    for (feed_place at;; ++pages) {
        const auto some = read(at, 1000, {}, std::size_t{64} << 10);
        at = some.next;
        if (!some.has_more) break;
    }
    // A task costs about 1.5 KiB of work: some 40 fit on a page.
    EXPECT_LE(pages, 6);
}

// After the history has expired it is unknown whether the task matched the filter.
TEST_F(feed, a_task_that_may_have_left_a_filter_is_shown) {
    key_attribute_ = "";
    send({create(uuid_of(1)), update(uuid_of(1), "status", "pending")});
    send({create(uuid_of(2)), update(uuid_of(2), "status", "completed")});
    edit(1, "end", "1790000000");
    edit(1, "status", "completed");
    write([&](write_tx& tx) { history::forget(tx, now_ + milliseconds{1}, 2); });
    task_filter pending;
    pending.statuses = {task_status::pending};
    const auto shown = read({3}, 100, pending);
    ASSERT_EQ(shown.changes.size(), 1u);
    EXPECT_EQ(shown.changes[0].place.seq, 4);
}

// The task existed before, whatever else the version does to it.
TEST_F(feed, a_recreated_task_may_have_left_a_filter) {
    key_attribute_ = "";
    send({create(uuid_of(1)), update(uuid_of(1), "status", "pending")});
    edit(1, "p", "a");
    send({remove(uuid_of(1)), create(uuid_of(1)), update(uuid_of(1), "status", "completed")});
    write([&](write_tx& tx) { history::forget(tx, now_ + milliseconds{1}, 100); });
    task_filter pending;
    pending.statuses = {task_status::pending};
    EXPECT_EQ(read({2}, 100, pending).changes.size(), 1u);
}

// The key that the server adds to a new task is not shown by a filter that excludes the task.
TEST_F(feed, the_key_of_a_new_task_is_in_no_other_filter) {
    send({create(uuid_of(1)), update(uuid_of(1), "project", "work")});  // version 1, and its key 2
    task_filter home;
    home.statuses = {task_status::pending};
    home.project = "home";
    EXPECT_TRUE(read({}, 100, home).changes.empty());
    home.project = "work";
    EXPECT_EQ(read({}, 100, home).changes.size(), 2u);
}

TEST_F(feed, shows_nothing_of_a_purged_task) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "a")});
    edit(1, "p", "b");
    purge(1);
    const auto all = read({});
    EXPECT_EQ(texts(all), (lines{"1 purged", "2 purged", "3 purged", "4 purged"}));
    for (const task_change& c : all.changes) {
        EXPECT_EQ(c.task.uuid, uuid_of(1));
        EXPECT_EQ(c.task.numbered->number, 1);
        EXPECT_TRUE(c.task.attributes.empty());
        EXPECT_TRUE(c.changed.empty());
    }
    // A recreated task is shown again, with its former states.
    send({create(uuid_of(1)), update(uuid_of(1), "p", "c")});
    EXPECT_EQ(texts(read({2})), (lines{"3 b", "4 purged", "5 c", "6 c"}));
}

TEST_F(feed, a_filter_shows_matching_tasks_and_those_that_leave_it) {
    key_attribute_ = "";
    send({create(uuid_of(1)), update(uuid_of(1), "project", "home"), update(uuid_of(1), "p", "1")});
    send({create(uuid_of(2)), update(uuid_of(2), "project", "work"), update(uuid_of(2), "p", "2")});
    edit(1, "p", "1b");
    edit(1, "project", "work");
    edit(1, "p", "1c");
    edit(2, "project", "home.garden");
    task_filter home;
    home.statuses = {task_status::pending};
    home.project = "home";
    EXPECT_EQ(texts(read({}, 100, home)), (lines{"1 1", "3 1b", "4 1b", "6 2"}));
    edit(2, "status", "completed");
    EXPECT_EQ(texts(read({6}, 100, home)), (lines{"7 2"}));
    edit(2, "p", "2b");
    const auto rest = read({7}, 100, home);
    EXPECT_EQ(texts(rest), lines{});
    EXPECT_EQ(rest.next, (feed_place{8}));

    home.prefix = "SYN";
    EXPECT_EQ(texts(read({6}, 100, home)), (lines{"7 2"}));
    home.prefix = "NIX";
    EXPECT_TRUE(std::holds_alternative<unknown_series>(
        ask(read_changes{account_, {}, {}, 100, home, now_})));
}

TEST_F(feed, a_cursor_of_another_chain_is_noticed) {
    send({create(uuid_of(1))});
    edit(1, "p", "b");
    const auto mark = read({1}, 1).mark;
    const auto at = [&](std::int64_t seq, std::string of) {
        return ask(read_changes{account_, {seq}, std::move(of), 100, {}, now_});
    };
    EXPECT_TRUE(std::holds_alternative<read_changes::part>(at(2, mark)));
    EXPECT_TRUE(std::holds_alternative<read_changes::part>(at(0, mark_of_version({}))));
    for (const auto& answer : {at(1, mark), at(3, mark), at(4, mark)}) {
        if (std::holds_alternative<read_changes::part>(answer)) {
            ADD_FAILURE();
            continue;
        }
        EXPECT_EQ(std::get<read_changes::diverged>(answer).last, 3);
        EXPECT_EQ(std::get<read_changes::diverged>(answer).mark, read({3}).mark);
    }
}

TEST_F(feed, an_expired_cursor_is_reported) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "a")});
    edit(1, "p", "b");
    edit(1, "p", "c");
    const auto at = [&](feed_place after) {
        return ask(read_changes{account_, after, {}, 100, {}, now_});
    };
    write([&](write_tx& tx) { history::forget(tx, now_ + milliseconds{1}, 100); });
    for (const feed_place& gone : {feed_place{0}, feed_place{2}, feed_place{3, 1}}) {
        const auto answer = at(gone);
        ASSERT_TRUE(std::holds_alternative<read_changes::expired>(answer)) << gone.seq;
        EXPECT_EQ(std::get<read_changes::expired>(answer).oldest, 3);
        EXPECT_EQ(std::get<read_changes::expired>(answer).mark, mark_of_version(chain()[2].id));
    }
    EXPECT_EQ(texts(read({3})), (lines{"4 c"}));
    EXPECT_TRUE(read({4}).changes.empty());
}

}  // namespace
}  // namespace callsign
