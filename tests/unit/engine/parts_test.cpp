// One command's failure is not its neighbours': a batch that the store refuses is applied again in
// parts, and only the guilty one is told so.

#include "support/faulty_store.hpp"
#include "support/house.hpp"

#include <callsign/store/memory.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using kind = store_failure::kind;

class parts : public ::testing::Test {
  protected:
    parts() {
        account_ = house_.make_account("home", "TASK").id;
        other_ = house_.make_account("other", "TASK").id;
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
            house_.io(), house_.engine().create(std::move(request)),
            [done](const std::exception_ptr&, result<create_answer> r) { done->emplace(r); });
        return done;
    }
    static bool is_receipt(const creation& c) {
        return *c && (*c)->has_value() && std::holds_alternative<receipted>((*c)->value());
    }

    std::unique_ptr<store> disk_ = make_memory_store();
    faulty_store store_{*disk_};
    house house_{{.disk = &store_}};
    account_id account_;
    account_id other_;
};

TEST_F(parts, only_the_guilty_command_is_refused) {
    store_.refuse_key("x-guilty", kind::full);
    std::vector<creation> all;
    for (int n = 0; n < 600; ++n) all.push_back(create("key-" + std::to_string(n)));
    const auto guilty = create("x-guilty");
    for (int n = 600; n < 1000; ++n) all.push_back(create("key-" + std::to_string(n)));
    house_.settle();
    for (const auto& c : all) ASSERT_TRUE(is_receipt(c));
    ASSERT_TRUE(*guilty);
    EXPECT_EQ((*guilty)->error(), errc::storage_full);
    EXPECT_EQ(disk_->counts().committed, 1000);
    EXPECT_TRUE(house_.engine().writable());

    store_.refuse_key("", kind::full);
    const auto again = create("x-guilty");
    house_.settle();
    EXPECT_TRUE(is_receipt(again));
}

// Its bytes say who it is: two attempts find it.
TEST_F(parts, a_large_command_is_tried_alone_at_once) {
    store_.refuse_tasks_over(1u << 20);
    std::vector<creation> all;
    for (int n = 0; n < 100; ++n) all.push_back(create("key-" + std::to_string(n)));
    const auto guilty = create("x-guilty", 2u << 20);
    for (int n = 100; n < 200; ++n) all.push_back(create("key-" + std::to_string(n)));
    const auto before = store_.refusals();
    house_.settle();
    for (const auto& c : all) ASSERT_TRUE(is_receipt(c));
    EXPECT_EQ((*guilty)->error(), errc::store_refused);
    EXPECT_LE(store_.refusals() - before, 2);
}

TEST_F(parts, a_store_that_takes_nothing_is_not_asked_for_each) {
    store_.refuse_key("key-", kind::full);
    std::vector<creation> all;
    for (int n = 0; n < 1000; ++n) all.push_back(create("key-" + std::to_string(n)));
    house_.settle();
    for (const auto& c : all) {
        ASSERT_TRUE(*c);
        EXPECT_EQ((*c)->error(), errc::storage_full);
    }
    EXPECT_LE(store_.refusals(), 200);
    EXPECT_EQ(disk_->counts().pending, 0);
}

TEST_F(parts, damage_that_a_command_meets_stops_writing_and_not_reading) {
    std::vector<std::string> reported;
    house_.engine().report_damage_to([&](std::string where) { reported.push_back(where); });
    ASSERT_EQ(house_.call(get("/readyz")).status, 200u);
    store_.refuse_key("x-guilty", kind::damaged);
    const auto guilty = create("x-guilty");
    house_.settle();
    EXPECT_EQ((*guilty)->error(), errc::store_damaged);
    EXPECT_FALSE(house_.engine().writable());
    EXPECT_FALSE(house_.fatal());
    ASSERT_EQ(reported.size(), 1u);
    const auto next = create("key-1");
    house_.settle();
    EXPECT_EQ((*next)->error(), errc::store_damaged);
    EXPECT_EQ(house_.call(get("/readyz")).status, 500u);
    EXPECT_NE(house_.call(get("/readyz")).body.find("store-damaged"), std::string::npos);
    EXPECT_EQ(house_.run(house_.engine().ask(list_accounts{}))->rows.size(), 2u);
}

TEST_F(parts, damage_that_a_question_meets_is_reported_and_stops_nothing) {
    std::vector<std::string> reported;
    house_.engine().report_damage_to([&](std::string where) { reported.push_back(where); });
    const auto fail = [](std::size_t) -> bool { throw_damaged("tasks", 5, "its attributes"); };
    find_sealed_snapshot question{account_, fail};
    const auto answer = house_.run(house_.engine().ask(std::move(question)));
    EXPECT_EQ(answer.error(), errc::store_damaged);
    house_.settle();
    ASSERT_EQ(reported.size(), 1u);
    EXPECT_NE(reported[0].find("tasks, row 5"), std::string::npos);
    const auto next = create("key-1");
    house_.settle();
    EXPECT_TRUE(is_receipt(next));
}

}  // namespace
}  // namespace callsign::testing
