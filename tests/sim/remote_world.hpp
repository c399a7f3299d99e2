#pragma once
// remote_world{seed}: a remote account, whose server other clients use as well.
//
// Workload: clients create tasks on the local server over a network that loses requests and
// responses, and retry with their keys; some edit their tasks. Other clients of the remote server
// add, edit, remove and restore tasks, and overwrite keys. Between the two servers requests and
// responses are lost, copies arrive late and twice, and the remote server reports wrong states. The
// process is killed at random and at each commit; the disk fails; the reaper sweeps with a window
// short enough to matter.
//
// At the end every late copy arrives, the connection works, and: the guarantees hold (ledger,
// audit); the mirror equals the remote server's tasks; each of these has a unique number and its
// key; every acknowledged task was created there once; no failed creation was ever made there.

#include "support/audit.hpp"
#include "support/faulty_store.hpp"
#include "support/ledger.hpp"
#include "support/remote_chain.hpp"
#include "support/test_server.hpp"

#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace callsign::testing {

class remote_world {
  public:
    explicit remote_world(std::uint64_t seed)
        : chance_(seed),
          wire_(seed * 31 + 7),
          disk_(make_memory_store()),
          ledger_(window, retention),
          // Conflicts among the remote server's own clients.
          contends_(seed % 3 != 0 && seed % 8 != 3),
          forgets_(seed % 2 == 0),
          is_quiet_(seed % 8 == 3),
          moves_(seed % 5 == 1) {
        if (!moves_) {
            for (auto n = chance_.below(4); n > 0; --n) work_elsewhere();
        }
        if (chance_.once_in(2) && !chain_.links().empty()) {
            chain_.make_snapshot();
            if (chance_.once_in(2)) chain_.forget_all_but(1);
        }
        start();
        make_account();
        if (moves_) move_to_remote();
        wire_.faults_in_hundred = static_cast<int>(chance_.below(4)) * 12;
        wire_.meanwhile = [this] {
            if (contends_ && chance_.once_in(4)) work_elsewhere();
        };
        clients_.resize(4);
    }

    // All possible actions, for tests that generate lists of them.
    enum class action {
        client_works,
        time_passes,
        kill,
        break_disk,
        cut_wire,
        change_wire,
        others_work,
        copy_lands,
        others_forget,
        all_settles,
    };
    static constexpr int actions = 10;

    void act_or_die(action a) {
        try {
            act(a);
        } catch (const killed&) {
            restart();
        }
        if (server_->fatal()) restart();
    }

    void run() {
        for (int steps = 0; !finished(); ++steps) {
            if (steps > 30'000) {
                const auto status = server_->outbox().status(account_);
                wrong_.insert("no end: " + status->last_error + " " +
                              std::string(to_string(status->halted)));
                return;
            }
            try {
                step();
            } catch (const killed&) {
                restart();
            }
            if (server_->fatal()) restart();
        }
        if (is_quiet_) give_up();
    }

    // Returns the violated guarantees; empty: none.
    std::vector<std::string> verdict() {
        calm_down();
        auto found = ledger_.violations();
        for (auto& broken : audit(*disk_)) found.push_back(std::move(broken));
        const auto say = [&](const std::string& what) { found.push_back(what); };
        compare_tasks(say);
        compare_slots(say);
        found.insert(found.end(), wrong_.begin(), wrong_.end());
        return found;
    }

    struct events {
        int kills = 0;
        int retries = 0;
        int receipts = 0;
        int failed = 0;
        int edits = 0;
        int elsewhere = 0;  // versions by other clients
        int late = 0;       // copies that arrived late
        int conflicts = 0;
        int lookups = 0;
        int fences = 0;
        int restarts = 0;  // of the mirror, from a snapshot
        std::string trace;
    };
    const events& seen() const { return seen_; }

  private:
    static constexpr milliseconds window{std::chrono::seconds{40}};
    static constexpr milliseconds retention{std::chrono::hours{4}};
    static constexpr int tasks_a_client = 5;
    static constexpr const char* place = "http://127.0.0.1:1";

    struct counting_probe final : outbox_probe {
        explicit counting_probe(events& to) : all(to) {}
        void delivered(delivery outcome) override {
            all.conflicts += outcome == delivery::conflict;
        }
        void looked_up() override { ++all.lookups; }
        void fenced() override { ++all.fences; }
        events& all;
    };

