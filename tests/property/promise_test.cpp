// Goal: guarantees I1-I7 hold whatever clients do and wherever the process dies, and every
// acknowledged receipt is returned again, byte for byte.
//
// Method: rapidcheck generates a list of actions - create, retry, retry with another payload,
// concurrent requests, sweep, passing time, reload, kill - and faults: the process is killed, or
// the disk fails, at a named point of a commit or a sweep. The whole server without sockets runs on
// one thread with a virtual clock. A ledger records the responses that clients received; after each
// run the store is audited and every client retries. The same lists run on the memory store and,
// fewer of them, on SQLite, where a kill leaves the files as they are.
//
// Mutants in tests/faults verify that this test can fail.

#include "property/disks.hpp"
#include "support/audit.hpp"
#include "support/faulty_store.hpp"
#include "support/ledger.hpp"
#include "support/test_server.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/slots.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace callsign::testing {
namespace {

constexpr reaper_options window_of_ten_minutes{
    .interval = std::chrono::minutes{1},
    .window = std::chrono::minutes{10},
    .retention = std::chrono::hours{2},
    .batch = 3,
};

// ---- actions ----

enum class act {
    create,
    create_with_uuid,
    retry,
    retry_changed,
    retry_beside_sweep,
    together,
    sweep,
    pass_time,
    look_up,
    reload,
    kill,
    fault
};

struct action {
    act what = act::create;
    int who = 0;    // account
    int which = 0;  // key, payload
    int how = 0;    // span, fault
};

void showValue(const action& a, std::ostream& out) {
    static constexpr const char* names[] = {"create",
                                            "create_with_uuid",
                                            "retry",
                                            "retry_changed",
                                            "retry_beside_sweep",
                                            "together",
                                            "sweep",
                                            "pass_time",
                                            "look_up",
                                            "reload",
                                            "kill",
                                            "fault"};
    out << names[static_cast<int>(a.what)] << '(' << a.who << ',' << a.which << ',' << a.how << ')';
}

rc::Gen<action> any_action() {
    return rc::gen::build<action>(
        rc::gen::set(&action::what, rc::gen::weightedElement<act>({{8, act::create},
                                                                   {2, act::create_with_uuid},
                                                                   {6, act::retry},
                                                                   {2, act::retry_changed},
                                                                   {4, act::retry_beside_sweep},
                                                                   {4, act::together},
                                                                   {3, act::sweep},
                                                                   {4, act::pass_time},
                                                                   {1, act::look_up},
                                                                   {1, act::reload},
                                                                   {2, act::kill},
                                                                   {6, act::fault}})),
        rc::gen::set(&action::who, rc::gen::inRange(0, 2)),
        rc::gen::set(&action::which, rc::gen::inRange(0, 8)),
        rc::gen::set(&action::how, rc::gen::inRange(0, 64)));
}

// ---- world ----

class world {
  public:
    explicit world(std::unique_ptr<disk> disk) : disk_(std::move(disk)) {
        start();
        for (const char* name : {"one", "two"}) {
            tokens_.push_back(server_->make_account(name, "SYN").token);
            server_->call(
                post("/v1/series", R"({"prefix":"OPS","project":"ops"})", tokens_.back()));
        }
    }
    ~world() { server_.reset(); }
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    void perform(const action& a) {
        try {
            attempt(a);
        } catch (const killed&) {
            restart();
        }
        // After an unknown outcome nothing may be written.
        RC_ASSERT(server_->fatal().has_value() == faulty_->left_unknown());
        if (server_->fatal()) restart();
        watch_slots();
    }

    // Without further faults, every client retries; then the store is audited.
    void settle_accounts() {
        faulty_->disarm();
        restart();
        for (const auto& [key, payload] : ledger_.acknowledged(latest())) {
            request(key[0] - '0', key.substr(2), payload);
        }
        RC_ASSERT(unanswered() == 0u);
        for (const auto& v : ledger_.violations()) RC_LOG(v);
        RC_ASSERT(ledger_.violations().empty());
        const auto broken = audit(*faulty_);
        for (const auto& b : broken) RC_LOG(b);
        RC_ASSERT(broken.empty());
    }

    std::size_t receipts() const { return ledger_.receipts(); }

  private:
    struct flight {
        ledger::request request;
        std::shared_ptr<std::optional<net::http_response>> response;
    };

    // By the monotonic clock: the time that a client has waited, whatever the wall clock shows.
    time_point latest() const { return virtual_start + clock_.elapsed(); }

