// Goal: users continue to use several stock Taskwarriors on one managed account, and every task has
// its number at the end of the sync that sent it. Method: the real programs; the tasks of all
// replicas, of REST and of a new device that starts from the server's snapshot must be equal.

#include "managed_taskwarrior.hpp"

#include "support/recording_proxy.hpp"
#include "support/sync_words.hpp"

#include <callsign/base/uuid.hpp>
#include <callsign/seal/envelope.hpp>
#include <callsign/wire/segment.hpp>

#include <array>
#include <csignal>
#include <gtest/gtest.h>
#include <thread>

namespace callsign::testing {
namespace {

TEST_F(managed_taskwarrior_test, the_first_sync_ends_with_the_keys_in_order) {
    begin();
    const auto laptop = make_device("laptop");
    const std::vector<std::string> words{"Alpha", "Beta", "Gamma", "Delta", "Epsilon"};
    for (const std::string& word : words) expect_done((*laptop)({"add", word}));
    expect_done(laptop->sync());
    for (std::size_t n = 0; n < words.size(); ++n) {
        EXPECT_TRUE(has(info(*laptop, "SYN-" + std::to_string(n + 1)), words[n])) << words[n];
    }
    expect_keys_to(expect_agreement({laptop.get()}), 5);
}

// The client sends the annotation in a separate version.
TEST_F(managed_taskwarrior_test, an_annotation_of_five_megabytes_comes_to_every_device) {
    begin();
    const auto laptop = make_device("laptop");
    const auto phone = make_device("phone");
    const std::string note(5'000'000, 'n');
    expect_done((*laptop)({"add", "Before"}));
    import_and_sync(*laptop, 1, 1,
                    {{"status", "pending"},
                     {"annotations", json::array{json::object{{"entry", "20261101T080001Z"},
                                                              {"description", note}}}}});
    expect_done((*laptop)({"add", "Behind"}));
    expect_done(laptop->sync());
    expect_done(phone->sync());
    expect_agreement({laptop.get(), phone.get()});
    EXPECT_TRUE(has(phone->exported(), note));
    EXPECT_EQ(edit(numbered_uuid(1), {{"status", "completed"}}), 200u);
    expect_done(phone->sync());
    expect_done((*phone)({numbered_uuid(1), "modify", "+read"}));
    expect_done(phone->sync());
    expect_done(laptop->sync());
    expect_agreement({laptop.get(), phone.get()});
    EXPECT_FALSE(has(s->child().errors(), "sync-trimmed"));
}

TEST_F(managed_taskwarrior_test, two_devices_and_rest_see_the_same_tasks) {
    begin();
    const auto laptop = make_device("laptop");
    const auto phone = make_device("phone");
    expect_done((*laptop)({"add", "Say its number", "project:home.door", "+loud", "priority:H",
                           "due:2026-12-24T18:30:00Z"}));
    expect_done((*laptop)({"add", "After that", "depends:1"}));
    expect_done((*laptop)({"1", "annotate", "with a note"}));
    expect_done(laptop->sync());
    expect_done(phone->sync());
    EXPECT_EQ(expect_agreement({laptop.get(), phone.get()}).size(), 2u);

    const json::object receipt = create("from-rest", {{"description", "Made over REST"},
                                                      {"project", "office"},
                                                      {"tags", {"calm", "late"}},
                                                      {"due", "2026-12-31T10:00:00Z"},
                                                      {"attributes", {{"room", "12"}}}});
    EXPECT_EQ(receipt.at("key"), "SYN-3");
    for (const taskwarrior* const device : {laptop.get(), phone.get()}) {
        expect_done(device->sync());
        EXPECT_TRUE(has(info(*device, "SYN-3"), "Made over REST"));
    }
    // The creation of a task that a device has already added returns its receipt.
    expect_done((*phone)({"add", "From the phone"}));
    expect_done(phone->sync());
    const std::string uuid = text_in(show("SYN-4"), "uuid");
    EXPECT_EQ(create("late", {{"description", "Again"}, {"uuid", uuid}}).at("created"), false);
    expect_done(laptop->sync());
    expect_keys_to(expect_agreement({laptop.get(), phone.get()}), 4);
}

TEST_F(managed_taskwarrior_test, changes_over_rest_are_in_the_next_sync) {
    begin();
    const auto laptop = make_device("laptop");
    import_and_sync(*laptop, 1, 5);
    EXPECT_EQ(edit("SYN-1", {{"description", "Changed over REST"},
                             {"priority", "L"},
                             {"tags", {"fine"}},
                             {"due", "2026-12-24T18:30:00Z"},
                             {"depends", {"SYN-5"}},
                             {"attributes", {{"room", "12"}}}}),
              200u);
    EXPECT_EQ(edit("SYN-2", {{"status", "completed"}}), 200u);
    EXPECT_EQ(erase("SYN-3"), 200u);
    EXPECT_EQ(erase("SYN-4", true), 204u);
    expect_done(laptop->sync());
    const task_table first = expect_agreement({laptop.get()});
    EXPECT_EQ(first.size(), 4u);
    EXPECT_EQ(value_of(first, numbered_uuid(1), "description"), "Changed over REST");
    EXPECT_EQ(value_of(first, numbered_uuid(2), "status"), "completed");
    EXPECT_EQ(value_of(first, numbered_uuid(3), "status"), "deleted");

    // Also changes lists that Taskwarrior has written, and deletes an attribute.
    expect_done((*laptop)({"key.is:SYN-1", "modify", "+mine", "wait:", "project:home"}));
    expect_done((*laptop)({"key.is:SYN-1", "annotate", "a note"}));
    expect_done((*laptop)({"key.is:SYN-5", "modify", "+old", "+older"}));
    expect_done(laptop->sync());
    EXPECT_EQ(edit("SYN-1", {{"tags", {"other"}},
                             {"due", nullptr},
                             {"depends", nullptr},
                             {"annotations", nullptr},
                             {"attributes", {{"room", nullptr}}}}),
              200u);
    EXPECT_EQ(edit("SYN-2", {{"status", "pending"}}), 200u);
    EXPECT_EQ(edit("SYN-5", {{"tags", nullptr}}), 200u);
    expect_done(laptop->sync());
    const task_table second = expect_agreement({laptop.get()});
    const json::object& changed = second.at(numbered_uuid(1));
    EXPECT_EQ(json::serialize(changed.at("tags")), R"(["other"])");
    for (const char* const gone : {"due", "depends", "annotations", "room"}) {
        EXPECT_FALSE(changed.contains(gone)) << gone;
    }
    EXPECT_FALSE(second.at(numbered_uuid(5)).contains("tags"));
    EXPECT_EQ(value_of(second, numbered_uuid(2), "status"), "pending");
}

// A device and REST concurrently change the same tasks.
TEST_F(managed_taskwarrior_test, the_same_tasks_changed_here_and_over_rest_come_together) {
    begin();
    const auto laptop = make_device("laptop");
    import_and_sync(*laptop, 1, 7);
    expect_done((*laptop)({numbered_uuid(1), "modify", "The older text", "priority:H"}));
    EXPECT_EQ(edit(numbered_uuid(1), {{"description", "The newer text"}, {"tags", {"t"}}}), 200u);
    EXPECT_EQ(edit(numbered_uuid(2), {{"description", "The older text"}}), 200u);
    expect_done((*laptop)({numbered_uuid(2), "modify", "The newer text"}));
    expect_done((*laptop)({numbered_uuid(3), "done"}));
    EXPECT_EQ(edit(numbered_uuid(3), {{"project", "home"}}), 200u);
    EXPECT_EQ(edit(numbered_uuid(4), {{"status", "completed"}}), 200u);
    expect_done((*laptop)({numbered_uuid(4), "modify", "project:home"}));
    expect_done((*laptop)({numbered_uuid(5), "modify", "Too late"}));
    EXPECT_EQ(erase(numbered_uuid(5), true), 204u);
    EXPECT_EQ(edit(numbered_uuid(6), {{"description", "Too late"}}), 200u);
    for (const int n : {6, 7}) {
        expect_done((*laptop)({numbered_uuid(n), "delete"}));
        expect_done((*laptop)({numbered_uuid(n), "purge"}));
    }
    EXPECT_EQ(erase(numbered_uuid(7), true), 204u);
    expect_done(laptop->sync());

    const task_table agreed = expect_agreement({laptop.get()});
    EXPECT_EQ(agreed.size(), 4u);
    EXPECT_EQ(value_of(agreed, numbered_uuid(1), "description"), "The newer text");
    EXPECT_EQ(value_of(agreed, numbered_uuid(1), "priority"), "H");
    EXPECT_TRUE(agreed.at(numbered_uuid(1)).contains("tags"));
    EXPECT_EQ(value_of(agreed, numbered_uuid(2), "description"), "The newer text");
    for (const int n : {3, 4}) {
        EXPECT_EQ(value_of(agreed, numbered_uuid(n), "status"), "completed");
        EXPECT_EQ(value_of(agreed, numbered_uuid(n), "project"), "home");
    }
    for (const int n : {5, 6, 7}) {
        show(numbered_uuid(n), 410);
        EXPECT_EQ(edit(numbered_uuid(n), {{"priority", "H"}}), 410u);
    }
}

TEST_F(managed_taskwarrior_test, what_was_added_offline_on_both_gets_keys_of_its_own) {
    begin();
    const auto laptop = make_device("laptop");
    const auto phone = make_device("phone");
    for (const char* const which : {"one", "two", "three"}) {
        expect_done((*laptop)({"add", "Laptop", which}));
        expect_done((*phone)({"add", "Phone", which}));
    }
    expect_done(phone->sync());
    expect_done(laptop->sync());
    // Each task gets its number with its own device's sync.
    EXPECT_EQ(key_of(*phone, "Phone one"), "SYN-1");
    EXPECT_EQ(key_of(*laptop, "Laptop one"), "SYN-4");
    expect_done(phone->sync());
    expect_keys_to(expect_agreement({laptop.get(), phone.get()}), 6);
}

// Both devices change the same tasks before either syncs.
TEST_F(managed_taskwarrior_test, the_same_tasks_changed_on_both_sides_come_together) {
    begin();
    const auto laptop = make_device("laptop");
    const auto phone = make_device("phone");
    constexpr int tasks = 8;
    for (const bool swapped : {false, true}) {
        const taskwarrior& first = swapped ? *phone : *laptop;
        const taskwarrior& second = swapped ? *laptop : *phone;
        const int base = swapped ? tasks : 0;
        const auto at = [&](int n) { return numbered_uuid(base + n); };
        import_and_sync(*laptop, base + 1, base + tasks);
        expect_done(phone->sync());

        expect_done(first({at(1), "modify", "priority:H"}));
        expect_done(second({at(1), "modify", "+fine"}));
        expect_done(second({at(2), "modify", "The older text"}));
        expect_done(first({at(2), "modify", "The newer text"}));
        expect_done(first({at(3), "done"}));
        expect_done(second({at(3), "modify", "project:home"}));
        expect_done(first({at(4), "modify", "project:home"}));
        expect_done(second({at(4), "delete"}));
        expect_done(first({at(5), "annotate", "one thing"}));
        expect_done(second({at(5), "annotate", "another thing"}));
        // Purged on one device and changed on the other: the purge wins, whichever syncs first.
        expect_done(first({at(6), "delete"}));
        expect_done(first({at(6), "purge"}));
        expect_done(second({at(6), "modify", "Too late"}));
        expect_done(first({at(7), "modify", "Too late"}));
        expect_done(second({at(7), "delete"}));
        expect_done(second({at(7), "purge"}));
        for (const taskwarrior* const each : {&first, &second}) {
            expect_done((*each)({at(8), "delete"}));
            expect_done((*each)({at(8), "purge"}));
        }
        expect_done(first.sync());
        expect_done(second.sync());
        expect_done(first.sync());

        const auto agreed = expect_agreement({laptop.get(), phone.get()});
        EXPECT_EQ(agreed.size(), swapped ? 10u : 5u);
        EXPECT_EQ(value_of(agreed, at(1), "priority"), "H");
        EXPECT_TRUE(agreed.at(at(1)).contains("tags"));
        EXPECT_EQ(value_of(agreed, at(2), "description"), "The newer text");
        EXPECT_EQ(value_of(agreed, at(3), "status"), "completed");
        EXPECT_EQ(value_of(agreed, at(3), "project"), "home");
        EXPECT_EQ(value_of(agreed, at(4), "status"), "deleted");
        EXPECT_EQ(value_of(agreed, at(4), "project"), "home");
        for (const int purged : {6, 7, 8}) show(at(purged), 410);
    }
}

// REST requests and another device's sync add versions between a device's last query and its own
// version. The device gets no conflict, and has everything at the end of the same sync.
TEST_F(managed_taskwarrior_test, a_stale_version_is_accepted_and_its_device_rebased) {
    begin();
    recording_proxy wire(s->port());
    const auto laptop = make_device("laptop");
    const auto phone = make_device("phone");
    laptop->move_to(wire.port());
    import_and_sync(*laptop, 1, 6);
    expect_done(phone->sync());
    for (int round = 0; round < 2; ++round) {
        const std::string mark = std::to_string(round);
        // Timestamps older and newer than the phone's changes to the same tasks.
        expect_done((*laptop)({numbered_uuid(1), "modify", "Of the laptop " + mark}));
        expect_done((*phone)({numbered_uuid(1), "modify", "Of the phone " + mark}));
        expect_done((*phone)({numbered_uuid(2), "modify", "project:phone" + mark}));
        expect_done((*laptop)({numbered_uuid(2), "modify", "project:laptop" + mark}));
        // Different attributes of one task, and a task that the other device deletes.
        expect_done((*laptop)({numbered_uuid(3), "modify", "priority:H"}));
        expect_done((*phone)({numbered_uuid(3), "modify", "+t" + mark}));
        const taskwarrior& purging = round == 0 ? *phone : *laptop;
        const taskwarrior& changing = round == 0 ? *laptop : *phone;
        expect_done(purging({numbered_uuid(4 + round), "delete"}));
        expect_done(purging({numbered_uuid(4 + round), "purge"}));
        expect_done(changing({numbered_uuid(4 + round), "modify", "Under your hands"}));
        // Both devices write the same key, and add the same task.
        expect_done((*laptop)({numbered_uuid(6), "modify", "key:LAPTOP" + mark}));
        expect_done((*phone)({numbered_uuid(6), "modify", "key:PHONE" + mark}));
        const std::string same = R"([{"uuid":")" + numbered_uuid(7 + round) +
                                 R"(","description":"On both","entry":"20261101T080000Z"}])";
        expect_done(laptop->import(same));
        expect_done(phone->import(same));
        expect_done((*laptop)({"add", "New on the laptop " + mark}));

        const std::string of_rest = round == 0 ? "L" : "M";
        auto others_were_first = wire.at_next_version(recording_proxy::moment::arrived, [&] {
            expect_done(phone->sync());
            create("first-" + mark, {{"description", "Over REST " + mark}});
            EXPECT_EQ(edit(numbered_uuid(3), {{"priority", of_rest}, {"project", "rest" + mark}}),
                      200u);
        });
        expect_done(laptop->sync());
        ASSERT_EQ(others_were_first.wait_for(timeout), std::future_status::ready);
        EXPECT_EQ(checked().at("fork versions"), round + 1);
        EXPECT_EQ(key_of(*laptop, "Over REST " + mark), round == 0 ? "SYN-8" : "SYN-11");
        EXPECT_EQ(key_of(*laptop, "New on the laptop " + mark), round == 0 ? "SYN-9" : "SYN-12");
        expect_done(phone->sync());
        const task_table agreed = expect_agreement({laptop.get(), phone.get()});
        EXPECT_EQ(value_of(agreed, numbered_uuid(1), "description"), "Of the phone " + mark);
        EXPECT_EQ(value_of(agreed, numbered_uuid(2), "project"), "laptop" + mark);
        EXPECT_EQ(value_of(agreed, numbered_uuid(3), "priority"), of_rest);
        EXPECT_EQ(value_of(agreed, numbered_uuid(3), "project"), "rest" + mark);
        EXPECT_EQ(value_of(agreed, numbered_uuid(6), "key"), "SYN-6");
        EXPECT_FALSE(agreed.contains(numbered_uuid(4 + round)));
    }
    EXPECT_EQ(wire.count("POST", "/v1/client/add-version/", 409), 0);
}

