// Goal: corruption stops writing until it is repaired. Method: the real program with modified bytes
// in its file.

#include "fixture.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

class damaged_disk_test : public system_test {
  protected:
    // Inverts a byte of a table's first page; a second call restores it.
    void turn(const std::string& table) {
        const auto file = data_dir() / "callsign.sqlite3";
        if (at_ == 0) {
            SQLite::Database db(file.string());
            SQLite::Statement q(db, "SELECT rootpage FROM sqlite_master WHERE name = ?");
            q.bind(1, table);
            ASSERT_TRUE(q.executeStep());
            at_ = (q.getColumn(0).getInt64() - 1) * 4096 + 4000;
        }
        std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
        bytes.seekg(at_);
        const char turned = static_cast<char>(bytes.get() ^ 1);
        bytes.seekp(at_).put(turned);
    }
    void start_with_damage_in(const std::string& table) {
        s_ = start();
        token_ = make_account(*s_, "home2", "DMG");
        ASSERT_EQ(create("before"), 201u);
        stop();
        turn(table);
        s_->start();
    }
    void stop() {
        s_->child().signal(SIGTERM);
        expect_exit(s_->child(), 0);
    }
    unsigned create(const std::string& key) {
        http_client client(s_->port(), token_);
        const auto answer = client.post_json("/v1/tasks", R"({"description":"damaged"})", key);
        return answer ? answer->status : 0;
    }
    unsigned edit(const std::string& task) {
        const auto answer =
            http_client(s_->port(), token_)
                .request("PATCH", "/v1/tasks/" + task, {{"Content-Type", "application/json"}},
                         R"({"project":"p"})");
        return answer ? answer->status : 0;
    }
    http_answer get(const std::string& target) {
        http_client client(s_->port(), token_);
        return client.get(target).value_or(http_answer{});
    }
    void expect_stopped_and_read() {
        EXPECT_EQ(get("/v1/tasks").status, 200u);
        EXPECT_EQ(get("/v1/slots/before").status, 200u);
        EXPECT_EQ(get("/readyz").status, 500u);
        EXPECT_NE(get("/readyz").body.find("store-damaged"), std::string::npos);
        const finished told =
            run({(programs() / "callsign").string(), "doctor", "--data-dir", data_dir().string()},
                timeout);
        EXPECT_EQ(told.status, (exit_status{1, 0}));
        EXPECT_NE(told.out.find("server rejects writes: Store is damaged"), std::string::npos)
            << told.out;
        await_line(s_->child(), "error writes-rejected reason=damaged");
    }

    std::int64_t at_ = 0;
    std::unique_ptr<server> s_;
    std::string token_;
};

// Edits read this table; creations and background work after a start do not.
TEST_F(damaged_disk_test, a_command_that_meets_it_stops_writing_until_it_is_gone) {
    start_with_damage_in("prefixes");
    EXPECT_EQ(get("/readyz").status, 200u);
    EXPECT_EQ(create("not-met"), 201u);
    EXPECT_EQ(edit("DMG-1"), 500u);
    EXPECT_EQ(create("during"), 500u);
    expect_stopped_and_read();
    turn("prefixes");
    await_line(s_->child(), "info writes-resumed");
    EXPECT_EQ(create("during"), 201u);
    EXPECT_EQ(edit("DMG-1"), 200u);
    EXPECT_EQ(get("/readyz").status, 200u);
    stop();
    expect_sound();
}

TEST_F(damaged_disk_test, what_a_start_meets_stops_writing_and_ends_it_once_it_is_gone) {
    start_with_damage_in("versions");
    expect_stopped_and_read();
    EXPECT_EQ(create("during"), 500u);
    turn("versions");
    expect_exit(s_->child(), 70);
    s_->start();
    EXPECT_EQ(create("during"), 201u);
    stop();
    expect_sound();
}

}  // namespace
}  // namespace callsign::testing
