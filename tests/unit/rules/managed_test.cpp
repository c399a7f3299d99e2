// What single versions do to a managed account, case by case; that all of it fits together is
// proved in tests/property/managed_test.cpp.

#include "support/audit.hpp"
#include "support/collect.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/memory.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using kind = operation_kind;
using operations = std::vector<operation>;

constexpr time_point t0{milliseconds{1'700'000'000'000}};

class counted_ids final : public rules::id_source {
  public:
    // As real ones do they differ before their last bytes.
    uuid next(time_point now) override {
        ++drawn_;
        return make_uuid_v7(now, static_cast<std::uint32_t>(drawn_ & 0x3FFFF), drawn_);
    }

  private:
    std::uint64_t drawn_ = 0;
};

uuid uuid_of(int n) {
    return make_uuid_v7(t0, 1, static_cast<std::uint64_t>(n));
}

operation create(const uuid& id) {
    return {kind::create, id, {}, {}, {}};
}
operation remove(const uuid& id) {
    return {kind::remove, id, {}, {}, {}};
}
operation update(const uuid& id, std::string name, std::optional<std::string> value,
                 precise_time at = t0) {
    return {kind::update, id, std::move(name), std::move(value), at};
}

class managed : public ::testing::Test {
  protected:
    managed() {
        run(create_account{"board", "SYN", "t", {}, {}});
        account_ = store_->begin_read()->find_account("board")->id;
        write([&](write_tx& tx) {
            tx.put_device(
                {.client_id = laptop, .account = account_, .name = "laptop", .sealed_key = "key"});
            tx.put_device(
                {.client_id = phone, .account = account_, .name = "phone", .sealed_key = "key"});
        });
    }
    ~managed() override { EXPECT_EQ(testing::audit(*store_), std::vector<std::string>{}); }

    template <class Action>
    void write(Action action) {
        const auto tx = store_->begin_write();
        action(*tx);
        tx->commit();
    }

    template <class Command>
    typename Command::answer run(const Command& c) {
        const auto tx = store_->begin_write();
        auto answer =
            rules::apply(*tx, c, rules::moment{now_ += milliseconds{1}, ids_, key_attribute_});
        tx->commit();
        return answer;
    }

    add_version::answer send(const uuid& client, const uuid& parent, operations all) {
        return run(add_version{client, parent, std::move(all), account_, 0});
    }
    // From the end of the chain, all of it, as the handler does it.
    add_version::added send(operations all) {
        add_version c{laptop, head().version, std::move(all), account_, 0};
        add_version::added sum;
        do {
            const auto added = std::get<add_version::added>(run(c));
            c.operations.erase(c.operations.begin(),
                               c.operations.begin() + static_cast<std::ptrdiff_t>(added.taken));
            c.parent = sum.version = added.version;
            c.continues = true;
            sum.stale = sum.stale || added.stale;
            sum.numbered += added.numbered;
        } while (!c.operations.empty());
        return sum;
    }

    chain_head head() { return store_->begin_read()->head_of(account_); }
    std::optional<task> find(const uuid& id) {
        return store_->begin_read()->find_task(account_, id);
    }
    std::string attribute(const uuid& id, std::string_view name) {
        const auto found = find(id);
        if (!found || found->purged) return "(no task)";
        const auto value = found->attributes.find(name);
        return value == found->attributes.end() ? "(none)" : value->second;
    }
    std::vector<version> chain() { return store_->begin_read()->versions(account_, 0, 1'000'000); }
    find_child::answer child_of(const uuid& parent) {
        return rules::read(*store_->begin_read(), find_child{account_, parent});
    }

    // What somebody there comes to who has `own`.
    void follow(const uuid& from, task_map& own) {
        for (auto next = child_of(from);
             const auto* const version = std::get_if<find_child::next_version>(&next);
             next = child_of(version->id)) {
            for (const auto& o : version->operations) EXPECT_TRUE(carry_out(own, o));
        }
    }

    const uuid laptop = uuid_of(901);
    const uuid phone = uuid_of(902);
    std::unique_ptr<strict_memory_store> store_ = make_memory_store();
    counted_ids ids_;
    time_point now_ = t0;
    account_id account_;
    std::string key_attribute_ = "key";
};

// ---- numbers and keys ----

