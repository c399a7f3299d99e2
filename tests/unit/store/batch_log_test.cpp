// The batch log: who owns a shared store, until when, and what became of a COMMIT without an
// answer. On a database in memory whose calls fail as told.

#include "support/virtual_clock.hpp"
#include "t0.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/store/memory_database.hpp>

#include <deque>
#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace testing;
using kind = store_failure::kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

class batch_logs : public ::testing::Test {
  protected:
    // Fates of the next rows of the log; then they are answered.
    std::deque<append_fate> fates_;
    bool reads_ = true;

    std::unique_ptr<standby_store> connect(std::uint8_t owner, const log_options& options = {}) {
        const auto fate = [this](const log_row&) {
            clock_.advance_to_next(slow_);
            if (fates_.empty()) return append_fate::answered;
            const append_fate next = fates_.front();
            fates_.pop_front();
            return next;
        };
        return database_->connect(
            clock_, uuid{{owner}},
            {fate, [this] { return reads_; },
             [this](milliseconds span) { clock_.advance_to_next(span); }, options});
    }
    std::unique_ptr<store> own(std::uint8_t owner) {
        const auto standby = connect(owner);
        EXPECT_TRUE(standby->look());
        auto taken = standby->take_over();
        EXPECT_TRUE(taken);
        return taken;
    }
    static void write(store& to, const std::string& name) {
        const auto tx = to.begin_write();
        accounts::put(*tx, name, t0);
        tx->commit();
    }
    static std::optional<kind> failure_of_write(store& to, const std::string& name) {
        try {
            write(to, name);
        } catch (const store_failure& failure) {
            return failure.reason();
        }
        return std::nullopt;
    }
    std::string names() {
        std::string all;
        for (const auto& each : accounts::all(*database_->read())) all += each.name + " ";
        return all;
    }
    std::string kinds() const {
        std::string all;
        for (const log_row& row : database_->log()) all += "?tbhnrmM"[static_cast<int>(row.kind)];
        return all;
    }

    milliseconds slow_{0};
    virtual_clock clock_;
    std::unique_ptr<memory_database> database_ = make_memory_database();
};