TEST_F(managed_taskwarrior_test, a_revoked_device_changes_nothing) {
    begin();
    const auto laptop = make_device("laptop");
    const auto phone = make_device("phone");
    expect_done((*laptop)({"add", "Shared"}));
    expect_done(laptop->sync());
    expect_done(phone->sync());

    expect_done((*phone)({"add", "Left in the train"}));
    ask_callsign({"device", "revoke", "ops", "phone", "--yes"});
    const json::object before = checked();
    const auto here = tasks_of(*phone);
    for (int tries = 0; tries < 2; ++tries) {
        const finished rejected = phone->sync();
        EXPECT_NE(rejected.status, (exit_status{0, 0}));
        EXPECT_TRUE(says(rejected, "403")) << rejected.out << rejected.err;
    }
    EXPECT_EQ(checked(), before);
    EXPECT_EQ(differences(tasks_of(*phone), here), "");

    expect_done((*laptop)({"add", "Goes on"}));
    expect_done(laptop->sync());
    EXPECT_EQ(key_of(*laptop, "Goes on"), "SYN-2");
    EXPECT_TRUE(says(phone->sync(), "403"));
    EXPECT_EQ(differences(tasks_of(*phone), here), "");
    expect_keys_to(expect_agreement({laptop.get()}), 2);
}

