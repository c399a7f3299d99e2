// A failed command does not affect others of its batch: a batch that the store rejects is applied
// again in parts, and only the failing command gets an error.

#include "support/faulty_store.hpp"
#include "support/test_server.hpp"

#include <callsign/store/memory.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using kind = store_failure::kind;

class told_failures final : public engine_probe {
  public:
    void read_failed(const store_failure& why) override { unread.push_back(why.reason()); }
    void write_failure_changed(const std::optional<store_failure>& now) override {
        troubles.push_back(now ? std::optional(now->reason()) : std::nullopt);
    }
    std::vector<kind> unread;
    std::vector<std::optional<kind>> troubles;
};

class parts : public ::testing::Test {
  protected:
    parts() {
        account_ = server_.make_account("home", "TASK").id;
        other_ = server_.make_account("other", "TASK").id;
    }

    using creation = std::shared_ptr<std::optional<result<create_answer>>>;

    creation create(const std::string& key, std::size_t bytes = 10) {
        reserve request;
        request.account = key.front() == 'x' ? other_ : account_;
        request.key = key;
        request.fingerprint = sha256(key);
        request.attributes = {{"description", std::string(bytes, 'd')}};
        auto done = std::make_shared<std::optional<result<create_answer>>>();
        boost::asio::co_spawn(
            server_.io(), server_.engine().create(std::move(request)),
            [done](const std::exception_ptr&, result<create_answer> r) { done->emplace(r); });
        return done;
    }
    static bool is_receipt(const creation& c) {
        return *c && (*c)->has_value() && std::holds_alternative<receipted>((*c)->value());
    }

    std::unique_ptr<store> disk_ = make_memory_store();
    faulty_store store_{*disk_};
    told_failures probe_;
    test_server server_{{.disk = &store_, .probe = &probe_}};
    account_id account_;
    account_id other_;
};

TEST_F(parts, only_the_failing_command_is_rejected) {
    store_.reject_key("x-guilty", kind::full);
    std::vector<creation> all;
    for (int n = 0; n < 600; ++n) all.push_back(create("key-" + std::to_string(n)));
    const auto guilty = create("x-guilty");
    for (int n = 600; n < 1000; ++n) all.push_back(create("key-" + std::to_string(n)));
    server_.settle();
    for (const auto& c : all) ASSERT_TRUE(is_receipt(c));
    ASSERT_TRUE(*guilty);
    EXPECT_EQ((*guilty)->error(), errc::storage_full);
    EXPECT_EQ(disk_->totals()->slots.committed, 1000);
    EXPECT_FALSE(server_.engine().is_corrupt());

    store_.reject_key("", kind::full);
    const auto again = create("x-guilty");
    server_.settle();
    EXPECT_TRUE(is_receipt(again));
}

// Its size identifies it: two attempts suffice.
TEST_F(parts, a_large_command_is_tried_alone_at_once) {
    store_.reject_tasks_over(1u << 20);
    std::vector<creation> all;
    for (int n = 0; n < 100; ++n) all.push_back(create("key-" + std::to_string(n)));
    const auto guilty = create("x-guilty", 2u << 20);
    for (int n = 100; n < 200; ++n) all.push_back(create("key-" + std::to_string(n)));
    const auto before = store_.rejections();
    server_.settle();
    for (const auto& c : all) ASSERT_TRUE(is_receipt(c));
    EXPECT_EQ((*guilty)->error(), errc::store_rejected);
    EXPECT_LE(store_.rejections() - before, 2);
}

TEST_F(parts, a_store_that_rejects_all_writes_is_not_tried_for_each) {
    store_.reject_key("key-", kind::full);
    std::vector<creation> all;
    for (int n = 0; n < 1000; ++n) all.push_back(create("key-" + std::to_string(n)));
    server_.settle();
    for (const auto& c : all) {
        ASSERT_TRUE(*c);
        EXPECT_EQ((*c)->error(), errc::storage_full);
    }
    EXPECT_LE(store_.rejections(), 200);
    EXPECT_EQ(disk_->totals()->slots.pending, 0);
}

