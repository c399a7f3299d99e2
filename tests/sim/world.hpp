#pragma once
// world{seed}: the whole server but its sockets, its clients, its network and its disk, on one
// io_context and a virtual clock. Everything that happens is a function of the seed: the same seed,
// the same run.
//
// The workload drives: clients of two accounts create tasks over a network that loses requests and
// answers, delays them, and delivers them twice; they retry with their keys until they have a
// definite answer. The process is killed at random, the disk refuses and fails, the wall clock
// steps, the reaper sweeps all the while with a window short enough to matter. The auditor (ledger,
// audit) predicts and checks.

#include "support/audit.hpp"
#include "support/faulty_store.hpp"
#include "support/house.hpp"
#include "support/ledger.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace callsign::testing {

struct world_options {
    int clients = 6;
    int tasks_a_client = 8;
    milliseconds window{std::chrono::seconds{20}};
    milliseconds retention{std::chrono::hours{4}};
};

class world {
  public:
    explicit world(std::uint64_t seed, world_options options = {})
        : options_(options),
          chance_(seed),
          disk_(make_memory_store()),
          ledger_(options.window, options.retention) {
        start();
        for (const char* name : {"one", "two"}) {
            tokens_.push_back(house_->make_account(name, "SYN").token);
        }
        for (int c = 0; c < options_.clients; ++c) clients_.emplace_back().account = c % 2;
    }

    // Until every client has a definite answer for each of its tasks.
    void run() {
        for (int steps = 0; !finished(); ++steps) {
            CALLSIGN_ASSERT(steps < 1'000'000);
            try {
                step();
            } catch (const killed&) {
                restart();
            }
            if (house_->fatal()) restart();
        }
    }

    // What broke the promise, in words; empty: nothing.
    std::vector<std::string> verdict() {
        faulty_->disarm();
        restart();
        auto found = ledger_.violations();
        for (auto& broken : audit(*disk_)) found.push_back(std::move(broken));
        // Everything acknowledged is given again.
        ledger again = ledger_;
        for (const auto& [name, payload] : ledger_.acknowledged(now())) {
            const auto key = name.substr(name.find('/') + 1);
            const auto asked = again.sent(name, payload, now());
            const auto response = house_->call(
                post("/v1/tasks", payload, tokens_[static_cast<std::size_t>(name[0] - '0')], key));
            again.answered(asked, response, header(response, "Idempotent-Replayed") == "true",
                           now());
        }
        for (const auto& v : again.violations()) found.push_back("asked again: " + v);
        return found;
    }

    // How much happened, for a test that wants to know that something did.
    struct events {
        int kills = 0;
        int retries = 0;
        int failed = 0;
        int receipts = 0;
        std::string trace;  // of every answer: equal seeds give equal traces
    };
    const events& seen() const { return seen_; }

  private:
    // By the clock that is never set: what a client has waited, whatever the wall clock says.
    time_point now() const { return virtual_start + clock_.elapsed(); }

    // A request on the network, or at the server. `response` is there once the server has answered.
    struct flight {
        ledger::request request;
        std::shared_ptr<std::optional<net::http_response>> response;
        bool answer_lost = false;
    };

    struct client {
        int account = 0;
        int made = 0;        // tasks with a definite answer
        int attempt = 0;     // at the task it is at
        int generation = 0;  // a new key after a definite failure
        milliseconds wait_until{0};
        std::optional<flight> out;
    };

    bool finished() const {
        return std::ranges::all_of(
            clients_, [&](const client& c) { return c.made == options_.tasks_a_client; });
    }

    void step() {
        switch (chance_.below(100)) {
        case 0: seen_.kills++; throw killed{};
        case 1: arm(); break;
        case 2: set_wall_clock(); break;
        default: break;
        }
        client& c = clients_[chance_.below(clients_.size())];
        c.out ? look(c) : go_on(c);
        // The server gets some way, or all the way, and time passes.
        if (chance_.once_in(3)) {
            house_->settle();
        } else {
            for (auto n = chance_.below(6); n > 0; --n) house_->step();
        }
        if (chance_.once_in(2)) house_->advance(milliseconds{chance_.below(1500)});
    }

    // Mostly by what a time server would; now and then by years.
    void set_wall_clock() {
        const milliseconds unit =
            chance_.once_in(8) ? milliseconds{std::chrono::hours{24 * 365}} : milliseconds{200};
        clock_.step_wall((static_cast<int>(chance_.below(21)) - 10) * unit);
    }