TEST_F(managed_taskwarrior_test, a_wrong_secret_is_rejected_with_a_reason) {
    begin();
    recording_proxy wire(s->port());
    const json::object made = add_device("laptop");
    const std::string id = text_in(made, "clientId");
    const std::string secret = text_in(made, "encryptionSecret");
    const taskwarrior laptop(program, wire.port(), id, "not what the device was given");
    const std::string reason =
        "the segment cannot be decrypted with this device's key: check sync.encryption_secret";

    expect_done(laptop({"add", "Kept at home"}));
    expect_done(laptop({"add", "This one too"}));
    const json::object before = checked();
    const finished rejected = laptop.sync();
    EXPECT_NE(rejected.status, (exit_status{0, 0}));
    EXPECT_TRUE(says(rejected, "403 Forbidden")) << rejected.out << rejected.err;
    EXPECT_EQ(wire.count("POST", "/v1/client/add-version/", 403), 1);
    EXPECT_EQ(wire.exchanges().back().answer, reason);
    EXPECT_EQ(checked(), before);

    // Raw requests: only data encrypted with the device's key for its parent version is accepted.
    const uuid client = *parse_uuid(id);
    const uuid other_place = *parse_uuid(numbered_uuid(1));
    const auto key_from = [&](const std::string& text) {
        return seal::derive_key(seal::secret_bytes(text).bytes(), client);
    };
    const seal::key right = key_from(secret);
    const std::string task = "7e8c1d3a-5a4b-4c55-9d1e-2f4a0b6c7d8e";
    const std::string segment = wire::encode_segment(
        std::vector<operation>{{operation_kind::create, *parse_uuid(task), {}, {}, {}}});
    const std::array<std::uint8_t, seal::nonce_bytes> nonce{};
    const auto send = [&](const std::string& body) {
        http_client c(s->port());
        const auto answer = c.request("POST", std::string("/v1/client/add-version/") + nil_id,
                                      {{"X-Client-Id", id}, {"Content-Type", segment_type}}, body);
        return answer ? std::to_string(answer->status) + " " + answer->body : "no answer";
    };
    EXPECT_EQ(send(seal::seal_body(key_from("a guess"), uuid{}, nonce, segment)), "403 " + reason);
    EXPECT_EQ(send(seal::seal_body(right, other_place, nonce, segment)), "403 " + reason);
    EXPECT_TRUE(send(segment).starts_with("400 ")) << send(segment);
    const std::string half = seal::seal_body(right, uuid{}, nonce, segment.substr(0, 20));
    EXPECT_TRUE(send(half).starts_with("400 the segment cannot be parsed: ")) << send(half);
    EXPECT_EQ(checked(), before);
    EXPECT_EQ(send(seal::seal_body(right, uuid{}, nonce, segment)), "200 ");
    EXPECT_EQ(text_in(show("SYN-1"), "uuid"), task);

    // With the correct secret, the device continues with its unsent changes. The raw request used
    // the device's own client ID, so it pushes before it pulls that version.
    laptop.configure("sync.encryption_secret=" + secret);
    expect_done(laptop.sync());
    expect_done(laptop.sync());
    EXPECT_EQ(key_of(laptop, "Kept at home"), "SYN-2");
    EXPECT_EQ(key_of(laptop, "This one too"), "SYN-3");
    EXPECT_EQ(tasks_of(laptop).size(), 3u);
    expect_sound();
}