TEST_F(batch_logs, each_batch_is_a_row_and_silence_is_filled_with_heartbeats) {
    const auto one = own(1);
    write(*one, "a");
    clock_.advance_to_next(milliseconds{1'999});
    one->shared()->keep();
    EXPECT_EQ(kinds(), "tb");
    clock_.advance_to_next(milliseconds{1});
    one->shared()->keep();
    EXPECT_EQ(kinds(), "tbh");
    one->shared()->keep();
    EXPECT_EQ(kinds(), "tbh");
    // A batch without changes needs no row while the store is held.
    one->begin_write()->commit();
    EXPECT_EQ(kinds(), "tbh");
    clock_.advance_to_next(seconds{4});
    one->begin_write()->commit();
    EXPECT_EQ(kinds(), "tbhh");
    EXPECT_EQ(one->shared()->usage().last_row, 4);
}

TEST_F(batch_logs, an_owner_that_writes_is_not_succeeded_and_a_silent_one_is_after_the_lease) {
    const auto one = own(1);
    const auto other = connect(2);
    EXPECT_FALSE(other->look());
    for (int n = 0; n < 5; ++n) {
        clock_.advance_to_next(seconds{3});
        one->shared()->keep();
        EXPECT_FALSE(other->look());
    }
    clock_.advance_to_next(milliseconds{5'999});
    EXPECT_FALSE(other->look());
    clock_.advance_to_next(milliseconds{1});
    EXPECT_TRUE(other->look());
    const auto two = other->take_over();
    ASSERT_TRUE(two);
    EXPECT_EQ(failure_of_write(*one, "stale"), kind::moved);
    EXPECT_EQ(failure_of_write(*one, "stale"), kind::moved);
    write(*two, "a");
    EXPECT_EQ(names(), "a ");
}

TEST_F(batch_logs, silence_is_measured_over_looks_that_were_answered) {
    const auto one = own(1);
    const auto other = connect(2);
    EXPECT_FALSE(other->look());
    clock_.advance_to_next(seconds{5});
    reads_ = false;
    EXPECT_THROW(other->look(), store_failure);
    reads_ = true;
    clock_.advance_to_next(seconds{5});
    EXPECT_FALSE(other->look());
    clock_.advance_to_next(seconds{6});
    EXPECT_TRUE(other->look());
}

TEST_F(batch_logs, of_two_that_take_over_one_succeeds) {
    const auto one = own(1);
    const auto two = connect(2), three = connect(3);
    two->look();
    three->look();
    clock_.advance_to_next(seconds{6});
    EXPECT_TRUE(two->look() && three->look());
    EXPECT_TRUE(two->take_over());
    EXPECT_FALSE(three->take_over());
}

// The time of an acknowledgement says nothing: another server may have waited since the row was
// sent.
TEST_F(batch_logs, a_store_is_held_from_the_sending_of_a_row) {
    const auto one = own(1);
    slow_ = milliseconds{3'000};
    write(*one, "a");
    EXPECT_TRUE(one->shared()->is_held());
    EXPECT_EQ(names(), "a ");
    clock_.advance_to_next(milliseconds{999});
    EXPECT_TRUE(one->shared()->is_held());
    one->begin_read();
    clock_.advance_to_next(milliseconds{1});
    EXPECT_FALSE(one->shared()->is_held());
    EXPECT_THROW(one->begin_read(), store_failure);
}

TEST_F(batch_logs, a_released_store_is_taken_over_at_once) {
    auto one = own(1);
    const auto other = connect(2);
    EXPECT_FALSE(other->look());
    one.reset();
    EXPECT_TRUE(other->look());
    EXPECT_TRUE(other->take_over());
    EXPECT_EQ(kinds(), "trtr");
}

TEST_F(batch_logs, a_lost_batch_is_replaced_by_nothing) {
    const auto one = own(1);
    fates_ = {append_fate::lost};
    EXPECT_EQ(failure_of_write(*one, "a"), kind::rejected);
    write(*one, "b");
    EXPECT_EQ(names(), "b ");
    EXPECT_EQ(kinds(), "tnb");
}

TEST_F(batch_logs, an_unanswered_batch_is_found_and_counts_once_a_later_row_is_acknowledged) {
    const auto one = own(1);
    fates_ = {append_fate::unanswered};
    write(*one, "a");
    EXPECT_EQ(kinds(), "tbh");
    fates_ = {append_fate::unanswered, append_fate::lost, append_fate::unanswered,
              append_fate::unanswered};
    write(*one, "b");
    EXPECT_EQ(kinds(), "tbhbhhh");
    EXPECT_EQ(names(), "a b ");
}

TEST_F(batch_logs, a_late_batch_does_not_land_after_it_was_decided) {
    const auto one = own(1);
    fates_ = {append_fate::late};
    EXPECT_EQ(failure_of_write(*one, "a"), kind::rejected);
    database_->land_late();
    EXPECT_EQ(names(), "");
    EXPECT_EQ(kinds(), "tn");
    write(*one, "b");
    EXPECT_EQ(names(), "b ");
}

// What prevents the batch may be unknown itself.
TEST_F(batch_logs, what_replaces_a_batch_may_go_unanswered_too) {
    const auto one = own(1);
    fates_ = {append_fate::lost, append_fate::unanswered, append_fate::rejected};
    EXPECT_EQ(failure_of_write(*one, "a"), kind::rejected);
    EXPECT_EQ(kinds(), "tnh");
    write(*one, "b");
    EXPECT_EQ(names(), "b ");
}

TEST_F(batch_logs, an_outcome_that_stays_unknown_ends_the_owner) {
    const auto one = own(1);
    fates_ = {append_fate::lost};
    for (int n = 0; n < 200; ++n) fates_.push_back(append_fate::rejected);
    const milliseconds before = clock_.elapsed();
    EXPECT_EQ(failure_of_write(*one, "a"), kind::unknown);
    EXPECT_GE(clock_.elapsed() - before, seconds{30});
    EXPECT_EQ(failure_of_write(*one, "a"), kind::moved);
    EXPECT_FALSE(one->shared()->is_held());
}

TEST_F(batch_logs, an_owner_that_decides_too_late_has_lost_the_store) {
    const auto one = own(1);
    const auto other = connect(2);
    other->look();
    clock_.advance_to_next(seconds{6});
    EXPECT_TRUE(other->look());
    const auto two = other->take_over();
    fates_ = {append_fate::lost};
    EXPECT_EQ(failure_of_write(*one, "a"), kind::moved);
    write(*two, "b");
    EXPECT_EQ(names(), "b ");
}

// It was committed, or was it lost with the owner's row? Only the other server's rows say so.
TEST_F(batch_logs, a_batch_before_a_takeover_is_unknown_to_its_owner) {
    const auto one = own(1);
    std::unique_ptr<store> two;
    // The other server takes over between the batch and the look at it.
    const auto other = connect(2);
    other->look();
    clock_.advance_to_next(seconds{6});
    fates_ = {append_fate::unanswered};
    reads_ = false;
    const auto standby_takes_over = [&](milliseconds span) {
        reads_ = true;
        clock_.advance_to_next(span);
        if (!two) {
            other->look();
            clock_.advance_to_next(seconds{6});
            EXPECT_TRUE(other->look());
            two = other->take_over();
        }
    };
    const auto three = database_->connect(
        clock_, uuid{{3}},
        {[this](const log_row&) {
             const append_fate next = fates_.empty() ? append_fate::answered : fates_.front();
             if (!fates_.empty()) fates_.pop_front();
             return next;
         },
         [this] { return reads_; },
         standby_takes_over,
         {}});
    reads_ = true;
    fates_.clear();
    three->look();
    clock_.advance_to_next(seconds{6});
    ASSERT_TRUE(three->look());
    const auto owner = three->take_over();
    ASSERT_TRUE(owner);
    fates_ = {append_fate::unanswered};
    reads_ = false;
    EXPECT_EQ(failure_of_write(*owner, "a"), kind::unknown);
    ASSERT_TRUE(two);
    EXPECT_EQ(names(), "a ");
}

// A takeover may go unanswered, too.
TEST_F(batch_logs, a_takeover_without_an_answer_is_decided) {
    for (const auto& [fate, succeeds] :
         {std::pair(append_fate::lost, false), std::pair(append_fate::unanswered, true)}) {
        database_ = make_memory_database();
        const auto standby = connect(1);
        ASSERT_TRUE(standby->look());
        fates_ = {fate};
        EXPECT_EQ(standby->take_over() != nullptr, succeeds);
        EXPECT_EQ(database_->log().back().owner, (uuid{{1}}));
    }
}

TEST_F(batch_logs, an_owner_notices_lost_batches_and_says_so_in_the_log) {
    auto one = own(1);
    for (const char* name : {"a", "b", "c"}) write(*one, name);
    database_->lose_after(2);
    EXPECT_EQ(failure_of_write(*one, "d"), kind::unknown);
    EXPECT_EQ(names(), "a ");
    EXPECT_EQ(kinds(), "tbt");
    EXPECT_EQ(database_->log().back().lost_through, 4);
    one.reset();
    clock_.advance_to_next(seconds{6});
    const auto standby = connect(2);
    standby->look();
    clock_.advance_to_next(seconds{6});
    ASSERT_TRUE(standby->look());
    const auto two = standby->take_over();
    EXPECT_EQ(two->shared()->lost_through(), 4);
    write(*two, "e");
    EXPECT_EQ(database_->log().back().lost_through, 4);
    two->shared()->forget_loss();
    write(*two, "f");
    EXPECT_EQ(database_->log().back().lost_through, 0);
}

// Its heartbeat notices it, too, and while an outcome is being decided.
TEST_F(batch_logs, lost_batches_are_noticed_by_every_row) {
    auto one = own(1);
    write(*one, "a");
    write(*one, "b");
    database_->lose_after(2);
    EXPECT_THROW(one->shared()->prove_writable(), store_failure);
    EXPECT_EQ(database_->log().back().lost_through, 3);

    database_ = make_memory_database();
    auto two = own(1);
    write(*two, "a");
    write(*two, "b");
    database_->lose_after(2);
    fates_ = {append_fate::lost};
    EXPECT_EQ(failure_of_write(*two, "c"), kind::unknown);
    EXPECT_EQ(database_->log().back().lost_through, 3);
}

TEST_F(batch_logs, a_standby_notices_batches_that_were_lost_with_their_owner) {
    auto one = own(1);
    const auto standby = connect(2);
    write(*one, "a");
    write(*one, "b");
    EXPECT_FALSE(standby->look());
    database_->lose_after(1);
    EXPECT_FALSE(standby->look());
    clock_.advance_to_next(seconds{6});
    EXPECT_TRUE(standby->look());
    const auto two = standby->take_over();
    ASSERT_TRUE(two);
    EXPECT_EQ(two->shared()->lost_through(), 3);
    EXPECT_EQ(failure_of_write(*one, "c"), kind::unknown);
}

// ---- moves ----

TEST_F(batch_logs, servers_wait_for_a_move_and_a_move_for_none) {
    const log_options mover{.moves = true};
    {
        const auto standby = connect(1, mover);
        ASSERT_TRUE(standby->look());
        const auto moving = standby->take_over();
        write(*moving, "a");
        moving->shared()->prove_writable();
        // It was killed.
        fates_.assign(1, append_fate::rejected);
    }
    EXPECT_EQ(kinds(), "mmm");
    const auto server = connect(2);
    for (int n = 0; n < 5; ++n) {
        EXPECT_FALSE(server->look());
        clock_.advance_to_next(seconds{6});
    }
    const auto again = connect(3, mover);
    EXPECT_FALSE(again->look());
    clock_.advance_to_next(seconds{6});
    ASSERT_TRUE(again->look());
    auto moving = again->take_over();
    moving->shared()->finish_move(true);
    EXPECT_EQ(kinds(), "mmmmr");
    EXPECT_TRUE(server->look());
    EXPECT_TRUE(server->take_over());
}

TEST_F(batch_logs, a_store_that_was_moved_away_is_not_taken_over) {
    const auto standby = connect(1, {.moves = true});
    ASSERT_TRUE(standby->look());
    standby->take_over()->shared()->finish_move(false);
    EXPECT_EQ(kinds(), "mM");
    const auto server = connect(2);
    EXPECT_FALSE(server->look());
    clock_.advance_to_next(std::chrono::hours{1});
    EXPECT_FALSE(server->look());
}

// A row in the place of a batch would let a server take over what is there so far.
TEST_F(batch_logs, a_move_ends_if_a_commit_has_no_answer) {
    const auto standby = connect(1, {.moves = true});
    ASSERT_TRUE(standby->look());
    const auto moving = standby->take_over();
    fates_ = {append_fate::unanswered};
    EXPECT_EQ(failure_of_write(*moving, "a"), kind::unknown);
    EXPECT_EQ(kinds(), "mm");
}

}  // namespace
}  // namespace callsign
