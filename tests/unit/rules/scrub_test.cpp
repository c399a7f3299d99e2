// The text of purged tasks is removed from the chain, history and feed; all else stays unchanged.

#include "support/scrub.hpp"

#include "fixture.hpp"

#include <callsign/rules/rows/tasks.hpp>

namespace callsign {
namespace {

class scrubbing : public managed_account {
  protected:
    void purge(int n) {
        edit_task c{account_, uuid_of(n)};
        c.purge = true;
        ASSERT_TRUE(std::holds_alternative<edit_task::edited>(run(c)));
    }
    void scrub(std::size_t work_max = std::size_t{1} << 20) {
        testing::scrub_all([&](auto q) { return ask(q); },
                           [&](auto c) {
                               ++steps_;
                               return std::optional(run(c));
                           },
                           work_max);
    }
    operations all_operations() {
        operations all;
        for (const version& v : chain()) {
            all.insert(all.end(), v.operations.begin(), v.operations.end());
        }
        return all;
    }
    // The text of a task in the operations, in order; "-" for removed text.
    std::string said_of(int n) {
        std::string said;
        for (const operation& o : all_operations()) {
            if (o.uuid != uuid_of(n) || o.kind != operation_kind::update) continue;
            said += (said.empty() ? "" : " ") +
                    (is_scrubbed(o) ? "-" : o.property + "=" + o.value.value_or(""));
        }
        return said;
    }
    std::string stood(int n, std::int64_t seq) {
        const auto found = history::find_as_of(*store_->begin_read(), account_, uuid_of(n), seq);
        if (!found) return "(none)";
        return found->purged ? "purged" : std::string(value_of(found->attributes, "p"));
    }

    int steps_ = 0;
};

TEST_F(scrubbing, operations_keep_their_positions_and_lose_their_text) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "secret"), create(uuid_of(2)),
          update(uuid_of(2), "p", "kept")});
    send({update(uuid_of(1), "a name that is one", "x")});
    purge(1);
    operations expected = all_operations();
    for (operation& o : expected) {
        if (o.uuid != uuid_of(1) || o.kind != operation_kind::update) continue;
        callsign::scrub(o);
    }
    scrub();
    EXPECT_EQ(all_operations(), expected);
    EXPECT_EQ(said_of(2), "p=kept key=SYN-2");
    const auto sent = std::get<find_child::next_version>(child_of({})).operations;
    EXPECT_EQ(sent.size(), 3u);
    EXPECT_TRUE(std::ranges::none_of(sent, is_scrubbed));
    EXPECT_EQ(stood(2, 2), "kept");
    EXPECT_EQ(stood(1, 2), "purged");
    EXPECT_EQ(find(uuid_of(1))->numbered->number, 1);
    // The purges are complete, and are not repeated.
    EXPECT_TRUE(ask(find_purged{}).tasks.empty());
    steps_ = 0;
    scrub();
    EXPECT_EQ(steps_, 0);
}

// The chain is read once for all of them.
TEST_F(scrubbing, many_are_found_at_once) {
    constexpr int many = 501;
    operations all;
    for (int n = 0; n < many; ++n) {
        all.push_back(create(uuid_of(n)));
        all.push_back(update(uuid_of(n), "p", "secret"));
    }
    send(all);
    for (int n = 0; n < many; ++n) purge(n);
    EXPECT_EQ(ask(find_purged{}).tasks.size(), std::size_t{many});
}

// Its receipt names the version that created it the second time.
TEST_F(scrubbing, a_task_removed_and_recreated_before_the_conversion) {
    const uuid client = uuid_of(903);
    manage_account c;
    c.account = account_ = run(register_client{client}).account.id;
    const auto add = [&](operations what) {
        const uuid parent = head().version;
        run(add_sealed_version{client, parent, "sealed", false, account_});
        c.head = head();
        c.history.push_back({c.head.seq, c.head.version, parent, now_, std::move(what)});
    };
    add({create(uuid_of(1)), update(uuid_of(1), "p", "secret")});
    add({remove(uuid_of(1))});
    add({create(uuid_of(1)), update(uuid_of(1), "p", "kept")});
    c.tasks.push_back({uuid_of(1), 3, now_, {{"p", "kept"}}});
    c.device_name = "shared";
    c.sealed_key = "sealed";
    ASSERT_TRUE(std::holds_alternative<manage_account::managed>(run(c)));
    scrub();
    EXPECT_EQ(said_of(1).substr(0, 8), "- p=kept");
}

// Taskwarrior never writes such an attribute; another client of TaskChampion may.
TEST_F(scrubbing, an_attribute_without_a_name_is_scrubbed_like_others) {
    send({create(uuid_of(1)), update(uuid_of(1), "", "x")});
    const auto seq = head().seq;
    task_map own = tasks();
    const uuid then = head().version;
    EXPECT_EQ(own.at(uuid_of(1)).at(""), "x");
    const operation removal{operation_kind::update, uuid_of(1), "", std::nullopt, t0};
    send({removal});
    follow(then, own);
    EXPECT_EQ(own, tasks());
    EXPECT_FALSE(own.at(uuid_of(1)).contains(""));
    const auto all =
        std::get<read_changes::part>(ask(read_changes{account_, {seq}, {}, 100, {}, now_}));
    EXPECT_EQ(all.changes.at(0).changed, std::vector<std::string>{""});
    purge(1);
    scrub();
    EXPECT_EQ(said_of(1), "- - -");
}

