// The board: jobs in progress, and requests to cancel them.

#include <callsign/jobs/board.hpp>

#include <gtest/gtest.h>

namespace callsign::jobs {
namespace {

constexpr account_id one{1};
constexpr account_id two{2};

TEST(board, lists_the_jobs_in_progress) {
    board all;
    EXPECT_FALSE(all.find(job_kind::import, one));
    {
        auto first = all.begin(job_kind::import, one);
        auto second = all.begin(job_kind::import, two);
        auto other = all.begin(job_kind::conversion, one);
        first.at({3, 10});
        EXPECT_EQ(all.count(job_kind::import), 2u);
        EXPECT_EQ(all.count(job_kind::snapshot), 0u);
        EXPECT_EQ(all.find(job_kind::import, one)->done, 3);
        EXPECT_EQ(all.find(job_kind::import, one)->total, 10);
        EXPECT_EQ(all.find(job_kind::conversion, one)->done, 0);
        EXPECT_FALSE(all.find(job_kind::conversion, two));
    }
    EXPECT_EQ(all.count(job_kind::import), 0u) << "listed only while they exist";
}

TEST(board, cancels_jobs_of_one_account_and_kind_only) {
    board all;
    auto wanted = all.begin(job_kind::conversion, one);
    auto other_kind = all.begin(job_kind::import, one);
    auto other_account = all.begin(job_kind::conversion, two);
    EXPECT_FALSE(all.cancel(job_kind::snapshot, one));
    EXPECT_TRUE(all.cancel(job_kind::conversion, one));
    EXPECT_TRUE(wanted.is_cancelled());
    EXPECT_FALSE(other_kind.is_cancelled());
    EXPECT_FALSE(other_account.is_cancelled());
}

TEST(board, may_be_destroyed_before_its_jobs) {
    auto all = std::make_unique<board>();
    auto job = all->begin(job_kind::import, one);
    all.reset();
    job.at({1, 2});
    EXPECT_FALSE(job.is_cancelled());
}

}  // namespace
}  // namespace callsign::jobs
