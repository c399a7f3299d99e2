// Goal: replicas continue unchanged when their opaque account becomes managed. Method: the real
// programs.

#include "managed_taskwarrior.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <thread>

namespace callsign::testing {
namespace {

// Two replicas of an opaque account with some history; one replica is behind.
class migration_test : public managed_taskwarrior_test {
  protected:
    void begin_opaque() {
        begin();
        const json::object desk =
            ask_callsign({"account", "create", "desk", "--prefix", "DESK", "--opaque"});
        rest = std::make_unique<http_client>(s->port(), text_in(desk, "token"));
        for (auto* const replica : {&laptop, &phone}) {
            *replica = std::make_unique<taskwarrior>(program, s->port(), text_in(desk, "clientId"),
                                                     secret);
        }
        const std::vector<std::vector<std::string>> history{{"add", "First", "project:x"},
                                                            {"add", "Second"},
                                                            {"add", "Gone"},
                                                            {"description:Gone", "delete"},
                                                            {"description:Gone", "purge"},
                                                            {"1", "done"},
                                                            {"add", "Third", "+late"}};
        for (const auto& words : history) {
            expect_done((*laptop)(words));
            expect_done(laptop->sync());
            if (words[1] == "Second") expect_done(phone->sync());
        }
        // Not sent yet when the account is converted.
        expect_done((*phone)({"add", "Offline on the phone"}));
    }
    finished manage(const std::string& with) const {
        const std::string file = temp_path("secret").string();
        std::ofstream(file) << with << "\n";
        return callsign({"account", "manage", "desk", "--secret-file", file, "--yes"});
    }
    // Returns the tasks on which the replicas and a new one agree.
    task_table agreed() {
        for (int round = 0; round < 2; ++round) {
            for (const auto* const replica : {laptop.get(), phone.get()}) {
                expect_done(replica->sync());
            }
        }
        const json::object made = ask_callsign({"device", "add", "desk", "--name", "newcomer"});
        const taskwarrior newcomer(program, text_in(made, "taskrc"));
        expect_done(newcomer.sync());
        const task_table tasks = tasks_of(newcomer);
        EXPECT_EQ(differences(tasks_of(*laptop), tasks), "");
        EXPECT_EQ(differences(tasks_of(*phone), tasks), "");
        for (const auto& [uuid, task] : tasks) {
            EXPECT_EQ(plain_answer(show(uuid)), plain_export(task));
        }
        expect_sound();
        return tasks;
    }

    const std::string secret = "correct horse battery staple";
    std::unique_ptr<taskwarrior> laptop, phone;
};

TEST_F(migration_test, the_replicas_go_on_and_every_task_has_its_key) {
    begin_opaque();
    const auto before = checked();
    EXPECT_NE(manage("another secret").status, (exit_status{0, 0}));
    EXPECT_EQ(checked(), before);
    const finished done = manage(secret);
    expect_done(done);
    EXPECT_EQ(json::parse(done.out).as_object().at("tasks"), 3);

    EXPECT_EQ(agreed().size(), 4u);
    EXPECT_EQ(key_of(*phone, "First"), "DESK-1");
    EXPECT_EQ(key_of(*phone, "Second"), "DESK-2");
    EXPECT_EQ(key_of(*phone, "Third"), "DESK-3");
    EXPECT_EQ(key_of(*laptop, "Offline on the phone"), "DESK-4");
    // REST, which opaque accounts lack, now works too.
    EXPECT_EQ(create("k", {{"description", "Over REST"}}).at("key"), "DESK-5");
    expect_done(laptop->sync());
    EXPECT_TRUE(has(info(*laptop, "DESK-5"), "Over REST"));
}

TEST_F(migration_test, a_replica_that_syncs_concurrently_notices_nothing) {
    begin_opaque();
    std::thread syncing([&] {
        for (int n = 0; n < 5; ++n) {
            expect_done((*phone)({"add", "Meanwhile " + std::to_string(n)}));
            // During the conversion a sync may get 503.
            if (phone->sync().status != exit_status{0, 0}) expect_done(phone->sync());
        }
    });
    const finished done = manage(secret);
    syncing.join();
    expect_done(done);
    const task_table tasks = agreed();
    EXPECT_EQ(tasks.size(), 9u);
    for (const auto& [uuid, task] : tasks) EXPECT_NE(text_in(task, "key"), "");
}

}  // namespace
}  // namespace callsign::testing