TEST_F(managed_taskwarrior_test, a_new_device_begins_with_the_servers_snapshot) {
    begin();
    constexpr int tasks = 2'000, connections = 16;
    std::vector<std::thread> crowd;
    for (int part = 0; part < connections; ++part) {
        crowd.emplace_back([&, part] {
            http_client c(s->port(), token);
            for (int n = part; n < tasks; n += connections) {
                const std::string name = "task-" + std::to_string(n);
                const auto made =
                    c.post_json("/v1/tasks", R"({"description":")" + name + "\"}", name);
                EXPECT_TRUE(made && made->status == 201);
            }
        });
    }
    for (std::thread& t : crowd) t.join();

    recording_proxy wire(s->port());
    const auto laptop = make_device("laptop");
    laptop->move_to(wire.port());
    expect_done(laptop->sync());
    EXPECT_EQ(wire.count("GET", "/v1/client/snapshot", 200), 1);
    EXPECT_EQ(wire.count("GET", "/v1/client/get-child-version/", 200), 0) << "the chain was read";
    EXPECT_EQ(wire.count("POST", "", 200), 0) << "a version was added";
    const auto known = tasks_of(*laptop);
    expect_keys_to(known, tasks);
    for (const auto& [uuid, task] : known) {
        const json::object shown = show(uuid);
        ASSERT_EQ(shown.at("description"), task.at("description"));
        ASSERT_EQ(shown.at("key"), task.at("key"));
    }
    expect_done((*laptop)({"add", "One more"}));
    expect_done(laptop->sync());
    EXPECT_EQ(key_of(*laptop, "One more"), "SYN-2001");
    expect_sound();
}