    struct flight {
        ledger::request request;
        std::shared_ptr<std::optional<net::http_response>> response;
        bool answer_lost = false;
        bool is_edit = false;
    };
    struct client {
        int made = 0;
        int attempt = 0;
        int generation = 0;
        milliseconds wait_until{0};
        std::optional<flight> out;
        std::string edits{};  // key of the task it edits next; empty: none
        std::string wanted{};
    };

    time_point now() const { return virtual_start + clock_.elapsed(); }

    bool finished() const {
        return std::ranges::all_of(clients_, [](const client& c) {
            return c.made == tasks_a_client && c.edits.empty() && !c.out;
        });
    }

    // ---- process ----

    void start() {
        faulty_ = std::make_unique<faulty_store>(*disk_);
        test_server_options options;
        options.disk = faulty_.get();
        options.clock = &clock_;
        options.entropy = &chance_;
        options.engine.request_deadline = std::chrono::seconds{3};
        options.engine.trust_clock_after = milliseconds{0};
        options.reaper = {.interval = std::chrono::seconds{5},
                          .window = window,
                          .retention = retention,
                          .batch = 3};
        options.reaping = true;
        options.deliveries = {.poll_interval = std::chrono::seconds{2},
                              .retry_min = milliseconds{200},
                              .retry_max = std::chrono::seconds{5},
                              .verify_interval = std::chrono::seconds{20},
                              .effects_max = 4,
                              .attempts_max = 2};
        options.delivery_probe = &probe_;
        options.sinks = [this](const remote_chain&) -> std::unique_ptr<task_sink> {
            return std::make_unique<faulty_sink>(chain_, wire_);
        };
        server_ = std::make_unique<test_server>(std::move(options));
    }

    void restart() {
        for (client& c : clients_) {
            if (c.out) c.out->answer_lost = true;
        }
        server_.reset();
        chance_.once_in(2) ? disk_->lose_unsynced() : disk_->sync();
        start();
    }

    void make_account() {
        token_ = api::make_token(chance_);
        create_account command{"team", "SYN", "default", sha256(token_)};
        if (!moves_) command.remote = create_account::remote_endpoint{place, uuid{}, "key"};
        const auto made = server_->run(server_->engine().submit(std::move(command)));
        account_ = std::get<account>(*made).id;
    }

    // Converts a local account that has tasks, one of them purged, to a remote one; some of the
    // tasks reach the remote server only once clients continue.
    void move_to_remote() {
        for (auto n = 1 + chance_.below(12); n > 0; --n) {
            server_->call(
                post("/v1/tasks", R"({"description":"here"})", token_, "here" + std::to_string(n)));
        }
        const auto first = server_->look([&](read_tx& tx) {
            return slots::some(tx, slot_id{}, 1, slot_state::committed, {}).front();
        });
        gone_before_ = first.uuid;
        server_->call(make_request(boost::beast::http::verb::delete_,
                                   "/v1/tasks/" + to_string(first.uuid) + "?purge=true", "",
                                   bearer(token_)));
        server_->start_command(callsign::move_to_remote{account_, place, uuid{}, "key"});
        server_->settle();
    }

    // ---- workload ----

    void act(action a) {
        switch (a) {
        case action::client_works: {
            go_on_if_halted();
            client& c = clients_[chance_.below(clients_.size())];
            c.out ? look(c) : go_on(c);
            break;
        }
        case action::time_passes: server_->advance(milliseconds{chance_.below(1500)}); break;
        case action::kill: seen_.kills++; throw killed{};
        case action::break_disk: arm(); break;
        case action::cut_wire: wire_.is_down = chance_.once_in(2); break;
        case action::change_wire:
            wire_.is_down = false;
            wire_.is_full = chance_.once_in(4);
            wire_.is_choosy = chance_.once_in(4);
            wire_.is_deaf = chance_.once_in(4);
            wire_.faults_in_hundred = static_cast<int>(chance_.below(4)) * 12;
            break;
        case action::others_work:
            if (!is_quiet_) work_elsewhere();
            break;
        case action::copy_lands: seen_.late += wire_.deliver_late(chain_); break;
        case action::others_forget:
            if (forgets_ && chance_.once_in(4)) forget_elsewhere();
            break;
        case action::all_settles: server_->settle(); break;
        }
    }

