// The tasks that are numbered, their order and series, and the attribute with the key.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

using numbering = managed_account;

TEST_F(numbering, new_tasks_are_numbered_in_their_order_and_get_their_keys_after) {
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

TEST_F(numbering, a_project_chooses_the_series) {
    run(create_series{account_, "HOME", "house"});
    send({create(uuid_of(1)), update(uuid_of(1), "project", "house"), create(uuid_of(2)),
          update(uuid_of(2), "project", "other")});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "HOME-1");
    EXPECT_EQ(attribute(uuid_of(2), "key"), "SYN-1");
}

TEST_F(numbering, without_a_key_attribute_no_version_with_keys_is_written) {
    key_attribute_ = "";
    send({create(uuid_of(1))});
    EXPECT_EQ(chain().size(), 1u);
    EXPECT_EQ(attribute(uuid_of(1), "key"), "(none)");
    EXPECT_EQ(key_of(*find(uuid_of(1))->numbered), "SYN-1");
    // The attribute then belongs to the client.
    send({update(uuid_of(1), "key", "mine")});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "mine");
}

TEST_F(numbering, the_key_attribute_may_have_another_name) {
    key_attribute_ = "callsign";
    send({create(uuid_of(1)), update(uuid_of(1), "key", "mine")});
    EXPECT_EQ(attribute(uuid_of(1), "callsign"), "SYN-1");
    EXPECT_EQ(attribute(uuid_of(1), "key"), "mine");
}

TEST_F(numbering, a_key_that_a_client_writes_is_corrected_once) {
    send({create(uuid_of(1))});
    const auto later = now_ + std::chrono::hours{48};  // the clock of the device is ahead
    send({update(uuid_of(1), "key", "MINE-1", later), update(uuid_of(1), "p", "v", later)});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
    EXPECT_EQ(attribute(uuid_of(1), "p"), "v");
    EXPECT_EQ(chain().size(), 4u);
    send({update(uuid_of(1), "key", std::nullopt, later)});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
    EXPECT_EQ(chain().size(), 6u);
    // A correct key needs no correction.
    send({update(uuid_of(1), "key", "SYN-1", later)});
    send({update(uuid_of(1), "p", "w", later)});
    EXPECT_EQ(chain().size(), 8u);
}

TEST_F(numbering, a_recreated_task_keeps_its_number) {
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

TEST_F(numbering, a_task_created_and_removed_in_one_version_takes_no_number) {
    const auto added = send({create(uuid_of(1)), remove(uuid_of(1)), create(uuid_of(2))});
    EXPECT_EQ(added.numbered, 1);
    EXPECT_FALSE(find(uuid_of(1)));
    EXPECT_EQ(attribute(uuid_of(2), "key"), "SYN-1");
    send({create(uuid_of(1))});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-2");
}

TEST_F(numbering, empty_tasks_templates_and_thousands_at_once_are_tasks_like_others) {
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

TEST_F(numbering, a_purged_number_is_not_used_again) {
    send({create(uuid_of(1))});
    edit_task c{account_, uuid_of(1)};
    c.purge = true;
    run(c);
    EXPECT_EQ(chain().back().operations, operations{remove(uuid_of(1))});
    send({create(uuid_of(2))});
    EXPECT_EQ(attribute(uuid_of(2), "key"), "SYN-2");
}

}  // namespace
}  // namespace callsign