// The command was admitted before the deletion.
TEST_F(parts, a_command_for_an_account_being_removed_is_rejected_alone) {
    ASSERT_TRUE(server_.run(server_.engine().submit(delete_account{other_})));
    std::vector<creation> all;
    for (int n = 0; n < 5; ++n) all.push_back(create("key-" + std::to_string(n)));
    const auto late = create("x-late");
    server_.settle();
    for (const auto& c : all) EXPECT_TRUE(is_receipt(c));
    ASSERT_TRUE(*late);
    EXPECT_EQ((*late)->error(), errc::account_gone);
    EXPECT_FALSE(server_.engine().is_corrupt());
    EXPECT_EQ(disk_->totals()->slots.pending, 0);
}

// ---- unreadable data ----

TEST_F(parts, corruption_that_a_command_hits_stops_writes_but_not_reads) {
    ASSERT_EQ(server_.call(get("/readyz")).status, 200u);
    store_.reject_key("x-guilty", kind::corrupt);
    const auto guilty = create("x-guilty");
    server_.settle();
    EXPECT_EQ((*guilty)->error(), errc::store_damaged);
    EXPECT_TRUE(server_.engine().is_corrupt());
    EXPECT_FALSE(server_.fatal());
    EXPECT_EQ(probe_.unread, std::vector{kind::corrupt});
    const auto next = create("key-1");
    server_.settle();
    EXPECT_EQ((*next)->error(), errc::store_damaged);
    const auto ready = server_.call(get("/readyz"));
    EXPECT_EQ(ready.status, 500u);
    EXPECT_NE(ready.body.find("store-damaged"), std::string::npos);
    EXPECT_NE(ready.body.find("checks the disk again"), std::string::npos);
    EXPECT_EQ(server_.run(server_.engine().ask(list_accounts{}))->rows.size(), 2u);
}

// The command cannot read its own rows; other commands are not affected.
TEST_F(parts, a_record_that_a_command_cannot_read_rejects_that_command_only) {
    store_.reject_key("x-guilty", kind::damaged);
    std::vector<creation> all, guilty;
    for (int n = 0; n < 300; ++n) {
        all.push_back(create("key-" + std::to_string(n)));
        // More commands than a bisection could find.
        if (n % 3 == 0) guilty.push_back(create("x-guilty-" + std::to_string(n)));
    }
    server_.settle();
    for (const auto& c : all) ASSERT_TRUE(is_receipt(c));
    for (const auto& c : guilty) {
        ASSERT_TRUE(*c);
        EXPECT_EQ((*c)->error(), errc::record_damaged);
    }
    EXPECT_EQ(disk_->totals()->slots.committed, 300);
    EXPECT_EQ(probe_.unread, std::vector(guilty.size(), kind::damaged));
    EXPECT_EQ(store_.rejections(), std::ssize(guilty)) << "none is tried twice";
    EXPECT_FALSE(server_.engine().is_corrupt());
    EXPECT_EQ(server_.call(get("/readyz")).status, 200u);
}

TEST_F(parts, a_read_error_of_the_disk_rejects_that_command_only) {
    store_.reject_key("x-guilty", kind::read_failed);
    const auto guilty = create("x-guilty");
    server_.settle();
    EXPECT_EQ((*guilty)->error(), errc::store_rejected);
    EXPECT_EQ(probe_.unread, std::vector{kind::read_failed});
    EXPECT_EQ(server_.call(get("/readyz")).status, 200u);
    store_.reject_key("", kind::read_failed);
    const auto again = create("x-guilty");
    server_.settle();
    EXPECT_TRUE(is_receipt(again));
}

// Without a command in progress the corruption is not attributed to one.
TEST_F(parts, corruption_outside_of_a_command_stops_writes) {
    store_.reject_writes(kind::damaged);
    const auto next = create("key-1");
    server_.settle();
    EXPECT_EQ((*next)->error(), errc::store_damaged);
    EXPECT_TRUE(server_.engine().is_corrupt());
}

