// Goal: unusual uses of Taskwarrior work on a managed account: client-assigned keys, templates and
// duplicates, unknown attributes, a thousand tasks at once, a task that is purged and imported
// again.

#include "managed_taskwarrior.hpp"
#include "support/recording_proxy.hpp"

#include <fstream>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

TEST_F(managed_taskwarrior_test, a_key_that_a_client_writes_is_corrected_without_a_loop) {
    begin();
    const auto laptop = make_device("laptop");
    const auto phone = make_device("phone");
    import_and_sync(*laptop, 1, 2);
    expect_done(phone->sync());

    const std::int64_t before = versions();
    expect_done((*laptop)({numbered_uuid(1), "modify", "key:FOO"}));
    expect_done(laptop->sync());
    EXPECT_EQ(key_of(*laptop, "Imported 1"), "SYN-1") << "missing at the end of the same sync";
    EXPECT_EQ(versions() - before, 2) << "the client's version and the correction";
    // Concurrent keys on both devices; one of them is empty.
    expect_done((*laptop)({numbered_uuid(2), "modify", "key:BAR"}));
    expect_done((*phone)({numbered_uuid(2), "modify", "key:"}));
    expect_done((*phone)({numbered_uuid(1), "modify", "key:SYN-2"}));
    expect_done(laptop->sync());
    expect_done(phone->sync());
    EXPECT_EQ(key_of(*phone, "Imported 1"), "SYN-1");
    EXPECT_EQ(key_of(*phone, "Imported 2"), "SYN-2");

    const std::int64_t settled = versions();
    for (int round = 0; round < 3; ++round) {
        expect_done(laptop->sync());
        expect_done(phone->sync());
    }
    EXPECT_EQ(versions(), settled);
    expect_keys_to(expect_agreement({laptop.get(), phone.get()}), 2);
}

TEST_F(managed_taskwarrior_test, without_a_key_attribute_a_key_is_the_clients_own) {
    const std::string file = temp_path("callsign.toml").string();
    std::ofstream(file) << "[sync]\nkey_attribute = \"\"\n";
    begin({"--config", file});
    const auto laptop = make_device("laptop");
    const auto phone = make_device("phone");
    for (const taskwarrior* const device : {laptop.get(), phone.get()}) {
        device->configure("uda.key.type=string\nuda.key.label=Key");
    }
    expect_done((*laptop)({"add", "With its own", "key:MINE"}));
    expect_done((*laptop)({"add", "With none"}));
    expect_done(laptop->sync());
    EXPECT_EQ(versions(), 1);
    expect_done(phone->sync());
    EXPECT_EQ(key_of(*phone, "With its own"), "MINE");
    EXPECT_EQ(key_of(*phone, "With none"), "");
    expect_done((*phone)({"key.is:MINE", "modify", "key:OURS"}));
    expect_done(phone->sync());
    expect_done(laptop->sync());
    EXPECT_EQ(key_of(*laptop, "With its own"), "OURS");
    EXPECT_EQ(differences(tasks_of(*laptop), tasks_of(*phone)), "");
    // The task has a number nevertheless.
    EXPECT_EQ(text_in(show("SYN-1"), "description"), "With its own");
    EXPECT_EQ(text_in(show("SYN-2"), "description"), "With none");
    expect_sound();
}

// Taskwarrior copies the template with its key to create an instance; so does `duplicate`.
TEST_F(managed_taskwarrior_test, templates_their_instances_and_copies_have_keys_of_their_own) {
    begin();
    const auto laptop = make_device("laptop");
    const auto phone = make_device("phone");
    // Otherwise each device would create instances.
    phone->configure("recurrence=no");
    expect_done((*laptop)({"add", "Every week", "recur:weekly", "due:tomorrow"}));
    expect_done(laptop->sync());
    EXPECT_EQ(text_in(show("SYN-1"), "status"), "recurring");
    expect_done((*laptop)({"rc.recurrence.limit=3", "list"}));
    expect_done(laptop->sync());
    expect_done((*laptop)({"key.is:SYN-2", "duplicate"}));
    expect_done(laptop->sync());
    expect_done(phone->sync());
    laptop->configure("recurrence=no");
    const auto agreed = expect_agreement({laptop.get(), phone.get()});
    ASSERT_GE(agreed.size(), 3u);
    expect_keys_to(agreed, static_cast<int>(agreed.size()));
    EXPECT_EQ(show("SYN-2").at("attributes").at("parent"), show("SYN-1").at("uuid"));
}

