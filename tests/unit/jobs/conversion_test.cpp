// Work in steps is seen while it lasts, and can be called off between two of them.

#include "support/house.hpp"

#include <callsign/jobs/conversion.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::asio::awaitable;

struct conversion : ::testing::Test {
    conversion() {
        const auto made = h.run(h.engine().submit(
            create_account{"vault", "VLT", "default", sha256("token"), client_id}));
        account = std::get<callsign::account>(*made).id;
        const auto added = h.run(
            h.engine().submit(add_sealed_version{client_id, uuid{}, "sealed", false, account}));
        EXPECT_TRUE(added && std::holds_alternative<add_sealed_version::added>(*added));
    }
    awaitable<void> convert(std::optional<jobs::conversion_answer>& told) {
        actor itself;
        auto answer = co_await jobs::convert_account(with, "vault", secret, std::move(itself));
        if (answer) told = std::move(*answer);
    }
    // Up to where it is on the board.
    bool begin(std::optional<jobs::conversion_answer>& told) {
        h.spawn(convert(told));
        while (board.count(jobs::job_kind::conversion) == 0 && h.step()) {
        }
        return board.count(jobs::job_kind::conversion) == 1;
    }

    house h;
    const uuid client_id = make_uuid_v7({}, 1, 7);
    const seal::key_ring master{seal::key(std::array<std::uint8_t, seal::key_bytes>{})};
    jobs::board board;
    jobs::context with{h.engine(), h.entropy(), &master, board};
    const std::string secret = "hush";
    account_id account;
};

TEST_F(conversion, is_on_the_board_while_it_lasts) {
    std::optional<jobs::conversion_answer> told;
    ASSERT_TRUE(begin(told));
    EXPECT_EQ(board.find(jobs::job_kind::conversion, account)->total, 1);
    EXPECT_FALSE(board.find(jobs::job_kind::import, account));
    EXPECT_FALSE(board.find(jobs::job_kind::conversion, account_id{99}));
    std::optional<jobs::conversion_answer> second;
    h.spawn(convert(second));
    h.settle();
    EXPECT_TRUE(second && std::holds_alternative<jobs::another_under_way>(*second));
    // What was added is no envelope.
    ASSERT_TRUE(told && std::holds_alternative<jobs::history_fault>(*told));
    EXPECT_FALSE(board.find(jobs::job_kind::conversion, account));
}

TEST_F(conversion, is_called_off_between_two_steps_and_changes_nothing) {
    std::optional<jobs::conversion_answer> told;
    ASSERT_TRUE(begin(told));
    EXPECT_FALSE(board.cancel(jobs::job_kind::conversion, account_id{99}));
    EXPECT_TRUE(board.cancel(jobs::job_kind::conversion, account));
    h.settle();
    ASSERT_TRUE(told && std::holds_alternative<jobs::cancelled>(*told));
    EXPECT_FALSE(board.cancel(jobs::job_kind::conversion, account)) << "it has ended";
    EXPECT_EQ(h.look([&](read_tx& tx) { return tx.find_account(account)->mode; }),
              account_mode::opaque);
}

}  // namespace
}  // namespace callsign::testing
