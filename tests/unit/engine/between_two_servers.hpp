#pragma once
// A server with a remote account, whose remote server is an in-memory chain behind a faulty wire.

#include "support/audit.hpp"
#include "support/faulty_store.hpp"
#include "support/remote_chain.hpp"
#include "support/test_server.hpp"

#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/slots.hpp>

#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace callsign::testing {

using namespace std::chrono_literals;

class between : public ::testing::Test {
  protected:
    between() {
        start();
        token_ = api::make_token(chance_);
        create_account c{"team", "SYN", "default", sha256(token_)};
        c.remote = create_account::remote_endpoint{"http://127.0.0.1:1", uuid{}, "key"};
        account_ = std::get<account>(*server_->run(server_->engine().submit(std::move(c)))).id;
        server_->settle();
    }
    // The invariants hold at the end of every test.
    ~between() override {
        server_.reset();
        EXPECT_EQ(audit(*disk_), std::vector<std::string>{});
    }

    void start() {
        faulty_ = std::make_unique<faulty_store>(*disk_);
        test_server_options o;
        o.disk = faulty_.get();
        o.clock = &clock_;
        o.entropy = &chance_;
        o.engine.request_deadline = 3s;
        o.engine.trust_clock_after = 0ms;
        o.reaper.window = 30s;
        o.deliveries = {.poll_interval = 2s,
                        .retry_min = 100ms,
                        .retry_max = 5s,
                        .verify_interval = 10s,
                        .effects_max = effects_max_,
                        .attempts_max = 2};
        o.sinks = [this](const remote_chain&) -> std::unique_ptr<task_sink> {
            if (!has_key_) return nullptr;
            return std::make_unique<faulty_sink>(chain_, wire_);
        };
        server_ = std::make_unique<test_server>(std::move(o));
    }
    void kill() {
        server_.reset();
        start();
    }

    net::http_response create(const std::string& key) {
        return server_->call(post("/v1/tasks", R"({"description":")" + key + R"("})", token_, key));
    }
    std::shared_ptr<std::optional<net::http_response>> begin(const std::string& key) {
        return server_->start(
            post("/v1/tasks", R"({"description":")" + key + R"("})", token_, key));
    }
    static std::string field(const net::http_response& response, const char* name) {
        const auto body = boost::json::parse(response.body).as_object();
        const auto* const found = body.if_contains(name);
        return found && found->is_string() ? std::string(found->as_string()) : std::string();
    }
    remote_status status() { return *server_->outbox().status(account_); }
    void advance(milliseconds by) { server_->advance(by); }
    // The first error within `most`; empty if there is none.
    std::string awaited_error(milliseconds most) {
        for (milliseconds waited{0}; waited < most && status().last_error.empty(); waited += 50ms) {
            advance(50ms);
        }
        return status().last_error;
    }
    void sweep() {
        const auto swept = server_->run(server_->reaper().sweep_once());
        ASSERT_TRUE(swept);
    }
    slot_state state_of(const std::string& key) {
        return server_->run(server_->engine().ask(find_slot{account_, key}))->value().slot.state;
    }
    slot_state state_on_disk(const std::string& key) {
        const auto tx = disk_->begin_write();
        return slots::find(*tx, account_, key)->state;
    }
    // Moves another account, created locally with a number of tasks, to the remote server.
    std::vector<uuid> move_to_remote(int tasks) {
        server_.reset();
        disk_ = make_memory_store();
        chain_.lose_all();
        start();
        token_ = api::make_token(chance_);
        create_account c{"mine", "MINE", "default", sha256(token_)};
        account_ = std::get<account>(*server_->run(server_->engine().submit(std::move(c)))).id;
        std::vector<uuid> all;
        for (int n = 0; n < tasks; ++n) {
            all.push_back(*parse_uuid(field(create("mine" + std::to_string(n)), "uuid")));
        }
        server_->start_command(
            callsign::move_to_remote{account_, "http://127.0.0.1:1", uuid{}, "key"});
        return all;
    }
    std::optional<remote_chain> remote() {
        return server_->look([&](read_tx& tx) { return remotes::find(tx, account_); });
    }
    void let_it_move() {
        for (int n = 0; n < 20 && remote()->moving; ++n) advance(2s);
        EXPECT_FALSE(remote()->moving);
    }
    void expect_there(const std::vector<uuid>& tasks) {
        EXPECT_EQ(chain_.tasks().size(), tasks.size());
        for (std::size_t n = 0; n < tasks.size(); ++n) {
            EXPECT_EQ(value_of(chain_.tasks().at(tasks[n]), "key"),
                      "MINE-" + std::to_string(n + 1));
        }
    }

    // The task exists once on the remote server, with this key, and a retry gets the same receipt.
    void expect_made(const std::string& key, const std::string& number) {
        const auto told = create(key);
        EXPECT_EQ(told.status, 201u) << told.body;
        EXPECT_EQ(field(told, "key"), number);
        EXPECT_EQ(chain_.creations(*parse_uuid(field(told, "uuid"))), 1);
        advance(10s);
        const auto& tasks = chain_.tasks();
        const auto found = tasks.find(*parse_uuid(field(told, "uuid")));
        ASSERT_NE(found, tasks.end());
        EXPECT_EQ(value_of(found->second, "key"), number);
    }
    // A version of another replica.
    uuid work_elsewhere(int n) {
        const uuid id = make_uuid_v7(virtual_start, 50, static_cast<std::uint64_t>(n));
        chain_.add(chain_.head(), {{operation_kind::create, id, {}, {}, {}}});
        return id;
    }

    seeded_entropy chance_{1};
    faulty_wire wire_{1};
    chain_in_memory chain_;
    virtual_clock clock_;
    std::unique_ptr<store> disk_ = make_memory_store();
    std::unique_ptr<faulty_store> faulty_;
    bool has_key_ = true;
    std::int64_t effects_max_ = 500;
    std::unique_ptr<test_server> server_;
    std::string token_;
    account_id account_;
};

}  // namespace callsign::testing