TEST_F(parts, corruption_at_the_start_is_reported_before_the_first_write) {
    store_.reject_writes(kind::corrupt);
    server_.spawn(server_.engine().watch_writes());
    server_.settle();
    EXPECT_EQ(server_.call(get("/readyz")).status, 500u);
    store_.reject_writes(std::nullopt);
    server_.close();
}

TEST_F(parts, a_server_that_stopped_for_corruption_checks_again_and_resumes) {
    using namespace std::chrono_literals;
    server_.spawn(server_.engine().watch_writes());
    store_.reject_key("x-guilty", kind::corrupt);
    store_.keep_damage(kind::corrupt);
    const auto guilty = create("x-guilty");
    server_.settle();
    EXPECT_EQ((*guilty)->error(), errc::store_damaged);
    server_.advance(1s);
    EXPECT_EQ(store_.looks(), 1);
    server_.advance(2s);
    EXPECT_EQ(store_.looks(), 2);
    server_.advance(10min);
    EXPECT_LE(store_.looks(), 20) << "the interval grows up to a minute";
    EXPECT_GE(store_.looks(), 12);
    EXPECT_TRUE(server_.engine().is_corrupt());

    // The pages read without error, but the row of the command does not.
    store_.keep_damage(std::nullopt);
    const auto proofs = store_.proofs();
    server_.advance(1min);
    EXPECT_TRUE(server_.engine().is_corrupt());
    EXPECT_EQ(store_.proofs(), proofs) << "nothing is written over corruption";

    store_.reject_key("", kind::corrupt);
    server_.advance(1min);
    EXPECT_FALSE(server_.engine().is_corrupt());
    EXPECT_EQ(server_.call(get("/readyz")).status, 200u);
    EXPECT_EQ(probe_.troubles, (std::vector<std::optional<kind>>{kind::corrupt, {}}));
    EXPECT_EQ(disk_->totals()->slots.pending, 0) << "it was tried to no effect";
    const auto again = create("x-guilty");
    server_.settle();
    EXPECT_TRUE(is_receipt(again));

    // A long time later, new corruption is checked with the shortest interval again.
    server_.advance(3h);
    store_.reject_key("x-other", kind::corrupt);
    create("x-other");
    server_.settle();
    const int looks = store_.looks();
    server_.advance(1s);
    EXPECT_EQ(store_.looks(), looks + 1);
    server_.close();
}

// Corruption that was read at the opening stays in memory: the store must be opened again.
TEST_F(parts, a_store_that_must_be_reopened_stops_the_server) {
    server_.spawn(server_.engine().watch_writes());
    store_.reject_key("x-guilty", kind::corrupt);
    create("x-guilty");
    server_.settle();
    EXPECT_FALSE(server_.fatal());
    store_.keep_damage(kind::unknown);
    server_.advance(std::chrono::seconds{1});
    EXPECT_TRUE(server_.fatal());
    server_.close();
}

TEST_F(parts, corruption_that_a_query_hits_is_reported_and_stops_nothing) {
    const auto ask = [&](kind reason) {
        const auto fail = [reason](std::size_t) -> bool { throw store_failure(reason, "here"); };
        find_sealed_snapshot question{account_, fail};
        return server_.run(server_.engine().ask(std::move(question))).error();
    };
    EXPECT_EQ(ask(kind::damaged), errc::record_damaged);
    EXPECT_EQ(ask(kind::corrupt), errc::store_damaged);
    EXPECT_EQ(ask(kind::read_failed), errc::store_unavailable);
    server_.settle();
    EXPECT_EQ(probe_.unread, (std::vector{kind::damaged, kind::corrupt, kind::read_failed}));
    const auto next = create("key-1");
    server_.settle();
    EXPECT_TRUE(is_receipt(next));
}

}  // namespace
}  // namespace callsign::testing
