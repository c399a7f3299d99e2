// Goal: the store's maintenance, which takes as long as the largest commands, runs after waiting
// light commands; and it runs regardless of their number.

#include "support/forwarding_store.hpp"
#include "support/test_server.hpp"

#include <callsign/store/memory.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

// Keeps a log: w for a transaction, m for maintenance while commands wait, i while idle.
class logging_store final : public forwarding_store {
  public:
    logging_store(store& within, std::string& log) : forwarding_store(within), log_(log) {}

    std::unique_ptr<write_tx> begin_write() override {
        log_ += 'w';
        return forwarding_store::begin_write();
    }
    void maintain(bool idle) override { log_ += idle ? 'i' : 'm'; }

  private:
    std::string& log_;
};

class maintenance : public ::testing::Test {
  protected:
    maintenance() {
        // One command per batch.
        options_.engine.batch_commands_max = 1;
        options_.disk = &store_;
        server_ = std::make_unique<test_server>(options_);
        account_ = server_->make_account("home", "TASK").id;
    }

    // The log of the store's calls for these creations, of two commands each.
    std::string log_of(const std::vector<std::size_t>& creations) {
        log_.clear();
        int ended = 0;
        for (const std::size_t bytes : creations) {
            reserve request;
            request.account = account_;
            request.key = "key-" + std::to_string(++made_);
            request.fingerprint = sha256(request.key);
            request.attributes = {{"description", std::string(bytes, 'd')}};
            boost::asio::co_spawn(server_->io(), server_->engine().create(std::move(request)),
                                  [&](const std::exception_ptr&, const result<create_answer>& r) {
                                      EXPECT_TRUE(r);
                                      ++ended;
                                  });
        }
        server_->settle();
        EXPECT_EQ(ended, std::ssize(creations));
        return log_;
    }

    std::string log_;
    std::unique_ptr<store> memory_ = make_memory_store();
    logging_store store_{*memory_, log_};
    test_server_options options_;
    std::unique_ptr<test_server> server_;
    account_id account_;
    int made_ = 0;
};

TEST_F(maintenance, the_second_phase_of_a_creation_goes_before_it) {
    EXPECT_EQ(log_of({10}), "wwi");
}

TEST_F(maintenance, is_not_deferred_forever) {
    EXPECT_EQ(log_of({10, 10, 10, 10, 10}), "wwwmwwwmwwwmwi");
}

TEST_F(maintenance, goes_before_large_commands) {
    constexpr std::size_t large = 1u << 20;
    // A reservation is light, whatever the size of its task.
    EXPECT_EQ(log_of({large, large}), "wwmwmwi");
}

}  // namespace
}  // namespace callsign::testing