TEST_F(managed_taskwarrior_test, unknown_attributes_are_kept) {
    begin();
    const auto laptop = make_device("laptop");
    const auto phone = make_device("phone");
    laptop->configure("uda.size.type=string\nuda.weight.type=numeric");
    expect_done((*laptop)({"add", "Heavy", "size:very big", "weight:12"}));
    expect_done(laptop->sync());
    expect_done(phone->sync());
    // On the phone these instances have no template.
    expect_done((*phone)({"1", "modify", "Heavier", "+t"}));
    expect_done(phone->sync());
    expect_done(laptop->sync());
    laptop->configure("uda.size.type=\nuda.weight.type=");
    const auto agreed = expect_agreement({laptop.get(), phone.get()});
    ASSERT_EQ(agreed.size(), 1u);
    const std::string uuid = agreed.begin()->first;
    EXPECT_EQ(value_of(agreed, uuid, "size"), "very big");
    EXPECT_EQ(value_of(agreed, uuid, "description"), "Heavier");
    EXPECT_EQ(show("SYN-1").at("attributes").at("size"), "very big");
}

TEST_F(managed_taskwarrior_test, a_thousand_tasks_may_come_in_one_segment) {
    begin();
    recording_proxy wire(s->port());
    const auto laptop = make_device("laptop");
    laptop->move_to(wire.port());
    constexpr int tasks = 1'000;
    // Completed, because Taskwarrior scans all pending tasks for each imported one.
    import_and_sync(*laptop, 1, tasks, {{"status", "completed"}, {"end", "20261102T080000Z"}});
    EXPECT_EQ(wire.count("POST", "/v1/client/add-version/", 200), 1);
    // In a few steps, each followed by a version with keys.
    EXPECT_GE(versions(), 2);
    EXPECT_LE(versions(), 10);
    EXPECT_EQ(versions() % 2, 0);
    const auto phone = make_device("phone");
    expect_done(phone->sync());
    const auto known = tasks_of(*phone);
    EXPECT_EQ(differences(tasks_of(*laptop), known), "");
    expect_keys_to(known, tasks);
    for (const int n : {1, 2, 500, tasks}) {
        EXPECT_EQ(value_of(known, numbered_uuid(n), "key"), "SYN-" + std::to_string(n));
    }
    expect_sound();
}

TEST_F(managed_taskwarrior_test, a_task_that_is_purged_and_comes_again_has_the_key_it_had) {
    begin();
    const auto laptop = make_device("laptop");
    const auto phone = make_device("phone");
    import_and_sync(*laptop, 1, 3);
    expect_done(phone->sync());
    expect_done((*laptop)({numbered_uuid(2), "modify", "+old"}));
    expect_done((*laptop)({numbered_uuid(2), "delete"}));
    expect_done((*laptop)({numbered_uuid(2), "purge"}));
    expect_done(laptop->sync());
    show("SYN-2", 410);
    import_and_sync(*laptop, 2, 2);
    EXPECT_EQ(key_of(*laptop, "Imported 2"), "SYN-2");
    // Deleted and restored between two syncs, while the other device has changed it.
    expect_done((*phone)({numbered_uuid(3), "modify", "priority:L"}));
    expect_done((*laptop)({numbered_uuid(3), "delete"}));
    expect_done((*laptop)({numbered_uuid(3), "purge"}));
    import_and_sync(*laptop, 3, 4);
    expect_done(phone->sync());
    expect_done(laptop->sync());
    const auto agreed = expect_agreement({laptop.get(), phone.get()});
    expect_keys_to(agreed, 4);
    EXPECT_FALSE(agreed.at(numbered_uuid(2)).contains("tags"));
    EXPECT_EQ(value_of(agreed, numbered_uuid(4), "key"), "SYN-4");
}

}  // namespace
}  // namespace callsign::testing