TEST_F(managed, new_tasks_are_numbered_in_their_order_and_get_their_keys_behind) {
    const auto added =
        send({create(uuid_of(2)), update(uuid_of(2), "description", "two"), create(uuid_of(1)),
              update(uuid_of(1), "description", "one"), update(uuid_of(1), "uda", "kept")});
    EXPECT_FALSE(added.stale);
    EXPECT_EQ(added.numbered, 2);
    EXPECT_EQ(key_of(*find(uuid_of(2))->numbered), "SYN-1");
    EXPECT_EQ(key_of(*find(uuid_of(1))->numbered), "SYN-2");
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-2");
    EXPECT_EQ(attribute(uuid_of(1), "uda"), "kept");
    const auto all = chain();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].id, added.version);
    EXPECT_EQ(all[0].operations.size(), 5u);
    EXPECT_EQ(all[1].operations, (operations{update(uuid_of(2), "key", "SYN-1", now_),
                                             update(uuid_of(1), "key", "SYN-2", now_)}));
    EXPECT_EQ(find(uuid_of(1))->numbered->seq, 1);
    EXPECT_EQ(find(uuid_of(1))->last_seq, 2);
}

// A version is read whole by whoever reads it: the keys of a large account come in several.
TEST_F(managed, an_opaque_account_gets_its_keys_behind_its_history) {
    constexpr int count = 10'001;
    const uuid client = uuid_of(903);
    manage_account c;
    c.account = account_ = run(register_client{client}).account.id;
    run(add_sealed_version{client, {}, "sealed", false, account_});
    c.head = head();
    c.history.push_back({1, c.head.version, {}, now_, {}});
    for (int n = 1; n <= count; ++n) {
        c.history[0].operations.push_back(create(uuid_of(n)));
        c.tasks.push_back({uuid_of(n), 1, now_, {}});
    }
    c.device_name = "shared";
    c.sealed_key = "sealed";
    const auto answer = run(c);
    EXPECT_EQ(std::get<manage_account::managed>(answer).tasks, count);
    const auto all = chain();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[1].operations.size(), count - 1u);
    ASSERT_EQ(all[2].operations.size(), 1u);
    EXPECT_EQ(all[2].operations[0].value, key_of(*find(uuid_of(count))->numbered));
    EXPECT_EQ(find(uuid_of(1))->last_seq, 2);
    EXPECT_EQ(find(uuid_of(count - 1))->last_seq, 2);
    EXPECT_EQ(find(uuid_of(count))->last_seq, 3);
    EXPECT_EQ(find(uuid_of(count))->numbered->number, count);
}

TEST_F(managed, a_project_chooses_the_series) {
    run(create_series{account_, "HOME", "house"});
    send({create(uuid_of(1)), update(uuid_of(1), "project", "house"), create(uuid_of(2)),
          update(uuid_of(2), "project", "other")});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "HOME-1");
    EXPECT_EQ(attribute(uuid_of(2), "key"), "SYN-1");
}

TEST_F(managed, without_a_key_attribute_nothing_is_written_behind) {
    key_attribute_ = "";
    send({create(uuid_of(1))});
    EXPECT_EQ(chain().size(), 1u);
    EXPECT_EQ(attribute(uuid_of(1), "key"), "(none)");
    EXPECT_EQ(key_of(*find(uuid_of(1))->numbered), "SYN-1");
    // Then the attribute is the client's own.
    send({update(uuid_of(1), "key", "mine")});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "mine");
}

TEST_F(managed, the_key_may_go_by_another_name) {
    key_attribute_ = "callsign";
    send({create(uuid_of(1)), update(uuid_of(1), "key", "mine")});
    EXPECT_EQ(attribute(uuid_of(1), "callsign"), "SYN-1");
    EXPECT_EQ(attribute(uuid_of(1), "key"), "mine");
}

TEST_F(managed, a_key_that_a_client_writes_is_put_right_once) {
    send({create(uuid_of(1))});
    const auto later = now_ + std::chrono::hours{48};  // its clock is ahead
    send({update(uuid_of(1), "key", "MINE-1", later), update(uuid_of(1), "p", "v", later)});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
    EXPECT_EQ(attribute(uuid_of(1), "p"), "v");
    EXPECT_EQ(chain().size(), 4u);
    send({update(uuid_of(1), "key", std::nullopt, later)});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
    EXPECT_EQ(chain().size(), 6u);
    // What is right needs no answer.
    send({update(uuid_of(1), "key", "SYN-1", later)});
    send({update(uuid_of(1), "p", "w", later)});
    EXPECT_EQ(chain().size(), 8u);
}

TEST_F(managed, a_task_that_comes_again_has_the_number_it_had) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "v")});
    send({remove(uuid_of(1))});
    EXPECT_TRUE(find(uuid_of(1))->purged);
    EXPECT_TRUE(find(uuid_of(1))->attributes.empty());
    EXPECT_EQ(chain().size(), 3u);
    send({create(uuid_of(2))});
    send({create(uuid_of(1)), update(uuid_of(1), "q", "w")});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
    EXPECT_EQ(attribute(uuid_of(1), "p"), "(none)");
    EXPECT_EQ(attribute(uuid_of(1), "q"), "w");
    EXPECT_EQ(attribute(uuid_of(2), "key"), "SYN-2");
}

