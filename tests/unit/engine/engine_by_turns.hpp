#pragma once
// An engine whose executors run only when the test runs them: network, writer, readers, long work
// and syncs are separate io_contexts. A test builds the engine with the executors and the store it
// needs.

#include "support/seeded_entropy.hpp"
#include "support/spawn.hpp"
#include "support/virtual_clock.hpp"

#include <callsign/engine/engine.hpp>
#include <callsign/store/memory.hpp>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace callsign::testing {

class engine_by_turns : public ::testing::Test {
  protected:
    // As after a kill: waiting frames are destroyed before the objects they refer to.
    void TearDown() override {
        drop_all();
        engine_.reset();
    }
    void drop_all() {
        for (droppable* each : {&network_, &writer_, &reader_, &aside_, &sync_}) each->shutdown();
    }

    // The place of a future result; empty until then.
    template <class T>
    using later = std::shared_ptr<std::optional<result<T>>>;

    // Runs nothing of it yet. `throws`: an exception is allowed, and leaves the result empty.
    template <class T>
    later<T> spawn(boost::asio::awaitable<result<T>> work, bool throws = false) {
        auto slot = std::make_shared<std::optional<result<T>>>();
        testing::spawn(network_.get_executor(), put_into(slot, std::move(work)),
                       [throws](const std::exception_ptr& e) {
                           if (e && !throws) std::rethrow_exception(e);
                       });
        return slot;
    }
    template <class T>
    later<T> start(boost::asio::awaitable<result<T>> work, bool throws = false) {
        auto slot = spawn(std::move(work), throws);
        run(network_);
        return slot;
    }

    template <class Command>
    later<typename Command::answer> submit(Command c) {
        return start(engine_->submit(std::move(c)));
    }
    later<create_answer> create(account_id who, std::string key, std::string description) {
        reserve r;
        r.account = who;
        r.key = std::move(key);
        r.fingerprint = sha256(description);
        r.attributes = {{"description", std::move(description)}};
        return start(engine_->create(std::move(r)));
    }
    account_id make_account(const std::string& name) {
        const auto made = submit(create_account{name, "TASK", "t", sha256(name)});
        settle();
        return std::get<account>(made->value().value()).id;
    }

    // Runs all ready handlers; returns their number.
    static std::size_t run(boost::asio::io_context& io) {
        io.restart();
        return io.poll();
    }
    static void run_one(boost::asio::io_context& io) {
        io.restart();
        io.poll_one();
    }
    // Exactly one batch.
    void run_batch() {
        run_one(writer_);
        run(network_);
    }
    void settle() {
        while (run(network_) + run(writer_) + run(reader_) + run(aside_) + run(sync_) > 0) {
        }
    }

    struct droppable : boost::asio::io_context {
        using boost::asio::io_context::shutdown;
    };

    std::unique_ptr<strict_memory_store> memory_ = make_memory_store();
    virtual_clock clock_;
    seeded_entropy entropy_{1};
    droppable network_;
    droppable writer_;
    droppable reader_;
    droppable aside_;
    droppable sync_;
    std::optional<engine> engine_;
};

}  // namespace callsign::testing
