// Backups while the server runs: in steps, one at a time, with a maximum number retained.

#include "support/forwarding_store.hpp"
#include "support/test_server.hpp"

#include <callsign/jobs/backups.hpp>

#include <gtest/gtest.h>
#include <set>

namespace callsign::testing {
namespace {

using namespace std::chrono_literals;
using jobs::backup_failed;

// An in-memory store, of which copies are made in a given number of steps.
class copied_store final : public forwarding_store {
  public:
    copied_store(store& within, int steps) : forwarding_store(within), steps_(steps) {}

    std::unique_ptr<store_copy> begin_copy(const std::filesystem::path&) override {
        return std::make_unique<copy>(*this);
    }

    int at_once = 0;
    int fails_at = -1;

  private:
    class copy final : public store_copy {
      public:
        explicit copy(copied_store& of) : of_(of) { EXPECT_EQ(++of_.at_once, 1); }
        ~copy() override { --of_.at_once; }
        bool step() override {
            if (done_ == of_.fails_at) {
                throw store_failure(store_failure::kind::full, "no room for the copy");
            }
            return ++done_ < of_.steps_;
        }
        amount_done progress() override { return {done_, of_.steps_}; }

      private:
        copied_store& of_;
        int done_ = 0;
    };

    int steps_;
};

class backups : public ::testing::Test {
  protected:
    backups() {
        test_server_options o;
        o.disk = &disk_;
        server_.emplace(std::move(o));
        all_.emplace(with(), files(), server_->clock());
    }

    jobs::context& with() {
        with_.emplace(jobs::context{server_->engine(), server_->entropy(), nullptr, board_});
        return *with_;
    }
    backup_files files() {
        return {.begin =
                    [this](const std::filesystem::path& dir) {
                        if (is_read_only) throw std::runtime_error("cannot make it");
                        begun.insert(dir.string());
                        return dir / "file";
                    },
                .finish =
                    [this](const std::filesystem::path& dir, time_point at) {
                        begun.erase(dir.string());
                        whole.insert(dir.string());
                        return backup_manifest{"0.1.0", 1, at, 1, {}};
                    },
                .discard =
                    [this](const std::filesystem::path& dir) {
                        begun.erase(dir.string());
                        whole.erase(dir.string());
                    },
                .list =
                    [this](const std::filesystem::path&) {
                        return std::vector<std::filesystem::path>(whole.begin(), whole.end());
                    },
                .read =
                    [this](const std::filesystem::path& dir) {
                        if (dir == unreadable) throw std::runtime_error("no manifest");
                        return backup_manifest{"0.1.0", 1, server_->clock().now(), 1, {}};
                    }};
    }
    jobs::backup_answer make(const std::string& dir) { return *server_->run(all_->make(dir)); }
    void run(jobs::backup_options options) {
        server_->spawn(all_->run(server_->network(), std::move(options), {}));
    }
    std::string why(const jobs::backup_answer& answer) {
        const auto* const failed = std::get_if<backup_failed>(&answer);
        return failed ? failed->why : std::string();
    }