TEST_F(managed, a_task_that_comes_and_goes_in_one_version_takes_no_number) {
    const auto added = send({create(uuid_of(1)), remove(uuid_of(1)), create(uuid_of(2))});
    EXPECT_EQ(added.numbered, 1);
    EXPECT_FALSE(find(uuid_of(1)));
    EXPECT_EQ(attribute(uuid_of(2), "key"), "SYN-1");
    send({create(uuid_of(1))});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-2");
}

TEST_F(managed, empty_tasks_templates_and_thousands_at_once_are_tasks_like_others) {
    operations all{create(uuid_of(1)), create(uuid_of(2)),
                   update(uuid_of(2), "status", "recurring"),
                   update(uuid_of(2), "recur", "weekly")};
    for (int n = 10; n < 5010; ++n) {
        all.push_back(create(uuid_of(n)));
        all.push_back(update(uuid_of(n), "description", "n"));
    }
    EXPECT_EQ(send(std::move(all)).numbered, 5002);
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
    EXPECT_EQ(attribute(uuid_of(5009), "key"), "SYN-5002");
    EXPECT_LT(chain().size(), 20u);
}

// ---- slots ----

TEST_F(managed, slots_that_wait_for_a_task_are_committed_with_it) {
    const auto wait = [&](std::string key) {
        reserve c{account_, std::move(key), {}, uuid_of(1), ""};
        return std::get<reserve::reserved>(run(c)).slot;
    };
    const slot_id one = wait("one"), two = wait("two");
    send({create(uuid_of(1)), update(uuid_of(1), "description", "by sync")});
    for (const slot_id id : {one, two}) {
        const auto given = std::get<receipted>(run(fulfil{id, "", {{"description", "by REST"}}}));
        EXPECT_TRUE(given.replayed);
        EXPECT_FALSE(given.receipt.created);
        EXPECT_EQ(key_of(given.receipt), "SYN-1");
    }
    EXPECT_EQ(attribute(uuid_of(1), "description"), "by sync");
}

TEST_F(managed, what_rest_makes_is_there_for_devices_with_its_key) {
    reserve c{account_, "k", {}, uuid_of(1), ""};
    const auto slot = std::get<reserve::reserved>(run(c)).slot;
    run(fulfil{slot, "", {{"description", "by REST"}}});
    const auto next = std::get<find_child::next_version>(child_of(uuid{}));
    task_map seen;
    for (const auto& o : next.operations) EXPECT_TRUE(carry_out(seen, o));
    EXPECT_EQ(seen.at(uuid_of(1)).at("key"), "SYN-1");
    EXPECT_TRUE(std::holds_alternative<up_to_date>(child_of(next.id)));
}

// ---- late versions ----

TEST_F(managed, a_late_version_is_transformed_and_its_device_led_back) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "old")});
    const uuid common = head().version;
    send({update(uuid_of(1), "p", "early", t0 + milliseconds{1}),
          update(uuid_of(1), "q", "by laptop")});
    const auto late = std::get<add_version::added>(
        send(phone, common, {update(uuid_of(1), "p", "later", t0 + milliseconds{2})}));
    EXPECT_TRUE(late.stale);
    EXPECT_EQ(attribute(uuid_of(1), "p"), "later");
    EXPECT_EQ(attribute(uuid_of(1), "q"), "by laptop");
    // The phone has p already; what it lacks is q.
    const auto back = std::get<find_child::next_version>(child_of(late.version));
    EXPECT_EQ(back.id, head().version);
    EXPECT_EQ(back.operations, (operations{update(uuid_of(1), "q", "by laptop")}));
    EXPECT_TRUE(std::holds_alternative<up_to_date>(child_of(back.id)));
    // On the chain there is only what it said.
    EXPECT_EQ(chain().back().operations,
              (operations{update(uuid_of(1), "p", "later", t0 + milliseconds{2})}));
}