    void step() {
        constexpr std::uint64_t rare = 120;
        const auto drawn = chance_.below(rare);
        constexpr action drawn_rarely[] = {
            action::kill,        action::break_disk,  action::cut_wire,   action::change_wire,
            action::others_work, action::others_work, action::copy_lands, action::others_forget};
        if (drawn < std::size(drawn_rarely)) act(drawn_rarely[drawn]);
        act(action::client_works);
        if (chance_.once_in(3)) {
            server_->settle();
        } else {
            for (auto n = chance_.below(8); n > 0; --n) server_->step();
        }
        if (chance_.once_in(2)) act(action::time_passes);
    }

    // Enough wrong reports in a row halt the account; the operator resumes it.
    void go_on_if_halted() {
        const auto status = server_->outbox().status(account_);
        if (!status || status->halted != remote_halt::history_incomplete) return;
        server_->start_command(edit_remote{.account = account_});
    }

    void arm() {
        static constexpr fault_point points[] = {fault_point::before_reserve_commit,
                                                 fault_point::after_reserve_commit,
                                                 fault_point::before_fulfil_commit,
                                                 fault_point::after_fulfil_commit,
                                                 fault_point::before_sweep_commit,
                                                 fault_point::after_sweep_commit,
                                                 fault_point::before_any_commit,
                                                 fault_point::inside_fulfil,
                                                 fault_point::before_sync};
        const auto where = points[chance_.below(std::size(points))];
        faulty_->arm(where, fault_at(where, chance_.below(12)));
    }

    std::string key_of(const client& c) const {
        const auto index = static_cast<std::size_t>(&c - clients_.data());
        return "c" + std::to_string(index) + "-t" + std::to_string(c.made) + "-g" +
               std::to_string(c.generation);
    }
    static std::string payload_of(const client& c) {
        return R"({"description":"task )" + std::to_string(c.made) + R"("})";
    }

    void go_on(client& c) {
        if (clock_.elapsed() < c.wait_until) return;
        if (!c.edits.empty()) return send_edit(c);
        if (c.made == tasks_a_client) return;
        if (c.attempt++ > 0) ++seen_.retries;
        const auto request = ledger_.sent(key_of(c), payload_of(c), now());
        if (chance_.once_in(12)) {
            c.out = flight{request, std::make_shared<std::optional<net::http_response>>(), true};
            return;
        }
        const auto deliver = [&] {
            return server_->start(post("/v1/tasks", payload_of(c), token_, key_of(c)));
        };
        if (chance_.once_in(12)) deliver();
        c.out = flight{request, deliver(), chance_.once_in(8)};
    }

    void send_edit(client& c) {
        header_list headers = bearer(token_);
        headers.emplace_back("Content-Type", "application/json");
        c.wanted = "edited " + std::to_string(seen_.edits) + " of " + key_of(c);
        auto request = make_request(boost::beast::http::verb::patch, "/v1/tasks/" + c.edits,
                                    R"({"description":")" + c.wanted + R"("})", headers);
        c.out = flight{{}, server_->start(std::move(request)), chance_.once_in(8), true};
    }

    void look(client& c) {
        const bool is_there = c.out->response->has_value();
        if (c.out->answer_lost) {
            if (!is_there && chance_.once_in(2)) return;
            return retry_later(c);
        }
        if (!is_there) return;
        const net::http_response response = **c.out->response;
        if (c.out->is_edit) return look_at_edit(c, response);
        ledger_.answered(c.out->request, response,
                         header(response, "Idempotent-Replayed") == "true", now());
        seen_.trace += key_of(c) + " " + std::to_string(response.status) + "\n";
        if (response.status == 201 || response.status == 200) {
            const auto receipt = boost::json::parse(response.body).as_object();
            ++seen_.receipts;
            ++c.made;
            c.attempt = c.generation = 0;
            c.out.reset();
            const std::string id(receipt.at("uuid").as_string());
            acknowledged_.insert(*parse_uuid(id));
            // An acknowledged task is on the remote server.
            if (chain_.creations(*parse_uuid(id)) != 1)
                wrong_.insert(id + " does not exist exactly once on the remote server");
            if (chance_.once_in(3)) c.edits = std::string(receipt.at("key").as_string());
            return;
        }
        const bool is_failed = response.body.find("slot-failed") != response.body.npos;
        if (!is_failed) return retry_later(c);
        ++seen_.failed;
        ++c.generation;
        c.attempt = 0;
        c.out.reset();
    }