// The client rebases each batch over everything pulled before it, pair by pair.
TEST_F(managed_taskwarrior_test, a_sync_of_many_batches_pulls_its_keys_behind_the_last) {
    begin();
    recording_proxy wire(s->port());
    const auto laptop = make_device("laptop"), phone = make_device("phone");
    laptop->move_to(wire.port());
    constexpr int tasks = 220, notes = 10;
    json::array all;
    for (int n = 0; n < tasks; ++n) {
        json::array annotations;
        for (int a = 0; a < notes; ++a) {
            annotations.push_back({{"entry", "20261101T08000" + std::to_string(a) + "Z"},
                                   {"description", std::string(900, 'x')}});
        }
        all.push_back({{"description", "Task " + std::to_string(n)},
                       {"entry", "20261101T080000Z"},
                       {"annotations", std::move(annotations)}});
    }
    expect_done(laptop->import(json::serialize(all)));
    expect_done(laptop->sync());
    expect_keys_to(tasks_of(*laptop), tasks);
    // Between two batches the client pulls only an empty version.
    int pulled = 0, pushed = 0, before_last = 0;
    for (const auto& each : wire.exchanges()) {
        if (each.status != 200) continue;
        if (each.method == "GET") ++pulled;
        if (each.method != "POST") continue;
        ++pushed;
        before_last = pulled;
    }
    EXPECT_GT(pushed, 2);
    EXPECT_EQ(before_last, pushed - 1);
    EXPECT_GT(pulled, before_last);
    expect_done(phone->sync());
    EXPECT_EQ(differences(tasks_of(*phone), tasks_of(*laptop)), "");
    expect_sound();
}

