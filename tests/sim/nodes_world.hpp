#pragma once
// nodes_world{seed}: several servers on one database in memory, of which one owns the store at a
// time (store/batch_log.hpp). Each has an io_context of its own, which does not run while the
// server is paused; virtual time passes for all, at slightly different speeds.
//
// Workload: clients create tasks at any server over a network that loses requests and responses,
// retry with their keys, and look at tasks that were acknowledged. Servers are killed, paused,
// drained and cut off from the database, which fails over; commits are lost, unanswered or late.
// Checked: never do two servers hold the store; a response is never behind an acknowledged one; at
// the end the audit, and every receipt again.

#include "support/audit.hpp"
#include "support/ledger.hpp"
#include "support/test_server.hpp"

#include <callsign/store/memory_database.hpp>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace callsign::testing {

class nodes_world {
  public:
    struct events {
        int kills = 0, pauses = 0, drains = 0, cuts = 0, failovers = 0;
        int takeovers = 0;
        int undecided = 0;  // commits without an answer
        int losses = 0;     // servers that ended because they had lost the store
        int receipts = 0;
        int looks = 0;  // at acknowledged tasks
        std::string trace{};
    };

    explicit nodes_world(std::uint64_t seed)
        : chance_(seed), ledger_(std::chrono::hours{1}, std::chrono::hours{4}) {
        for (std::size_t n = 0; n < nodes_.size(); ++n) start(nodes_[n]);
        await_owner();
        token_ = owner()->server->make_account("one", "SYN").token;
        clients_.resize(5);
        is_faulty_ = true;
    }
    ~nodes_world() {
        for (node& n : nodes_) crash(n);
    }
    nodes_world(const nodes_world&) = delete;
    nodes_world& operator=(const nodes_world&) = delete;

    // Runs until every client has a definite response for each of its tasks.
    void run() {
        for (int steps = 0; !is_finished(); ++steps) {
            CALLSIGN_ASSERT(steps < 1'000'000);
            step();
        }
    }

    // Returns the violated guarantees; empty: none.
    std::vector<std::string> verdict() {
        is_faulty_ = false;
        for (node& n : nodes_) n.paused_until = n.cut_until = milliseconds{0};
        database_->land_late();
        await_owner();
        test_server& server = *owner()->server;
        auto found = ledger_.violations();
        for (auto& broken : audit(server.disk())) found.push_back(std::move(broken));
        ledger again = ledger_;
        for (const auto& [key, payload] : ledger_.acknowledged(now())) {
            const auto asked = again.sent(key, payload, now());
            const auto response = server.call(post("/v1/tasks", payload, token_, key));
            again.answered(asked, response, header(response, "Idempotent-Replayed") == "true",
                           now());
        }
        for (const auto& v : again.violations()) found.push_back("retried: " + v);
        found.insert(found.end(), wrong_.begin(), wrong_.end());
        return found;
    }

    const events& seen() const { return seen_; }

  private:
    // The clock of a machine that is a little fast or slow.
    class machine_clock final : public callsign::clock {
      public:
        machine_clock(virtual_clock& base, int percent) : base_(base), percent_(percent) {}
        time_point now() const override { return base_.now(); }
        milliseconds elapsed() const override { return base_.elapsed() * percent_ / 100; }
        std::unique_ptr<timer> make_timer(boost::asio::any_io_executor executor) override {
            return base_.make_timer(std::move(executor));
        }

      private:
        virtual_clock& base_;
        int percent_;
    };

    struct node {
        std::unique_ptr<machine_clock> time{};
        std::unique_ptr<standby_store> standby{};
        std::unique_ptr<store> disk{};
        std::optional<test_server> server{};
        milliseconds paused_until{0}, cut_until{0}, next_look{0};
        bool is_dead = false;  // its calls do not reach the database any more
        bool is_busy = false;  // one of its handlers runs
        int life = 0;
    };