// Devices that were offline, with changes of this task and of others.
TEST_F(scrubbing, offline_devices_converge_to_the_same_state) {
    for (const bool is_scrubbed : {false, true}) {
        const int one = is_scrubbed ? 1 : 11, two = one + 1;
        send({create(uuid_of(one)), update(uuid_of(one), "p", "a")});
        const uuid then = head().version;
        task_map own = tasks();
        send({update(uuid_of(one), "p", "b")});
        purge(one);
        send({create(uuid_of(two)), update(uuid_of(two), "p", "c")});
        if (is_scrubbed) scrub();
        const uuid from = std::get<add_version::added>(
                              send(phone, then,
                                   {update(uuid_of(one), "p", "late"), create(uuid_of(two + 1)),
                                    update(uuid_of(two + 1), "p", "new")}))
                              .version;
        // The state of the phone.
        carry_out(own, update(uuid_of(one), "p", "late"));
        carry_out(own, create(uuid_of(two + 1)));
        carry_out(own, update(uuid_of(two + 1), "p", "new"));
        follow(from, own);
        EXPECT_EQ(own, tasks());
        EXPECT_EQ(attribute(uuid_of(one), "p"), "(no task)");
        EXPECT_EQ(attribute(uuid_of(two + 1), "p"), "new");
    }
    // The replay of a new device has no operation without effect.
    task_map fresh;
    follow({}, fresh);
    EXPECT_EQ(fresh, tasks());
    EXPECT_EQ(said_of(1), "- - -");
}

// A device deletes the task and undoes that, in one version or in two.
TEST_F(scrubbing, a_recreated_task_stays) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "first")});
    send({remove(uuid_of(1)), create(uuid_of(1)), update(uuid_of(1), "p", "second")});
    const auto seq = head().seq;
    scrub();
    EXPECT_EQ(said_of(1), "- - p=second key=SYN-1");
    EXPECT_EQ(stood(1, 2), "purged");
    EXPECT_EQ(stood(1, seq), "second");
    send({remove(uuid_of(1))});
    const auto found = ask(find_purged{});
    send({create(uuid_of(1)), update(uuid_of(1), "p", "third")});
    send({remove(uuid_of(1))});
    // A sweep that knows only the earlier purge does not complete the later one.
    run(scrub_purged{account_, found.tasks});
    EXPECT_EQ(ask(find_purged{}).tasks.size(), 1u);
    scrub();
    EXPECT_EQ(said_of(1).find('='), std::string::npos) << said_of(1);
}

TEST_F(scrubbing, is_done_in_steps) {
    for (int n = 1; n <= 20; ++n) {
        send({create(uuid_of(n)), update(uuid_of(n), "p", std::string(1000, 'x'))});
        send({update(uuid_of(n), "p", "y")});
    }
    for (int n = 1; n <= 20; n += 2) purge(n);
    scrub(1);
    EXPECT_GT(steps_, 30);
    for (int n = 1; n <= 20; ++n) {
        EXPECT_EQ(said_of(n).find('=') == std::string::npos, n % 2 == 1) << n;
    }
}

// For an account with many purges the chain is read once for thousands of them.
TEST_F(scrubbing, one_reading_of_the_chain_is_for_many) {
    operations all;
    for (int n = 1; n <= 2'000; ++n) {
        all.push_back(create(uuid_of(n)));
        all.push_back(update(uuid_of(n), "p", "v"));
    }
    send(all);
    all.clear();
    for (int n = 1; n <= 2'000; ++n) all.push_back(remove(uuid_of(n)));
    send(all);
    EXPECT_EQ(ask(find_purged{}).tasks.size(), 2'000u);
    scrub();
    EXPECT_TRUE(ask(find_purged{}).tasks.empty());
    for (const operation& o : all_operations()) {
        ASSERT_TRUE(o.kind != operation_kind::update || is_scrubbed(o));
    }
}

TEST_F(scrubbing, an_account_removed_in_between_needs_no_scrub) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "a")});
    purge(1);
    const auto found = ask(find_purged{});
    run(delete_account{account_});
    now_ += std::chrono::hours{2};
    EXPECT_EQ(run(remove_deleted{std::chrono::hours{1}, 1'000'000}).removed, 1);
    EXPECT_TRUE(ask(find_purged{}).tasks.empty());
    EXPECT_FALSE(ask(find_purged_text{account_, found.tasks}).next);
    EXPECT_EQ(run(scrub_purged{account_, found.tasks, {1}}).over, 1u);
}

// This includes versions from before the purge: a late reader gets no text either.
TEST_F(scrubbing, the_feed_has_no_text_of_it) {
    send({create(uuid_of(1)), update(uuid_of(1), "named by a person", "secret")});
    purge(1);
    scrub();
    const auto all =
        std::get<read_changes::part>(ask(read_changes{account_, {}, {}, 100, {}, now_}));
    ASSERT_FALSE(all.changes.empty());
    for (const task_change& c : all.changes) {
        EXPECT_TRUE(c.task.purged);
        EXPECT_TRUE(c.task.attributes.empty());
        EXPECT_TRUE(c.changed.empty());
    }
    // A reader with the filter "pending" may have received the task, and gets its removal.
    task_filter pending{.statuses = {task_status::pending}};
    const auto some =
        std::get<read_changes::part>(ask(read_changes{account_, {2}, {}, 100, pending, now_}));
    ASSERT_EQ(some.changes.size(), 1u);
    EXPECT_EQ(some.changes[0].place.seq, head().seq);
}

}  // namespace
}  // namespace callsign
