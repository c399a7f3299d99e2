// Goal: when COMMIT fails and nobody knows whether it took, the server answers so, ends with a code
// that asks for a restart, and after it clients get their receipts by asking again. Method: the
// real program with a disk whose syncs begin to fail.

#include "fixture.hpp"

#include <fstream>

namespace callsign::testing {
namespace {

// Not under sanitizers: their runtime wants to be loaded before anything else.
#ifdef CALLSIGN_FAILING_DISK

using failing_disk_test = system_test;

TEST_F(failing_disk_test, an_unknown_outcome_ends_the_process_and_the_same_key_settles_it) {
    const auto switch_file = temp_path("the-disk-is-failing");
    const environment failing{{"LD_PRELOAD", CALLSIGN_FAILING_DISK},
                              {"CALLSIGN_FAIL_SYNC", switch_file.string()}};
    auto s = start({}, failing);
    const std::string token = make_account(*s, "home2", "DSK");
    const auto create = [&](const std::string& key) {
        http_client client(s->port(), token);
        return client.post_json("/v1/tasks", R"({"description":"on a failing disk"})", key);
    };
    const auto before = create("before");
    ASSERT_TRUE(before && before->status == 201);

    std::ofstream(switch_file) << "now";
    const auto during = create("during");
    if (during) {
        EXPECT_EQ(during->status, 500);
        EXPECT_NE(during->body.find("outcome-unknown"), std::string::npos) << during->body;
    }
    expect_exit(s->child(), 70);

    std::filesystem::remove(switch_file);
    s->start();
    const auto again = create("before");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->body, before->body);
    const auto settled = create("during");
    ASSERT_TRUE(settled);
    EXPECT_EQ(settled->status, 201);
    EXPECT_NE(settled->body.find(R"("key":"DSK-2")"), std::string::npos) << settled->body;
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

#endif

}  // namespace
}  // namespace callsign::testing