    struct flight {
        ledger::request request{};
        std::shared_ptr<std::optional<net::http_response>> response{};
        node* to = nullptr;
        int life = 0;
        bool is_lost = false;
        bool is_look = false;
    };
    struct client {
        int made = 0;
        int attempt = 0;
        milliseconds wait_until{0};
        std::optional<flight> out{};
    };
    static constexpr int tasks_a_client = 6;

    time_point now() const { return virtual_start + clock_.elapsed(); }
    bool is_paused(const node& n) const { return clock_.elapsed() < n.paused_until; }
    bool is_cut(const node& n) const { return n.is_dead || clock_.elapsed() < n.cut_until; }
    bool is_finished() const {
        return std::ranges::all_of(
            clients_, [](const client& c) { return c.made == tasks_a_client && !c.out; });
    }
    static bool holds_store(const node& n) {
        return n.disk && n.server && n.disk->shared()->is_held();
    }
    node* owner() {
        const auto at = std::ranges::find_if(nodes_, holds_store);
        return at == nodes_.end() ? nullptr : &*at;
    }

    // ---- servers ----

    void start(node& n) {
        n.is_dead = false;
        ++n.life;
        n.time =
            std::make_unique<machine_clock>(clock_, 90 + 10 * static_cast<int>(chance_.below(3)));
        n.standby = database_->connect(*n.time, draw_uuid(chance_),
                                       {[this, &n](const log_row&) { return fate(n); },
                                        [this, &n] { return !is_cut(n); },
                                        [this](milliseconds span) { pass(span); },
                                        {}});
    }
    // As SIGKILL.
    void crash(node& n) {
        n.is_dead = true;
        n.server.reset();
        n.disk.reset();
        n.standby.reset();
    }
    void restart(node& n) {
        crash(n);
        start(n);
    }
    append_fate fate(const node& n) {
        if (is_cut(n)) return append_fate::rejected;
        if (!is_faulty_ || !chance_.once_in(12)) return append_fate::answered;
        ++seen_.undecided;
        constexpr std::array some{append_fate::rejected, append_fate::lost, append_fate::unanswered,
                                  append_fate::late};
        return some[chance_.below(some.size())];
    }
    // Time passes for all but those whose handler runs.
    void pass(milliseconds span) {
        if (is_faulty_ && chance_.once_in(4)) database_->land_late();
        if (is_faulty_ && chance_.once_in(50)) database_->fail_over();
        clock_.advance_to_next(span);
        for (node& n : nodes_) run(n);
    }