TEST_F(managed_taskwarrior_test, a_response_lost_with_the_server_duplicates_nothing) {
    begin();
    recording_proxy wire(s->port());
    const auto laptop = make_device("laptop");
    laptop->move_to(wire.port());
    expect_done((*laptop)({"add", "Before"}));
    expect_done(laptop->sync());
    const auto phone = make_device("phone");
    int last = 1;
    // The server is killed after its response, which never arrives, or while it processes the
    // request.
    using moment = recording_proxy::moment;
    for (const moment when : {moment::answered, moment::sent, moment::answered, moment::sent}) {
        const std::string name = "Sent " + std::to_string(++last);
        expect_done((*laptop)({"add", name}));
        expect_done((*laptop)({"key.is:SYN-1", "modify", "Changed with " + name}));
        const std::int64_t before = versions();
        auto killed = wire.at_next_version(when, [&] { s->child().signal(SIGKILL); });
        EXPECT_NE(laptop->sync().status, (exit_status{0, 0}));
        ASSERT_EQ(killed.wait_for(timeout), std::future_status::ready);
        EXPECT_EQ(s->child().wait(timeout), (exit_status{-1, SIGKILL}));
        // The version was accepted completely, with its keys, or not at all.
        const std::int64_t taken = versions() - before;
        if (when == moment::answered) {
            EXPECT_EQ(taken, 2);
        } else {
            EXPECT_TRUE(taken == 0 || taken == 2) << taken;
        }
        s->start();
        expect_done(laptop->sync());
        EXPECT_EQ(versions() - before, 2);
        EXPECT_EQ(key_of(*laptop, name), "SYN-" + std::to_string(last));
    }
    rest = std::make_unique<http_client>(s->port(), token);
    expect_done(phone->sync());
    expect_keys_to(expect_agreement({laptop.get(), phone.get()}), last);
}

}  // namespace
}  // namespace callsign::testing