    // To the server, a slot of an earlier run is only as old as the current run.
    bool is_old(const slot& s) const {
        const auto seen = first_seen_.find(s.id);
        const milliseconds since = seen == first_seen_.end() ? clock_.elapsed() : seen->second;
        return clock_.elapsed() - std::max(since, started_) > options_.window;
    }

    // A settled slot stays as it is, whether a client received the outcome or not.
    void watch_slots() {
        for (const slot& s : slots::some(*faulty_->begin_read(), slot_id{}, 10'000, {}, {})) {
            first_seen_.try_emplace(s.id, clock_.elapsed());
            const auto before = states_.try_emplace(s.id, s.state).first;
            RC_ASSERT(before->second == slot_state::pending || before->second == s.state);
            before->second = s.state;
        }
    }

    void attempt(const action& a) {
        switch (a.what) {
        case act::create: return request(a.who, new_key(), payload(a.which));
        case act::create_with_uuid: return request(a.who, new_key(), payload_with_uuid(a.which));
        case act::retry: return request(a.who, known_key(a.which), payload(a.which));
        case act::retry_changed: return request(a.who, known_key(a.which), payload(a.how));
        case act::retry_beside_sweep: return retry_beside_sweep();
        case act::together: return together(a);
        case act::sweep: return sweep();
        case act::pass_time: return pass_time(a.how);
        case act::look_up: return look_up(a);
        case act::reload: return reload(a);
        case act::kill: return kill(a);
        case act::fault: return arm(a);
        }
    }

    // A few keys are reused often; the generated list decides which payload comes first.
    std::string new_key() { return "key-" + std::to_string(++keys_); }
    std::string known_key(int which) const {
        return "key-" + std::to_string(std::max(1, keys_ - which));
    }
    static std::string payload(int which) {
        return R"({"description":"task )" + std::to_string(which % 8) +
               (which % 3 == 0 ? R"(","project":"ops"})" : R"("})");
    }
    static std::string payload_with_uuid(int which) {
        return R"({"description":"own","uuid":"00000000-0000-4000-8000-00000000000)" +
               std::to_string(which % 3) + R"("})";
    }

    void send(int who, const std::string& key, const std::string& body) {
        const std::string name = std::to_string(who) + "/" + key;
        first_payload_.emplace(name, body);
        flights_.push_back(
            {ledger_.sent(name, body, latest()),
             server_->start(post("/v1/tasks", body, tokens_[static_cast<std::size_t>(who)], key))});
    }

    void collect() {
        std::erase_if(flights_, [this](const flight& f) {
            if (!*f.response) return false;
            ledger_.answered(f.request, **f.response,
                             header(**f.response, "Idempotent-Replayed") == "true", latest());
            return true;
        });
    }

    void request(int who, const std::string& key, const std::string& body) {
        send(who, key, body);
        server_->settle();
        collect();
    }

    // Many requests share batches; some of them occur twice.
    void together(const action& a) {
        for (int i = 0; i <= a.how % 6; ++i) {
            const bool again = (a.how >> i) & 1;
            // Some of them name one UUID under several keys.
            send((a.who + i) % 2, again ? known_key(i) : new_key(),
                 a.which == 7 ? payload_with_uuid(a.how) : payload(a.which + i % 2));
            if ((a.how >> (i + 1)) & 1) server_->step();
        }
        server_->settle();
        collect();
    }

    void sweep() {
        const bool idle = flights_.empty();
        const auto done = server_->run(server_->reaper().sweep_once());
        collect();
        if (!done || !idle) return;
        // I7: no old idle slot remains, however often earlier sweeps were interrupted.
        const auto tx = faulty_->begin_read();
        for (const slot& s : slots::some(*tx, slot_id{}, 1000, slot_state::pending, {})) {
            RC_ASSERT(!is_old(s));
        }
    }

    // While an old slot's retry is being processed, a sweep that begins later must not fail the
    // slot.
    void retry_beside_sweep() {
        std::optional<slot> old;
        for (const slot& s :
             slots::some(*faulty_->begin_read(), slot_id{}, 1000, slot_state::pending, {})) {
            if (is_old(s)) old = s;
        }
        if (!old) return;
        const int who = accounts::find(*faulty_->begin_read(), old->account)->name == "one" ? 0 : 1;
        // With its token cached, the retry is queued at once; the sweep is queued next.
        server_->call(get("/v1/account", tokens_[static_cast<std::size_t>(who)]));
        send(who, old->key, first_payload_.at(std::to_string(who) + "/" + old->key));
        const auto retry = flights_.back().response;
        sweep();
        RC_ASSERT(!*retry || (**retry).body.find("slot-failed") == std::string::npos);
    }

    void pass_time(int how) {
        static constexpr milliseconds spans[] = {
            std::chrono::milliseconds{1}, std::chrono::seconds{5},  std::chrono::minutes{4},
            std::chrono::minutes{11},     std::chrono::minutes{40}, std::chrono::hours{3}};
        // Sets the wall clock, by seconds or by years.
        static constexpr milliseconds steps[] = {
            std::chrono::seconds{-1}, std::chrono::hours{9}, std::chrono::hours{-8},
            std::chrono::hours{24 * 3650}, std::chrono::hours{-24 * 3650}};
        if (how % 7 == 6) return clock_.step_wall(steps[how / 7 % 5]);
        server_->advance(spans[how % 6]);
        collect();
    }

    void look_up(const action& a) {
        const std::string key = known_key(a.which);
        const auto found =
            server_->call(get("/v1/slots/" + key, tokens_[static_cast<std::size_t>(a.who)]));
        RC_ASSERT(found.status == 200u || found.status == 404u || found.status >= 500u);
    }

    // SIGHUP applies new options; the process may die during the reload.
    void reload(const action& a) {
        reaper_options fresh = window_of_ten_minutes;
        fresh.batch = 1 + a.which;
        fresh.interval = std::chrono::seconds{1 + a.how};
        server_->reaper().reload(fresh);
        options_ = fresh;
        if (a.how % 2) throw killed{};
    }

    // Kills the server, idle or with requests at any stage.
    void kill(const action& a) {
        for (int i = 0; i < a.which % 4; ++i) send(a.who, new_key(), payload(a.which));
        for (int i = 0; i < a.how; ++i) server_->step();
        throw killed{};
    }

    void arm(const action& a) {
        const auto where = static_cast<fault_point>(a.how % fault_points);
        faulty_->arm(where, fault_at(where, static_cast<std::uint64_t>(a.which)));
    }

    void start() {
        started_ = clock_.elapsed();
        faulty_ = std::make_unique<faulty_store>(disk_->open());
        // The wall clock may be wrong by years for any time.
        server_.emplace(
            test_server_options{.engine = {.trust_clock_after = std::chrono::years{100}},
                                .reaper = options_,
                                .disk = faulty_.get(),
                                .clock = &clock_,
                                .entropy = &entropy_});
    }

    void restart() {
        collect();
        flights_.clear();
        disk_->kill();
        server_.reset();
        start();
    }

    std::size_t unanswered() const { return flights_.size(); }

    std::unique_ptr<disk> disk_;
    virtual_clock clock_;
    milliseconds started_{0};  // this run of the server
    seeded_entropy entropy_{1};
    reaper_options options_ = window_of_ten_minutes;
    std::unique_ptr<faulty_store> faulty_;
    std::optional<test_server> server_;
    std::vector<std::string> tokens_;
    ledger ledger_{*window_of_ten_minutes.window, window_of_ten_minutes.retention};
    std::vector<flight> flights_;
    std::map<std::string, std::string> first_payload_;
    std::map<slot_id, slot_state> states_;
    std::map<slot_id, milliseconds> first_seen_;
    int keys_ = 0;
};

void promise_holds(std::unique_ptr<disk> on) {
    const auto actions = *rc::gen::container<std::vector<action>>(any_action());
    world w(std::move(on));
    for (const action& a : actions) w.perform(a);
    w.settle_accounts();
    RC_CLASSIFY(w.receipts() > 0, "receipts");
    RC_CLASSIFY(w.receipts() > 10, "more than ten receipts");
}

RC_GTEST_PROP(guarantees, hold_in_memory, ()) {
    promise_holds(std::make_unique<memory_disk>());
}

RC_GTEST_PROP(guarantees, hold_on_sqlite, ()) {
    promise_holds(std::make_unique<sqlite_disk>());
}

RC_GTEST_PROP(guarantees, hold_on_postgres, ()) {
    promise_holds(std::make_unique<postgres_disk>());
}

RC_GTEST_PROP(guarantees, hold_through_power_cuts, ()) {
    promise_holds(std::make_unique<unpowered_disk>());
}

}  // namespace
}  // namespace callsign::testing