    void run(node& n) {
        if (n.is_busy || is_paused(n)) return;
        n.is_busy = true;
        if (n.server) {
            if (chance_.once_in(3)) {
                n.server->settle();
            } else {
                for (auto k = chance_.below(6); k > 0; --k) n.server->step();
            }
            if (n.server->fatal()) {
                ++seen_.losses;
                restart(n);
            }
        } else if (clock_.elapsed() >= n.next_look) {
            n.next_look = clock_.elapsed() + milliseconds{250};
            look(n);
        }
        n.is_busy = false;
        if (std::ranges::count_if(nodes_, holds_store) > 1)
            wrong_.insert("two servers hold the store");
    }
    void look(node& n) {
        try {
            if (!n.standby->look()) return;
            n.disk = n.standby->take_over();
        } catch (const store_failure& failure) {
            if (!failure.is_transient()) restart(n);
            return;
        }
        if (!n.disk) return;
        ++seen_.takeovers;
        reaper_options reaper;
        reaper.interval = std::chrono::seconds{2};
        reaper.window = std::chrono::hours{1};
        n.server.emplace(test_server_options{.reaper = reaper,
                                             .disk = n.disk.get(),
                                             .clock = &clock_,
                                             .entropy = &chance_,
                                             .reaping = true});
        n.server->spawn(n.server->engine().watch_writes());
    }
    void await_owner() {
        for (int steps = 0; !owner(); ++steps) {
            CALLSIGN_ASSERT(steps < 10'000);
            pass(milliseconds{100});
        }
    }

    void disturb(node& n) {
        const milliseconds span{chance_.below(15'000)};
        switch (chance_.below(6)) {
        case 0:
            ++seen_.kills;
            restart(n);
            break;
        case 1:
            ++seen_.pauses;
            n.paused_until = clock_.elapsed() + span;
            break;
        case 2:
            ++seen_.cuts;
            n.cut_until = clock_.elapsed() + span;
            break;
        case 3: drain(n); break;
        case 4:
            ++seen_.failovers;
            database_->fail_over();
            break;
        default: clock_.step_wall((static_cast<int>(chance_.below(21)) - 10) * span);
        }
    }
    // As SIGTERM.
    void drain(node& n) {
        if (!n.server || is_paused(n) || n.server->fatal()) return;
        ++seen_.drains;
        n.is_busy = true;
        n.server->close();
        n.server.reset();
        n.disk.reset();
        restart(n);
        n.is_busy = false;
    }

    // ---- clients ----

    void step() {
        if (chance_.once_in(60)) disturb(nodes_[chance_.below(nodes_.size())]);
        client& c = clients_[chance_.below(clients_.size())];
        c.out ? receive(c) : send(c);
        for (node& n : nodes_) run(n);
        if (chance_.once_in(2)) pass(milliseconds{chance_.below(300)});
    }

    std::string key_of(const client& c) const {
        return "c" + std::to_string(&c - clients_.data()) + "-t" + std::to_string(c.made);
    }
    static std::string payload_of(const client& c) {
        return R"({"description":"task )" + std::to_string(c.made) + R"("})";
    }

    void send(client& c) {
        if (clock_.elapsed() < c.wait_until || c.made == tasks_a_client) return;
        node& n = nodes_[chance_.below(nodes_.size())];
        if (!n.server || is_paused(n) || n.is_busy) return;
        flight f{.to = &n, .life = n.life, .is_lost = chance_.once_in(8)};
        if (!made_.empty() && chance_.once_in(3)) {
            ++seen_.looks;
            f.is_look = true;
            const std::string& its = made_[chance_.below(made_.size())];
            f.response = n.server->start(get("/v1/tasks/" + its, token_));
        } else {
            ++c.attempt;
            f.request = ledger_.sent(key_of(c), payload_of(c), now());
            f.response = n.server->start(post("/v1/tasks", payload_of(c), token_, key_of(c)));
        }
        c.out = std::move(f);
    }

    void receive(client& c) {
        const bool is_gone = c.out->life != c.out->to->life;
        if (c.out->is_lost || is_gone || !*c.out->response) {
            // The client times out eventually; the outcome is unknown.
            if (is_gone || chance_.once_in(6)) give_up(c);
            return;
        }
        const flight f = *std::exchange(c.out, std::nullopt);
        const net::http_response& response = **f.response;
        if (f.is_look) {
            if (response.status != 200 && response.status < 500) {
                wrong_.insert("an acknowledged task is answered " +
                              std::to_string(response.status));
            }
            return;
        }
        ledger_.answered(f.request, response, header(response, "Idempotent-Replayed") == "true",
                         now());
        seen_.trace += f.request.key + " " + std::to_string(response.status) + "\n";
        if (response.status != 201) {
            c.wait_until = clock_.elapsed() + milliseconds{chance_.below(2'000)};
            return;
        }
        ++seen_.receipts;
        ++c.made;
        c.attempt = 0;
        made_.push_back(std::string(boost::json::parse(response.body).at("key").as_string()));
    }
    void give_up(client& c) {
        c.out.reset();
        c.wait_until = clock_.elapsed() + milliseconds{chance_.below(2'000)};
    }

    virtual_clock clock_;
    seeded_entropy chance_;
    std::unique_ptr<memory_database> database_ = make_memory_database();
    std::array<node, 2> nodes_;
    std::string token_;
    std::vector<client> clients_;
    std::vector<std::string> made_;  // keys of acknowledged tasks
    ledger ledger_;
    std::set<std::string> wrong_;
    bool is_faulty_ = false;
    events seen_;
};

}  // namespace callsign::testing