    void look_at_edit(client& c, const net::http_response& response) {
        if (response.status >= 500) return retry_later(c);
        // Other clients may have removed it.
        const bool is_gone = response.status == 410 || response.status == 404;
        if (response.status == 200) {
            ++seen_.edits;
            const auto now = boost::json::parse(response.body).as_object();
            const auto id = *parse_uuid(std::string(now.at("uuid").as_string()));
            if (chain_.times_said(id, c.wanted) == 0)
                wrong_.insert("an acknowledged edit is missing");
        } else if (!is_gone) {
            wrong_.insert("a valid edit was rejected: " + response.body);
        }
        c.edits.clear();
        c.attempt = 0;
        c.out.reset();
    }

    void retry_later(client& c) {
        c.wait_until = clock_.elapsed() + milliseconds{chance_.below(4'000)};
        c.out.reset();
    }

    // A creation is lost and is never sent again, nor is anything else behind its parent: only a
    // fence shows that no copy of it can still be accepted.
    void give_up() {
        faulty_->disarm();
        wire_.is_down = wire_.is_full = wire_.is_choosy = wire_.is_deaf = false;
        wire_.faults_in_hundred = 0;
        restart();
        for (int n = 0; n < 50 && !is_settled(); ++n) server_->advance(std::chrono::seconds{5});
        wire_.is_deaf = true;
        const std::string payload = R"({"description":"given up"})";
        ledger_.sent("given-up", payload, now());
        const auto unread = server_->start(post("/v1/tasks", payload, token_, "given-up"));
        for (int n = 0; n < 15; ++n) server_->advance(std::chrono::seconds{5});
        wire_.is_deaf = false;
        for (int n = 0; n < 50 && !is_settled(); ++n) server_->advance(std::chrono::seconds{5});
    }

    // A sync by another replica.
    void work_elsewhere() {
        ++seen_.elsewhere;
        std::vector<operation> all;
        const task_map tasks = chain_.tasks();
        const precise_time at = now();
        const auto pick = [&]() -> std::optional<uuid> {
            if (tasks.empty()) return std::nullopt;
            return std::next(tasks.begin(),
                             static_cast<std::ptrdiff_t>(chance_.below(tasks.size())))
                ->first;
        };
        const auto make = [&](const uuid& id) {
            all.push_back({operation_kind::create, id, {}, {}, {}});
            all.push_back({operation_kind::update, id, "description", "theirs", at});
            all.push_back({operation_kind::update, id, "status", "pending", at});
        };
        for (auto n = 1 + chance_.below(3); n > 0; --n) {
            const auto which = chance_.below(12);
            const auto known = pick();
            if (which < 5 || !known) {
                made_elsewhere_.push_back(make_uuid_v7(now(), 99, ++drawn_));
                make(made_elsewhere_.back());
            } else if (which < 9) {
                all.push_back({operation_kind::update, *known, "project",
                               "p" + std::to_string(drawn_++), at});
            } else if (which == 9 && may_remove(*known)) {
                all.push_back({operation_kind::remove, *known, {}, {}, {}});
                break;
            } else if (which == 10 && !made_elsewhere_.empty()) {
                const uuid& again = made_elsewhere_[chance_.below(made_elsewhere_.size())];
                if (!tasks.contains(again)) make(again);
                break;
            } else if (which == 11) {
                all.push_back({operation_kind::update, *known, "key", "MINE-1", at});
            }
        }
        chain_.add(chain_.head(), std::move(all));
    }

    // With deleted history, a task that was created and removed cannot be told from one that never
    // existed: then no client removes a task that is being created.
    bool may_remove(const uuid& id) const {
        return !forgets_ || acknowledged_.contains(id) ||
               std::ranges::find(made_elsewhere_, id) != made_elsewhere_.end();
    }

    // Creates a snapshot and deletes the history before it.
    void forget_elsewhere() {
        chain_.make_snapshot();
        chain_.forget_all_but(1 + chance_.below(3));
        ++seen_.restarts;
    }

    // ---- end ----

    // Every late copy arrives, nothing is lost, and all pending work is completed.
    void calm_down() {
        faulty_->disarm();
        wire_.meanwhile = {};
        wire_.is_down = wire_.is_full = wire_.is_choosy = wire_.is_deaf = false;
        wire_.faults_in_hundred = 0;
        // Late copies may be accepted while their creation is pending, but not after its slot has
        // failed.
        while (wire_.deliver_late(chain_)) ++seen_.late;
        restart();
        for (int n = 0; n < 200 && !is_settled(); ++n) server_->advance(std::chrono::seconds{5});
        server_->advance(std::chrono::seconds{10});
    }

    bool is_settled() {
        const auto tx = disk_->begin_read();
        const auto r = remotes::find(*tx, account_);
        const outbox_tally waiting = effects::tally(*tx, account_);
        return r && !r->moving && r->cursor == chain_.head() &&
               waiting.creations + waiting.keys == 0 &&
               slots::some(*tx, slot_id{}, 1, slot_state::in_flight, {}).empty() &&
               slots::some(*tx, slot_id{}, 1, slot_state::pending, {}).empty();
    }

    template <class Say>
    void compare_tasks(const Say& say) {
        if (!is_settled()) {
            const auto status = server_->outbox().status(account_);
            const auto tx = disk_->begin_read();
            const auto waiting = effects::tally(*tx, account_);
            return say("no rest: " + status->last_error + " " +
                       std::string(to_string(status->halted)) + " " +
                       std::to_string(waiting.creations) + " " + std::to_string(waiting.keys));
        }
        const task_map there = chain_.tasks();
        const auto tx = disk_->begin_read();
        std::size_t here = 0;
        const auto series = all_series::default_of(*tx, account_);
        tasks::visit_numbered(*tx, {series->id, ""}, [&](task&& t) {
            if (t.purged) {
                if (there.contains(t.uuid))
                    say(to_string(t.uuid) + " is missing from the mirror only");
                return true;
            }
            ++here;
            const auto found = there.find(t.uuid);
            if (found == there.end()) {
                say(callsign::key_of(*t.numbered) + " is missing from the remote server");
            } else if (found->second != t.attributes) {
                say(callsign::key_of(*t.numbered) + " differs on the remote server");
            } else if (value_of(t.attributes, "key") != callsign::key_of(*t.numbered) &&
                       !is_contested(t.uuid)) {
                say(callsign::key_of(*t.numbered) + " has another key on the remote server");
            }
            return true;
        });
        if (here != there.size()) {
            say(std::to_string(here) + " numbers for " + std::to_string(there.size()) + " tasks");
        }
    }

    // Clients overwrote the key so often that the server leaves it so.
    bool is_contested(const uuid& id) const {
        return chain_.times_said(id, "MINE-1") > key_corrections_max;
    }

    template <class Say>
    void compare_slots(const Say& say) {
        const auto tx = disk_->begin_read();
        for (const slot& s : slots::some(*tx, slot_id{}, 100'000, {}, {})) {
            if (s.uuid == gone_before_) continue;
            const int made = chain_.creations(s.uuid);
            if (s.state == slot_state::failed && made > 0) {
                say("the task of a failed slot exists: " + s.key);
            }
            if (s.state == slot_state::committed && made != 1 && s.created) {
                say("the task of " + s.key + " was created " + std::to_string(made) + " times");
            }
        }
    }

    seeded_entropy chance_;
    faulty_wire wire_;
    chain_in_memory chain_;
    virtual_clock clock_;
    std::unique_ptr<strict_memory_store> disk_;
    std::unique_ptr<faulty_store> faulty_;
    events seen_;
    counting_probe probe_{seen_};
    std::unique_ptr<test_server> server_;
    ledger ledger_;
    bool contends_;
    bool forgets_;
    bool is_quiet_;  // no other client adds versions: only a fence can follow a lost creation
    bool moves_;     // the account was local at first
    account_id account_;
    std::string token_;
    std::vector<client> clients_;
    std::set<uuid> acknowledged_;
    uuid gone_before_{};  // purged before the move
    std::vector<uuid> made_elsewhere_;
    std::uint64_t drawn_ = 0;
    std::set<std::string> wrong_;
};

}  // namespace callsign::testing
