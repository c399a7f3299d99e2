// Goal: the engine knows whether writes are rejected, and detects their recovery without requests.
// Method: a store that rejects writes, and a clock of the test.

#include "support/faulty_store.hpp"
#include "support/test_server.hpp"

#include <callsign/store/memory.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using kind = store_failure::kind;
using namespace std::chrono_literals;

class told_troubles final : public engine_probe {
  public:
    void write_failure_changed(const std::optional<store_failure>& now) override {
        told.push_back(now ? std::optional(now->reason()) : std::nullopt);
    }
    std::vector<std::optional<kind>> told;
};

class write_failure : public ::testing::Test {
  protected:
    write_failure() { server_.make_account("home", "TASK"); }

    // Returns true if the write succeeded.
    bool write(const std::string& name) {
        auto made = server_.run(
            server_.engine().submit(create_token{"home", name, token_scope::read, sha256(name)}));
        return made.has_value();
    }
    // A command that has nothing to write.
    bool ask() {
        auto done = server_.run(server_.engine().submit(remove_webhook{account_id{1}, {}}));
        return done.has_value();
    }
    std::optional<kind> trouble() {
        const auto& now = server_.engine().write_failure();
        return now ? std::optional(now->reason()) : std::nullopt;
    }

    std::unique_ptr<store> disk_ = make_memory_store();
    faulty_store store_{*disk_};
    told_troubles probe_;
    test_server server_{{.disk = &store_, .probe = &probe_}};
};

TEST_F(write_failure, is_reported_when_it_begins_and_when_it_ends) {
    EXPECT_EQ(trouble(), std::nullopt);
    store_.reject_writes(kind::full);
    EXPECT_FALSE(write("a"));
    EXPECT_FALSE(write("b"));
    EXPECT_EQ(trouble(), kind::full);
    store_.reject_writes(kind::read_only);
    EXPECT_FALSE(write("c"));
    EXPECT_EQ(trouble(), kind::read_only);
    store_.reject_writes(std::nullopt);
    server_.clock().step_wall(1s);
    EXPECT_TRUE(write("d"));
    EXPECT_EQ(trouble(), std::nullopt);
    EXPECT_EQ(probe_.told, (std::vector<std::optional<kind>>{kind::full, kind::read_only, {}}));
}

TEST_F(write_failure, does_not_block_look_ups_of_keys) {
    const auto find = [&](const char* key) {
        return server_.run(server_.engine().ask(find_slot{account_id{1}, key}));
    };
    reserve made;
    made.account = account_id{1};
    made.key = "k";
    server_.start_command(std::move(made));
    server_.settle();
    for (const auto how : {kind::full, kind::io_error, kind::read_only, kind::corrupt}) {
        store_.reject_writes(how);
        EXPECT_FALSE(write("a"));
        ASSERT_TRUE(find("k"));
        EXPECT_TRUE(find("k").value());
        EXPECT_FALSE(find("another").value());
    }
}

TEST_F(write_failure, is_none_if_a_retry_may_succeed) {
    store_.reject_writes(kind::rejected);
    EXPECT_FALSE(write("a"));
    EXPECT_EQ(trouble(), std::nullopt);
}

TEST_F(write_failure, stays_when_a_commit_had_nothing_to_write) {
    store_.reject_writes(kind::full);
    EXPECT_FALSE(write("a"));
    store_.reject_writes(std::nullopt);
    server_.clock().step_wall(1s);
    EXPECT_TRUE(ask());
    EXPECT_EQ(trouble(), kind::full);
}

TEST_F(write_failure, of_one_command_among_others_is_none) {
    store_.reject_key("guilty", kind::full);
    reserve guilty;
    guilty.account = account_id{1};
    guilty.key = "guilty";
    guilty.attributes = {{"description", "large"}};
    server_.start_command(std::move(guilty));
    server_.start_command(create_token{"home", "beside", token_scope::read, sha256("beside")});
    server_.clock().step_wall(1s);
    server_.settle();
    EXPECT_EQ(trouble(), std::nullopt);
}

TEST_F(write_failure, ends_automatically_as_soon_as_the_store_accepts_writes) {
    server_.spawn(server_.engine().watch_writes());
    server_.settle();
    EXPECT_EQ(store_.proofs(), 0);
    store_.reject_writes(kind::full);
    EXPECT_FALSE(write("a"));
    server_.advance(10s);
    EXPECT_EQ(trouble(), kind::full);
    EXPECT_EQ(store_.proofs(), 10) << "once per second";
    store_.reject_writes(std::nullopt);
    server_.advance(999ms);
    EXPECT_EQ(trouble(), kind::full);
    server_.advance(1ms);
    EXPECT_EQ(trouble(), std::nullopt);
    server_.advance(10s);
    EXPECT_EQ(store_.proofs(), 11) << "no attempts without an error";
    server_.close();
}

TEST_F(write_failure, a_change_of_its_kind_is_reported_by_an_attempt_too) {
    server_.spawn(server_.engine().watch_writes());
    store_.reject_writes(kind::full);
    EXPECT_FALSE(write("a"));
    store_.reject_writes(kind::io_error);
    server_.advance(1s);
    EXPECT_EQ(trouble(), kind::io_error);
    server_.close();
}

}  // namespace
}  // namespace callsign::testing