    std::unique_ptr<store> memory_ = make_memory_store();
    copied_store disk_{*memory_, 3};
    jobs::board board_;
    std::set<std::string> begun, whole;
    bool is_read_only = false;
    std::filesystem::path unreadable;
    std::optional<test_server> server_;
    std::optional<jobs::context> with_;
    std::optional<jobs::backups> all_;
};

TEST_F(backups, one_is_complete_when_it_is_reported) {
    ASSERT_EQ(why(make("/backups/one")), "");
    EXPECT_EQ(whole, std::set<std::string>{"/backups/one"});
    EXPECT_EQ(all_->last().made_in, "/backups/one");
    EXPECT_FALSE(all_->in_progress());
    EXPECT_EQ(all_->tally().made, 1);
    EXPECT_EQ(all_->tally().failed, 0);
    EXPECT_EQ(all_->tally().newest, all_->last().made->made_at);
}

TEST_F(backups, one_at_a_time) {
    std::optional<jobs::backup_answer> first, second;
    const auto start =
        [&](const char* dir,
            std::optional<jobs::backup_answer>& told) -> boost::asio::awaitable<void> {
        auto made = co_await all_->make(dir);
        told = std::move(*made);
    };
    server_->spawn(start("/backups/one", first));
    while (!all_->in_progress() || all_->in_progress()->done == 0) ASSERT_TRUE(server_->step());
    EXPECT_EQ(all_->in_progress()->total, 3);
    server_->spawn(start("/backups/two", second));
    server_->settle();
    EXPECT_EQ(why(*first), "");
    EXPECT_NE(why(*second).find("Another"), std::string::npos);
    EXPECT_EQ(whole, std::set<std::string>{"/backups/one"});
}

// Commands are executed between the steps.
TEST_F(backups, writes_continue_during_one) {
    std::optional<jobs::backup_answer> told;
    server_->spawn([](jobs::backups& all, auto& to) -> boost::asio::awaitable<void> {
        auto made = co_await all.make("/backups/one");
        to = std::move(*made);
    }(*all_, told));
    while (!all_->in_progress() || all_->in_progress()->done == 0) ASSERT_TRUE(server_->step());
    bool is_made = false;
    server_->spawn([](test_server& h, bool& done) -> boost::asio::awaitable<void> {
        create_account c{"meanwhile", "M", "t", sha256("m")};
        const auto made = co_await h.engine().submit(std::move(c));
        done = made.has_value();
    }(*server_, is_made));
    while (!is_made) ASSERT_TRUE(server_->step());
    EXPECT_FALSE(told);
    server_->settle();
    EXPECT_EQ(why(*told), "");
}

TEST_F(backups, a_failed_one_is_removed_and_the_next_may_be_made) {
    disk_.fails_at = 1;
    EXPECT_NE(why(make("/backups/one")).find("no room"), std::string::npos);
    EXPECT_TRUE(begun.empty() && whole.empty());
    EXPECT_NE(all_->last().error.find("no room"), std::string::npos);
    disk_.fails_at = -1;
    is_read_only = true;
    EXPECT_NE(why(make("/backups/one")).find("cannot make it"), std::string::npos);
    is_read_only = false;
    EXPECT_EQ(why(make("/backups/one")), "");
    EXPECT_EQ(all_->last().error, "");
    EXPECT_EQ(all_->tally().failed, 2);
    EXPECT_EQ(all_->tally().made, 1);
    EXPECT_EQ(disk_.at_once, 0);
}

TEST_F(backups, are_made_when_they_are_due_and_a_maximum_is_retained) {
    run({.directory = "/backups", .every = 24h, .keep = 3});
    server_->advance(1s);
    EXPECT_EQ(whole.size(), 1u);
    const std::string first = *whole.begin();
    server_->advance(23h);
    EXPECT_EQ(whole.size(), 1u);
    server_->advance(2h);
    EXPECT_EQ(whole.size(), 2u);
    server_->advance(24h * 5);
    EXPECT_EQ(whole.size(), 3u);
    EXPECT_FALSE(whole.contains(first));
    all_->stop();
    server_->settle();
}

// A backup from before a restart counts.
TEST_F(backups, one_that_is_not_due_is_not_made_at_the_start) {
    const time_point before = server_->clock().now() - 20h;
    whole.insert("/backups/" + backup_name(before));
    run({.directory = "/backups", .every = 24h, .keep = 3});
    server_->advance(3h);
    EXPECT_EQ(whole.size(), 1u);
    EXPECT_EQ(all_->tally().newest, before);
    EXPECT_EQ(all_->tally().made, 0);
    server_->advance(2h);
    EXPECT_EQ(whole.size(), 2u);
    all_->stop();
    server_->settle();
}

TEST_F(backups, one_dated_in_the_future_does_not_delay_the_next) {
    whole.insert("/backups/" + backup_name(server_->clock().now() + 24h * 365));
    run({.directory = "/backups", .every = 24h, .keep = 3});
    server_->advance(1s);
    EXPECT_EQ(whole.size(), 2u);
    // The backup dated in the future is the first to be deleted.
    const std::string wrong = *whole.rbegin();
    server_->advance(24h * 2);
    EXPECT_EQ(whole.size(), 3u);
    EXPECT_FALSE(whole.contains(wrong));
    all_->stop();
    server_->settle();
}

TEST_F(backups, a_failed_one_is_retried) {
    disk_.fails_at = 0;
    run({.directory = "/backups", .every = 24h, .keep = 3});
    server_->advance(1min);
    EXPECT_TRUE(whole.empty());
    EXPECT_FALSE(all_->last().error.empty());
    disk_.fails_at = -1;
    server_->advance(10min);
    EXPECT_EQ(whole.size(), 1u);
    all_->stop();
    server_->settle();
}

// A manual backup in the configured directory counts as a scheduled one.
TEST_F(backups, a_manual_one_counts_among_those_retained) {
    run({.directory = "/backups/", .every = 24h, .keep = 2});
    server_->advance(1h);
    const std::string first = *whole.begin();
    ASSERT_EQ(why(make(all_->next_scheduled().string())), "");
    EXPECT_EQ(whole.size(), 2u);
    server_->advance(1h);
    ASSERT_EQ(why(make(all_->next_scheduled().string())), "");
    EXPECT_EQ(whole.size(), 2u);
    EXPECT_FALSE(whole.contains(first));
    // A backup in another directory belongs to the operator and replaces no scheduled one.
    ASSERT_EQ(why(make("/elsewhere/one")), "");
    EXPECT_EQ(whole.size(), 3u);
    // The next backup is due one interval after the last.
    whole.erase("/elsewhere/one");
    server_->advance(23h);
    EXPECT_EQ(all_->tally().made, 4);
    server_->advance(2h);
    EXPECT_EQ(all_->tally().made, 5);
    all_->stop();
    server_->settle();
}

TEST_F(backups, those_retained_are_listed_newest_first) {
    EXPECT_TRUE(server_->run(all_->kept())->empty());
    EXPECT_TRUE(all_->next_scheduled().empty());
    run({.directory = "/backups", .every = 24h, .keep = 3});
    server_->advance(24h * 3);
    const std::vector<std::string> there(whole.rbegin(), whole.rend());
    ASSERT_EQ(there.size(), 3u);
    const auto kept = *server_->run(all_->kept());
    ASSERT_EQ(kept.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(kept[i].directory, there[i]);
    unreadable = there[1];
    EXPECT_EQ(server_->run(all_->kept())->size(), 2u);
    all_->stop();
    server_->settle();
}

TEST_F(backups, none_are_scheduled_without_a_directory) {
    run({});
    server_->advance(24h * 30);
    EXPECT_TRUE(whole.empty());
}

}  // namespace
}  // namespace callsign::testing