    std::string key_of(const client& c) const {
        const auto index = static_cast<std::size_t>(&c - clients_.data());
        return "c" + std::to_string(index) + "-t" + std::to_string(c.made) + "-g" +
               std::to_string(c.generation);
    }
    std::string name_of(const client& c) const {
        return std::to_string(c.account) + "/" + key_of(c);
    }
    static std::string payload_of(const client& c) {
        return R"({"description":"task )" + std::to_string(c.made) + R"("})";
    }

    void go_on(client& c) {
        if (c.made == options_.tasks_a_client || clock_.elapsed() < c.wait_until) return;
        if (c.attempt++ > 0) ++seen_.retries;
        const auto request = ledger_.sent(name_of(c), payload_of(c), now());
        // Lost on the way there: the server never hears of it.
        if (chance_.once_in(10)) {
            c.out = flight{request, std::make_shared<std::optional<net::http_response>>(), true};
            return;
        }
        auto deliver = [&] {
            return house_->start(post("/v1/tasks", payload_of(c),
                                      tokens_[static_cast<std::size_t>(c.account)], key_of(c)));
        };
        // Sometimes it arrives twice; the client sees one of the answers.
        if (chance_.once_in(12)) deliver();
        c.out = flight{request, deliver(), chance_.once_in(8)};
    }

    void look(client& c) {
        if (c.out->answer_lost || !*c.out->response) {
            // Out of patience, sooner or later: nothing is known.
            if (chance_.once_in(4)) give_up(c);
            return;
        }
        const auto request = std::move(c.out->request);
        const auto response = std::move(**c.out->response);
        c.out.reset();
        const bool replayed = header(response, "Idempotent-Replayed") == "true";
        ledger_.answered(request, response, replayed, now());
        seen_.trace +=
            key_of(c) + " " + std::to_string(response.status) + " " + response.body + "\n";
        if (response.status == 201) {
            ++seen_.receipts;
            next_task(c);
        } else if (response.status == 409 &&
                   response.body.find("slot-failed") != std::string::npos) {
            ++seen_.failed;
            ++c.generation;  // definite: a new key is safe
            c.attempt = 0;
        } else {
            retry_later(c);
        }
    }

    void give_up(client& c) {
        c.out.reset();
        retry_later(c);
    }

    // Mostly soon; now and then so late that the reaper was there first.
    void retry_later(client& c) {
        c.wait_until = clock_.elapsed() + milliseconds{chance_.once_in(6) ? chance_.below(60'000)
                                                                          : chance_.below(500)};
    }

    void next_task(client& c) {
        ++c.made;
        c.attempt = 0;
        c.generation = 0;
    }

    void arm() {
        const auto where = static_cast<fault_point>(chance_.below(fault_points));
        const auto how =
            is_before_commit(where) ? static_cast<fault_kind>(chance_.below(4)) : fault_kind::kill;
        faulty_->arm(where, how);
    }

    void start() {
        faulty_ = std::make_unique<faulty_store>(*disk_);
        reaper_options reaper;
        reaper.interval = std::chrono::seconds{2};
        reaper.window = options_.window;
        reaper.retention = options_.retention;
        reaper.batch = 2;
        engine_options engine;
        engine.batch_commands_max = 1 + chance_.below(8);
        engine.queue_depth_max = 4 + chance_.below(30);
        engine.account_depth_max = engine.queue_depth_max;
        engine.trust_clock_after = std::chrono::years{100};
        house_.emplace(house_options{.engine = engine,
                                     .reaper = reaper,
                                     .disk = faulty_.get(),
                                     .clock = &clock_,
                                     .entropy = &chance_,
                                     .reaping = true});
    }

    void restart() {
        house_.reset();
        for (client& c : clients_) {
            if (c.out && !*c.out->response) c.out->answer_lost = true;
        }
        start();
    }

    world_options options_;
    virtual_clock clock_;
    seeded_entropy chance_;
    std::unique_ptr<strict_memory_store> disk_;
    std::unique_ptr<faulty_store> faulty_;
    std::optional<house> house_;
    std::vector<std::string> tokens_;
    std::vector<client> clients_;
    ledger ledger_;
    events seen_;
};

}  // namespace callsign::testing