TEST_F(managed, a_version_on_a_side_version_is_late_too) {
    const auto first = std::get<add_version::added>(send(laptop, uuid{}, {create(uuid_of(1))}));
    const auto side = std::get<add_version::added>(send(phone, uuid{}, {create(uuid_of(2))}));
    EXPECT_FALSE(first.stale);
    EXPECT_TRUE(side.stale);
    const auto again =
        std::get<add_version::added>(send(phone, side.version, {update(uuid_of(2), "p", "v")}));
    EXPECT_TRUE(again.stale);
    task_map own{{uuid_of(2), {{"p", "v"}}}};
    follow(again.version, own);
    EXPECT_EQ(own, testing::collect(*store_->begin_read(), account_, 10'000).tasks());
    EXPECT_EQ(own.at(uuid_of(2)).at("p"), "v");
    EXPECT_EQ(own.at(uuid_of(2)).at("key"), "SYN-2");
}

// Nobody else has touched its tasks, so nothing is transformed, and what it missed is not written
// down again; to the device it is the same.
TEST_F(managed, a_device_far_behind_is_led_back_over_all_it_missed) {
    uuid place{};
    task_map own;
    for (int n = 0; n < 5; ++n) {
        send({create(uuid_of(100 + n))});
        const operations mine{create(uuid_of(n)), update(uuid_of(n), "p", "v")};
        const auto late = std::get<add_version::added>(send(phone, place, mine));
        EXPECT_TRUE(late.stale);
        for (const auto& o : mine) EXPECT_TRUE(carry_out(own, o));
        place = late.version;
    }
    // One of its own tasks, which the server has given a key since.
    const auto again = std::get<add_version::added>(
        send(phone, place, {update(uuid_of(0), "p", "w"), update(uuid_of(0), "key", "X")}));
    own.at(uuid_of(0))["p"] = "w";
    own.at(uuid_of(0))["key"] = "X";
    follow(again.version, own);
    EXPECT_EQ(own, testing::collect(*store_->begin_read(), account_, 10'000).tasks());
    EXPECT_EQ(own.size(), 10u);
    EXPECT_EQ(own.at(uuid_of(0)).at("key"), key_of(*find(uuid_of(0))->numbered));
}

// It came and went within the segment, but it has come from elsewhere too: the Delete holds.
TEST_F(managed, a_late_delete_of_a_task_that_others_have_made_too_is_not_lost) {
    send({create(uuid_of(2))});
    const uuid common = head().version;
    send({create(uuid_of(1)), update(uuid_of(1), "p", "by laptop")});
    const auto late = std::get<add_version::added>(
        send(phone, common,
             {create(uuid_of(1)), update(uuid_of(1), "p", "v"), remove(uuid_of(1)),
              create(uuid_of(3)), remove(uuid_of(3))}));
    EXPECT_EQ(attribute(uuid_of(1), "p"), "(no task)");
    EXPECT_FALSE(find(uuid_of(3)));  // nobody else need ever hear of it
    task_map own{{uuid_of(2), {{"key", "SYN-1"}}}};
    follow(late.version, own);
    EXPECT_EQ(own, testing::collect(*store_->begin_read(), account_, 10'000).tasks());
}

TEST_F(managed, what_had_no_effect_is_not_on_the_chain) {
    send(
        {update(uuid_of(9), "p", "v"), remove(uuid_of(8)), create(uuid_of(1)), create(uuid_of(1))});
    EXPECT_EQ(chain()[0].operations, operations{create(uuid_of(1))});
}

TEST_F(managed, side_versions_are_forgotten_in_time) {
    send({create(uuid_of(1))});
    const auto late = std::get<add_version::added>(send(phone, uuid{}, {create(uuid_of(2))}));
    now_ += std::chrono::hours{1};
    run(forget_settled{slot_id{}, 10, std::chrono::hours{2}});
    EXPECT_TRUE(std::holds_alternative<find_child::next_version>(child_of(late.version)));
    run(forget_settled{slot_id{}, 10, milliseconds{1}});
    EXPECT_TRUE(std::holds_alternative<unknown_version>(child_of(late.version)));
    EXPECT_TRUE(std::holds_alternative<add_version::unknown_parent>(
        send(phone, late.version, {create(uuid_of(3))})));
}

// ---- refusals write nothing ----

TEST_F(managed, who_is_not_a_device_of_the_account_is_refused) {
    EXPECT_TRUE(
        std::holds_alternative<no_such_client>(send(uuid_of(999), uuid{}, {create(uuid_of(1))})));
    write([&](write_tx& tx) { tx.revoke_device(tx.find_device(phone)->id, now_); });
    EXPECT_TRUE(std::holds_alternative<device_revoked>(send(phone, uuid{}, {create(uuid_of(1))})));
    EXPECT_TRUE(std::holds_alternative<add_version::unknown_parent>(
        send(laptop, uuid_of(77), {create(uuid_of(1))})));
    EXPECT_EQ(head().seq, 0);
}

TEST_F(managed, a_task_does_not_outgrow_its_bound) {
    send({create(uuid_of(1)), update(uuid_of(1), "a", std::string(task_bytes_max - 20, 'x'))});
    const auto seq = head().seq;
    const auto refused = send(laptop, head().version,
                              {update(uuid_of(1), "b", std::string(40, 'y')), create(uuid_of(2))});
    EXPECT_EQ(std::get<task_too_large>(refused).task, uuid_of(1));
    EXPECT_EQ(head().seq, seq);
    EXPECT_FALSE(find(uuid_of(2)));
}

TEST_F(managed, who_has_missed_too_much_fetches_it_first) {
    send({create(uuid_of(1))});
    for (std::size_t n = 0; n <= add_version::missed_operations_max; n += 5'000) {
        send(operations(5'001, update(uuid_of(1), "p", "v")));
    }
    EXPECT_TRUE(std::holds_alternative<add_version::missed_too_much>(
        send(phone, uuid{}, {create(uuid_of(1)), update(uuid_of(1), "p", "w")})));
    EXPECT_TRUE(std::holds_alternative<add_version::added>(
        send(phone, head().version, {update(uuid_of(1), "p", "w")})));
    // Of what nothing else is about, nothing needs to be known; and to be led back has no bound.
    const auto late = std::get<add_version::added>(send(laptop, uuid{}, {create(uuid_of(2))}));
    EXPECT_TRUE(late.stale);
    task_map own{{uuid_of(2), {}}};
    follow(late.version, own);
    EXPECT_EQ(own, testing::collect(*store_->begin_read(), account_, 10'000).tasks());
}

TEST_F(managed, missed_versions_are_bounded_too) {
    send({create(uuid_of(1))});
    const uuid common = head().version;
    write([&](write_tx& tx) {
        for (std::int64_t n = 0; n <= add_version::missed_versions_max; ++n) {
            tx.append_version(account_, ids_.next(now_), now_, {});
        }
    });
    send({update(uuid_of(1), "p", "v")});
    EXPECT_TRUE(std::holds_alternative<add_version::missed_too_much>(
        send(phone, common, {update(uuid_of(1), "p", "w")})));
}

// ---- the way back ----

TEST_F(managed, a_late_device_is_led_back_version_by_version) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "0")});
    const uuid common = head().version;
    task_map own = testing::collect(*store_->begin_read(), account_, 10'000).tasks();
    send({update(uuid_of(1), "p", "1"), update(uuid_of(1), "q", "1")});
    send({update(uuid_of(1), "p", "2"), update(uuid_of(1), "r", "2")});
    const auto late = std::get<add_version::added>(
        send(phone, common, {update(uuid_of(1), "p", "late", t0 + milliseconds{9})}));
    const uuid on_chain = head().version;
    // What its own holds against is not among them, and where it stands on the way has a name, from
    // which it may even go on by itself.
    const auto first = std::get<find_child::next_version>(child_of(late.version));
    EXPECT_EQ(first.operations, operations{update(uuid_of(1), "q", "1")});
    const auto second = std::get<find_child::next_version>(child_of(first.id));
    EXPECT_EQ(second.operations, operations{update(uuid_of(1), "r", "2")});
    EXPECT_EQ(second.id, on_chain);

    const auto again = std::get<add_version::added>(
        send(phone, first.id, {update(uuid_of(1), "r", "mine", t0 + milliseconds{9})}));
    EXPECT_TRUE(again.stale);
    own.at(uuid_of(1))["p"] = "late";
    own.at(uuid_of(1))["q"] = "1";
    own.at(uuid_of(1))["r"] = "mine";
    follow(again.version, own);
    EXPECT_EQ(own, testing::collect(*store_->begin_read(), account_, 10'000).tasks());
}

// Past the last of its own a device is on the chain, and only the chain names that place.
TEST_F(managed, a_place_beyond_the_way_back_is_none) {
    send({create(uuid_of(1))});
    uuid name = std::get<add_version::added>(send(phone, uuid{}, {create(uuid_of(2))})).version;
    for (const int steps : {3, 4, 200}) {
        name.data[15] = static_cast<std::uint8_t>(steps);
        EXPECT_TRUE(std::holds_alternative<unknown_version>(child_of(name))) << steps;
    }
}

// A late version costs what it says, however much it has missed.
TEST_F(managed, a_side_version_copies_nothing_of_what_was_missed) {
    send({create(uuid_of(1)), create(uuid_of(2)), update(uuid_of(1), "p", "v")});
    const uuid common = head().version;
    for (int n = 0; n < 10; ++n) {
        operations large;
        for (int i = 0; i < 500; ++i) {
            large.push_back(update(uuid_of(2), "p" + std::to_string(i), std::string(100, 'x')));
        }
        large.push_back(update(uuid_of(1), "q", std::to_string(n)));
        send(std::move(large));
    }
    const auto late = std::get<add_version::added>(
        send(phone, common, {update(uuid_of(1), "q", "late", t0 + milliseconds{9})}));
    const auto side = store_->begin_read()->find_fork_version(account_, late.version);
    ASSERT_TRUE(side);
    EXPECT_EQ(side->own.size(), 1u);
    EXPECT_EQ(side->dropped.size(), 10u);
}

// The oldest go first, and whose own is gone begins where its last good sync ended.
TEST_F(managed, a_device_whose_side_version_is_forgotten_syncs_again) {
    send({create(uuid_of(1))});
    const uuid common = head().version;
    send({create(uuid_of(2))});
    const operations mine{update(uuid_of(1), "p", "mine")};
    const auto first = std::get<add_version::added>(send(phone, common, mine));
    const auto abandon = [&](std::int64_t times) {
        write([&](write_tx& tx) {
            for (std::int64_t n = 0; n < times; ++n) {
                tx.put_fork_version(
                    account_, {ids_.next(now_), 0, now_, {1}, {}, {}},
                    {add_version::fork_versions_max, add_version::fork_version_bytes_max});
            }
        });
    };
    abandon(add_version::fork_versions_max - 1);
    EXPECT_TRUE(std::holds_alternative<find_child::next_version>(child_of(first.version)));
    abandon(1);
    EXPECT_TRUE(std::holds_alternative<unknown_version>(child_of(first.version)));
    // As the client does it: what it had not finished is transformed over what it pulls.
    task_map own{{uuid_of(1), {{"key", "SYN-1"}}}};
    follow(common, own);
    EXPECT_EQ(own, testing::collect(*store_->begin_read(), account_, 10'000).tasks());
    EXPECT_EQ(own.at(uuid_of(1)).at("p"), "mine");
}

// ---- in steps ----

TEST_F(managed, a_large_segment_is_taken_in_steps) {
    add_version c{laptop, uuid{}, {}, account_, 0};
    for (int n = 0; n < 50; ++n) {
        c.operations.push_back(create(uuid_of(n)));
        c.operations.push_back(update(uuid_of(n), "p", "v"));
    }
    task_map own;
    for (const auto& o : c.operations) carry_out(own, o);
    c.work_max = 5'000;
    int steps = 0;
    std::int64_t numbered = 0;
    std::vector<uuid> told;
    while (!c.operations.empty()) {
        const auto added = std::get<add_version::added>(run(c));
        ASSERT_GT(added.taken, 0u);
        EXPECT_LT(added.taken, 20u);
        c.operations.erase(c.operations.begin(),
                           c.operations.begin() + static_cast<std::ptrdiff_t>(added.taken));
        c.parent = added.version;
        c.continues = true;
        numbered += added.numbered;
        told.push_back(added.version);
        ++steps;
    }
    EXPECT_GT(steps, 5);
    EXPECT_EQ(numbered, 50);
    EXPECT_EQ(attribute(uuid_of(49), "key"), "SYN-50");
    // The device gets all the keys, and of the names on the way only the last one is kept.
    follow(c.parent, own);
    EXPECT_EQ(own, testing::collect(*store_->begin_read(), account_, 100'000).tasks());
    told.pop_back();
    for (const uuid& id : told) {
        EXPECT_FALSE(store_->begin_read()->find_fork_version(account_, id));
    }
}

TEST_F(managed, what_one_step_takes_counts_the_tasks_it_touches) {
    send({create(uuid_of(1)), update(uuid_of(1), "a", std::string(100'000, 'x')),
          create(uuid_of(2)), update(uuid_of(2), "a", std::string(100'000, 'x'))});
    add_version c{laptop, head().version, {}, account_, 0};
    c.operations = {update(uuid_of(1), "p", "v"), update(uuid_of(2), "p", "v")};
    c.work_max = 150'000;
    EXPECT_EQ(std::get<add_version::added>(run(c)).taken, 1u);
    // But many changes of one large task are one step.
    c.parent = head().version;
    c.operations = operations(100, update(uuid_of(2), "p", "w"));
    c.work_max = 50'000;
    EXPECT_EQ(std::get<add_version::added>(run(c)).taken, 100u);
}

TEST_F(managed, a_segment_is_handed_over_in_steps) {
    operations all;
    EXPECT_EQ(step_of(all), 0u);
    all.push_back(update(uuid_of(1), "p", std::string(2 * step_work_max, 'x')));
    EXPECT_EQ(step_of(all), 1u);
    all = operations(3, update(uuid_of(1), "p", std::string(step_work_max / 2, 'x')));
    EXPECT_EQ(step_of(all), 1u);
    all = operations(1000, create(uuid_of(1)));
    EXPECT_EQ(step_of(all), 1000u);
    for (int n = 0; n < 1000; ++n) all[static_cast<std::size_t>(n)] = create(uuid_of(n));
    for (int n = 0; n < 1000; ++n) all.push_back(create(uuid_of(1000 + n)));
    EXPECT_LT(step_of(all), 2000u);
    EXPECT_GT(step_of(all), 500u);
}

TEST_F(managed, an_import_is_taken_in_steps) {
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

// As many changes of one task as a segment holds, in any order.
TEST_F(managed, the_last_change_of_an_attribute_holds) {
    operations all{create(uuid_of(1)), update(uuid_of(1), "b", "0"), update(uuid_of(1), "z", "0")};
    send(all);
    send({update(uuid_of(1), "z", std::nullopt), update(uuid_of(1), "c", "1"),
          update(uuid_of(1), "a", "1"), update(uuid_of(1), "c", "2"),
          update(uuid_of(1), "b", std::nullopt), update(uuid_of(1), "b", "2"),
          update(uuid_of(1), "none", std::nullopt)});
    const attributes expected{{"a", "1"}, {"b", "2"}, {"c", "2"}, {"key", "SYN-1"}};
    EXPECT_EQ(find(uuid_of(1))->attributes, expected);
    send({update(uuid_of(1), "d", "3"), remove(uuid_of(1)), create(uuid_of(1)),
          update(uuid_of(1), "e", "4")});
    EXPECT_EQ(find(uuid_of(1))->attributes, (attributes{{"e", "4"}, {"key", "SYN-1"}}));
}

// ---- changes by way of REST ----

TEST_F(managed, an_edit_is_a_version_that_says_what_changed) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "v"), update(uuid_of(1), "q", "w")});
    const auto before = find(uuid_of(1))->last_seq;
    edit_task c;
    c.account = account_;
    c.task = uuid_of(1);
    c.changes = {{"p", "new"}, {"q", std::nullopt}, {"r", std::nullopt}};
    c.if_seq = {before + 7, before};
    const auto edited = std::get<edit_task::edited>(run(c)).now;
    EXPECT_EQ(edited.last_seq, before + 1);
    EXPECT_EQ(edited.attributes.at("p"), "new");
    EXPECT_FALSE(edited.attributes.contains("q"));
    EXPECT_EQ(chain().back().operations.size(), 3u);  // p, q, modified

    EXPECT_TRUE(std::holds_alternative<edit_task::changed_since>(run(c)));
    c.if_seq.reset();
    EXPECT_EQ(std::get<edit_task::edited>(run(c)).now.last_seq, before + 1);  // nothing to do
    c.purge = true;
    EXPECT_TRUE(std::get<edit_task::edited>(run(c)).now.purged);
    EXPECT_EQ(std::get<ref_fault>(run(c)), ref_fault::task_deleted);
    c.task = uuid_of(2);
    EXPECT_EQ(std::get<ref_fault>(run(c)), ref_fault::task_not_found);
}

TEST_F(managed, a_list_that_is_given_whole_replaces_what_is_there_by_then) {
    send({create(uuid_of(1)), update(uuid_of(1), "tag_a", ""), update(uuid_of(1), "tag_b", "x")});
    edit_task c{account_, uuid_of(1), {{"tag_b", ""}, {"tag_c", ""}}, {"tag_", "dep_"}};
    send({update(uuid_of(1), "tag_late", ""), update(uuid_of(1), "tags", "kept")});
    const auto edited = std::get<edit_task::edited>(run(c)).now;
    for (const char* name : {"tag_a", "tag_late"}) EXPECT_FALSE(edited.attributes.contains(name));
    for (const char* name : {"tag_b", "tag_c"}) EXPECT_EQ(edited.attributes.at(name), "");
    EXPECT_EQ(edited.attributes.at("tags"), "kept");
    EXPECT_EQ(edited.attributes.at("key"), "SYN-1");
    // The same list again: nothing to do.
    EXPECT_EQ(std::get<edit_task::edited>(run(c)).now.last_seq, edited.last_seq);
}

TEST_F(managed, end_follows_the_status) {
    send({create(uuid_of(1)), update(uuid_of(1), "status", "pending")});
    const auto set = [&](std::string status, std::optional<std::string> end = {}) {
        edit_task c{account_, uuid_of(1), {{"status", std::move(status)}}};
        // Of which a recurring task has to have both.
        c.changes.emplace_back("due", "1800000000");
        c.changes.emplace_back("recur", "weekly");
        if (end) c.changes.emplace_back("end", std::move(end));
        run(c);
        return attribute(uuid_of(1), "end");
    };
    const auto seconds = [&] { return std::to_string(now_.time_since_epoch().count() / 1000); };
    const std::string ended = set("completed");
    EXPECT_EQ(ended, seconds());
    now_ += std::chrono::hours{1};
    EXPECT_EQ(set("completed"), ended);
    EXPECT_EQ(set("deleted"), ended);
    EXPECT_EQ(set("pending"), "(none)");
    EXPECT_EQ(set("deleted"), seconds());
    EXPECT_EQ(set("recurring"), "(none)");
    EXPECT_EQ(set("completed", "1700000001"), "1700000001");
    // A change that is not of the status leaves it.
    run(edit_task{account_, uuid_of(1), {{"p", "v"}}});
    EXPECT_EQ(attribute(uuid_of(1), "end"), "1700000001");
}

TEST_F(managed, an_edit_that_is_refused_writes_nothing) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "v")});
    const auto seq = head().seq;
    edit_task c{account_, uuid_of(1), {{"a", std::string(task_bytes_max, 'x')}}};
    EXPECT_EQ(std::get<task_too_large>(run(c)).task, uuid_of(1));
    c.changes = {{"p", "w"}};
    c.if_seq = std::vector<std::int64_t>{};  // none would do
    EXPECT_TRUE(std::holds_alternative<edit_task::changed_since>(run(c)));
    EXPECT_EQ(head().seq, seq);
    EXPECT_EQ(attribute(uuid_of(1), "p"), "v");
}

TEST_F(managed, a_purged_number_is_not_used_again) {
    send({create(uuid_of(1))});
    edit_task c{account_, uuid_of(1)};
    c.purge = true;
    run(c);
    EXPECT_EQ(chain().back().operations, operations{remove(uuid_of(1))});
    send({create(uuid_of(2))});
    EXPECT_EQ(attribute(uuid_of(2), "key"), "SYN-2");
}

// ---- tasks taken over ----

TEST_F(managed, imported_tasks_are_one_version_and_numbered_in_their_order) {
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

TEST_F(managed, importing_again_changes_nothing) {
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

TEST_F(managed, a_device_that_changed_its_task_after_the_import_was_made_is_newer) {
    const auto modified = t0 - std::chrono::hours{2};
    const std::string seconds = std::to_string(modified.time_since_epoch().count() / 1000);
    run(import_tasks{account_, {{uuid_of(1), {{"p", "exported"}, {"modified", seconds}}}}});
    send(phone, uuid{},
         {create(uuid_of(1)), update(uuid_of(1), "p", "newer", modified + std::chrono::hours{1})});
    EXPECT_EQ(attribute(uuid_of(1), "p"), "newer");
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
}

TEST_F(managed, an_import_that_is_refused_writes_nothing) {
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

// ---- everything at once ----

TEST_F(managed, all_tasks_are_read_with_the_version_they_are_of) {
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

// ---- tasks that Taskwarrior cannot keep ----

// A device may have made it what it is: an edit answers for what it changes itself.
TEST_F(managed, an_edit_is_refused_for_what_it_does_and_not_for_what_it_finds) {
    send({create(uuid_of(1)), update(uuid_of(1), "status", "recurring"),
          update(uuid_of(1), "until", "1600000000")});
    using changes = std::vector<std::pair<std::string, std::optional<std::string>>>;
    const auto edited = [&](changes wanted, bool purge = false) {
        edit_task c{account_, uuid_of(1), std::move(wanted)};
        c.purge = purge;
        return run(c);
    };
    const auto said = edited({{"description", "said"}});
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(said));
    const auto again = edited({{"until", "1600000001"}});
    ASSERT_TRUE(std::holds_alternative<task_not_valid>(again));
    EXPECT_EQ(std::get<task_not_valid>(again).faults.front().attribute, "until");
    EXPECT_TRUE(std::holds_alternative<task_not_valid>(edited({{"recur", "often"}})));
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(
        edited({{"recur", "weekly"}, {"due", "1800000000"}, {"until", "1900000000"}})));
    EXPECT_TRUE(std::holds_alternative<task_not_valid>(edited({{"due", std::nullopt}})));
    const auto last = chain().back();
    EXPECT_EQ(attribute(uuid_of(1), "due"), "1800000000");
    EXPECT_EQ(last.operations.front().property, "due");
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(edited({}, true)));
}

// Read in steps while everything changes: what is read is one state.
TEST_F(managed, all_tasks_are_read_in_steps_while_they_change) {
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
        // Of those read already and of those to come; gone, come back, new.
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
