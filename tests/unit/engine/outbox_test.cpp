// Several remote accounts: the work that each gets, and the reported states.

#include "support/late_reader.hpp"
#include "support/remote_chain.hpp"
#include "support/test_server.hpp"

#include <callsign/jobs/remote_accounts.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <map>

namespace callsign::testing {
namespace {

using namespace std::chrono_literals;
using fate = faulty_wire::fate;

// Never responds.
class silent_sink final : public task_sink {
  public:
    explicit silent_sink(clock& c) : clock_(c) {}

    boost::asio::awaitable<sink_add_answer> add_version(uuid, std::vector<operation>) override {
        co_await wait();
        co_return nothing;
    }
    boost::asio::awaitable<sink_child_answer> get_child(uuid) override {
        co_await wait();
        co_return nothing;
    }
    boost::asio::awaitable<sink_snapshot_answer> get_snapshot() override {
        co_await wait();
        co_return nothing;
    }
    void cancel() override {
        if (pause_) pause_->cancel();
    }

  private:
    boost::asio::awaitable<void> wait() {
        const auto executor = co_await boost::asio::this_coro::executor;
        pause_ = clock_.make_timer(executor);
        co_await pause_->wait(1h);
    }

    const sink_failure nothing{sink_failure::kind::lost, "It does not answer.", {}};
    clock& clock_;
    std::unique_ptr<timer> pause_;
};

// Responds after a second.
class slow_sink final : public task_sink {
  public:
    slow_sink(clock& c, std::unique_ptr<task_sink> within)
        : clock_(c), within_(std::move(within)) {}

    boost::asio::awaitable<sink_add_answer> add_version(uuid parent,
                                                        std::vector<operation> all) override {
        const bool may_answer = co_await wait();
        if (!may_answer) co_return nothing;
        co_return co_await within_->add_version(parent, std::move(all));
    }
    boost::asio::awaitable<sink_child_answer> get_child(uuid parent) override {
        const bool may_answer = co_await wait();
        if (!may_answer) co_return nothing;
        co_return co_await within_->get_child(parent);
    }
    boost::asio::awaitable<sink_snapshot_answer> get_snapshot() override {
        const bool may_answer = co_await wait();
        if (!may_answer) co_return nothing;
        co_return co_await within_->get_snapshot();
    }
    void cancel() override {
        is_cancelled_ = true;
        if (pause_) pause_->cancel();
    }

  private:
    boost::asio::awaitable<bool> wait() {
        if (is_cancelled_) co_return false;
        const auto executor = co_await boost::asio::this_coro::executor;
        pause_ = clock_.make_timer(executor);
        co_return co_await pause_->wait(1s);
    }

    const sink_failure nothing{sink_failure::kind::lost, "It was cancelled.", {}};
    clock& clock_;
    std::unique_ptr<task_sink> within_;
    bool is_cancelled_ = false;
    std::unique_ptr<timer> pause_;
};

class outbox_test : public ::testing::Test {
  protected:
    void start(outbox_options o = {}) {
        test_server_options all;
        all.engine.request_deadline = 3s;
        o.poll_interval = 2s;
        o.retry_min = 100ms;
        all.deliveries = o;
        all.disk = disk_;
        all.sinks = [this](const remote_chain& r) -> std::unique_ptr<task_sink> {
            if (r.url == silent_) return std::make_unique<silent_sink>(server_->clock());
            return std::make_unique<faulty_sink>(chains_[r.url], wires_.at(r.url));
        };
        server_ = std::make_unique<test_server>(std::move(all));
    }
    // An account whose remote server is a chain of that name.
    account_id make(const std::string& name) {
        wires_.emplace(name, 1);
        tokens_[name] = api::make_token(server_->entropy());
        create_account c{name, "SYN", "default", sha256(tokens_[name])};
        c.remote = create_account::remote_endpoint{
            name, make_uuid_v7(virtual_start, 1, tokens_.size()), "key"};
        const auto made = server_->run(server_->engine().submit(std::move(c)));
        server_->settle();
        return std::get<account>(*made).id;
    }
    net::http_response create(const std::string& name, const std::string& key) {
        return server_->call(post("/v1/tasks", R"({"description":"x"})", tokens_.at(name), key));
    }
    net::http_response describe(const std::string& name, const std::string& task,
                                const std::string& text) {
        return server_->call(edit_of(name, task, text));
    }
    net::http_request edit_of(const std::string& name, const std::string& task,
                              const std::string& text) {
        auto headers = bearer(tokens_.at(name));
        headers.emplace_back("Content-Type", "application/json");
        return make_request(boost::beast::http::verb::patch, "/v1/tasks/" + task,
                            R"({"description":")" + text + R"("})", headers);
    }
    remote_status status(account_id account) { return *server_->outbox().status(account); }

    std::uint64_t drawn_ = 0;
    std::string silent_;     // URL of the server that never responds
    store* disk_ = nullptr;  // null: the server has a store of its own
    std::map<std::string, chain_in_memory> chains_;
    std::map<std::string, faulty_wire> wires_;
    std::map<std::string, std::string> tokens_;
    std::unique_ptr<test_server> server_;
};

TEST_F(outbox_test, the_maximum_works_at_once_and_each_has_its_turn) {
    start({.at_once = 1});
    for (const char* name : {"one", "two", "three"}) make(name);
    for (const char* name : {"one", "two", "three"}) {
        EXPECT_EQ(create(name, "key").status, 201u) << name;
    }
    // An account whose server does not respond blocks no other.
    wires_.at("one").is_down = true;
    create("one", "waits");
    EXPECT_EQ(create("two", "on").status, 201u);
    EXPECT_EQ(server_->outbox().totals().failing, 1);
    EXPECT_EQ(server_->outbox().totals().accounts, 3);
}

TEST_F(outbox_test, new_options_apply_at_once) {
    start();
    const account_id account = make("one");
    outbox_options o = server_->outbox().options();
    const auto comes_within = [&](milliseconds most) {
        const uuid there = chains_["one"].links().empty() ? uuid{} : chains_["one"].head();
        const uuid id = make_uuid_v7(virtual_start, 9, ++drawn_);
        chains_["one"].add(there, {{operation_kind::create, id, {}, {}, {}}});
        server_->advance(most);
        auto question = [&](read_tx& tx) { return tasks::find(tx, account, id); };
        return server_->look(question).has_value();
    };
    EXPECT_TRUE(comes_within(3s));
    o.poll_interval = 1h;
    server_->outbox().reload(o);
    server_->settle();
    EXPECT_FALSE(comes_within(30min));
    o.poll_interval = 1s;
    server_->outbox().reload(o);
    EXPECT_TRUE(comes_within(2s));

    // A pause after failures, as long as the former options allowed, is shortened.
    o.retry_max = 24h;
    server_->outbox().reload(o);
    wires_.at("one").is_down = true;
    server_->advance(20h);
    wires_.at("one").is_down = false;
    EXPECT_FALSE(comes_within(1min));
    o.retry_max = 5s;
    server_->outbox().reload(o);
    EXPECT_TRUE(comes_within(10s));
}

TEST_F(outbox_test, more_may_be_at_work_after_a_reload) {
    start({.at_once = 1});
    silent_ = "one";
    make("one");
    make("two");
    EXPECT_EQ(create("two", "key").status, 409u) << "the other one occupies the only slot";
    outbox_options o = server_->outbox().options();
    o.at_once = 2;
    server_->outbox().reload(o);
    EXPECT_EQ(create("two", "key").status, 201u);
}

TEST_F(outbox_test, waiting_creations_share_a_version) {
    start();
    make("one");
    std::vector<std::shared_ptr<std::optional<net::http_response>>> answers;
    for (int n = 0; n < 64; ++n) {
        answers.push_back(server_->start(post("/v1/tasks", R"({"description":"x"})",
                                              tokens_.at("one"), "k" + std::to_string(n))));
    }
    server_->settle();
    for (const auto& a : answers) {
        ASSERT_TRUE(a->has_value());
        EXPECT_EQ((*a)->status, 201u);
    }
    EXPECT_LE(chains_["one"].links().size(), 6u);  // including the versions with keys
}

// The response reflects the remote state, not the former state of the mirror.
TEST_F(outbox_test, an_edit_applies_to_the_remote_state) {
    start();
    make("one");
    create("one", "key");
    server_->advance(3s);
    const uuid id = chains_["one"].tasks().begin()->first;
    const precise_time later = precise_time(server_->clock().now()) + 1s;
    chains_["one"].add(chains_["one"].head(),
                       {{operation_kind::update, id, "description", "theirs", later}});
    // Applied to the mirror, the edit would change nothing.
    const auto answer = describe("one", "SYN-1", "x");
    EXPECT_EQ(answer.status, 200u) << answer.body;
    EXPECT_EQ(value_of(chains_["one"].tasks().at(id), "description"), "x");
    // A precondition applies to the remote state, too.
    const std::string etag(header(answer, "ETag"));
    chains_["one"].add(chains_["one"].head(),
                       {{operation_kind::update, id, "description", "theirs", later}});
    auto conditional = edit_of("one", "SYN-1", "mine");
    conditional.insert("If-Match", etag);
    EXPECT_EQ(server_->call(conditional).status, 412u);
    EXPECT_EQ(value_of(chains_["one"].tasks().at(id), "description"), "theirs");
}

// An edit that arrives while a version is in flight does not apply to the mirror as it was before.
TEST_F(outbox_test, an_edit_during_a_delivery_applies_to_the_remote_state) {
    start();
    make("one");
    create("one", "key");
    server_->advance(3s);
    auto& chain = chains_["one"];
    const uuid id = chain.tasks().begin()->first;
    std::shared_ptr<std::optional<net::http_response>> answer;
    wires_.at("one").meanwhile = [&] {
        if (!answer) answer = server_->start(edit_of("one", "SYN-1", "x"));
    };
    bool was_there = false;
    const auto told = server_->engine().events().subscribe([&](const event& e) {
        if (!std::holds_alternative<events::slot_settled>(e) || was_there) return;
        was_there = true;
        const precise_time later = precise_time(server_->clock().now()) + 1s;
        chain.add(chain.head(), {{operation_kind::update, id, "description", "theirs", later}});
    });
    EXPECT_EQ(create("one", "another").status, 201u);
    server_->advance(3s);
    ASSERT_TRUE(was_there && answer && answer->has_value());
    EXPECT_EQ((*answer)->status, 200u);
    EXPECT_EQ(value_of(chain.tasks().at(id), "description"), "x");
}

TEST_F(outbox_test, an_edit_whose_response_was_lost_is_made_once) {
    start();
    make("one");
    create("one", "key");
    server_->advance(3s);
    const uuid id = chains_["one"].tasks().begin()->first;
    wires_.at("one").sends = {fate::lose_answer};
    EXPECT_EQ(describe("one", "SYN-1", "new").status, 200u);
    EXPECT_EQ(chains_["one"].times_said(id, "new"), 1);
}

TEST_F(outbox_test, two_edits_of_one_task_are_made_in_order) {
    start();
    make("one");
    create("one", "key");
    server_->advance(3s);
    const auto first = server_->start(edit_of("one", "SYN-1", "first"));
    const auto second = server_->start(edit_of("one", "SYN-1", "second"));
    server_->advance(3s);
    EXPECT_EQ((*first)->status, 200u);
    EXPECT_EQ((*second)->status, 200u);
    const uuid id = chains_["one"].tasks().begin()->first;
    EXPECT_EQ(value_of(chains_["one"].tasks().at(id), "description"), "second");
}

TEST_F(outbox_test, waiting_edits_have_a_limit) {
    start({.edits_max = 2});
    make("one");
    create("one", "key");
    server_->advance(3s);
    wires_.at("one").is_down = true;
    const auto one = server_->start(edit_of("one", "SYN-1", "a"));
    const auto two = server_->start(edit_of("one", "SYN-1", "b"));
    server_->settle();
    const auto rejected = describe("one", "SYN-1", "c");
    EXPECT_EQ(rejected.status, 503u);
    EXPECT_NE(rejected.body.find("overloaded"), std::string::npos) << rejected.body;
    server_->advance(10s);
    EXPECT_EQ((*one)->status, 503u);
    EXPECT_EQ((*two)->status, 503u);
}

TEST_F(outbox_test, a_purge_and_an_action_are_sent_to_the_remote_server) {
    start();
    make("one");
    create("one", "key");
    const uuid id = chains_["one"].tasks().begin()->first;
    using boost::beast::http::verb;
    const auto done = server_->call(
        make_request(verb::post, "/v1/tasks/SYN-1:complete", {}, bearer(tokens_.at("one"))));
    EXPECT_EQ(done.status, 200u) << done.body;
    EXPECT_EQ(value_of(chains_["one"].tasks().at(id), "status"), "completed");
    const auto gone = server_->call(
        make_request(verb::delete_, "/v1/tasks/SYN-1?purge=true", {}, bearer(tokens_.at("one"))));
    EXPECT_EQ(gone.status, 204u) << gone.body;
    EXPECT_FALSE(chains_["one"].tasks().contains(id));
}

TEST_F(outbox_test, batches_create_and_edit_remotely) {
    start();
    make("one");
    const auto made = server_->call(post(
        "/v1/tasks:batchCreate",
        R"({"items":[{"idempotencyKey":"a","task":{"description":"1"}},{"idempotencyKey":"b","task":{"description":"2"}}]})",
        tokens_.at("one")));
    EXPECT_EQ(made.status, 200u) << made.body;
    EXPECT_EQ(chains_["one"].tasks().size(), 2u);
    const auto edited = server_->call(
        post("/v1/tasks:batchUpdate", R"({"items":[{"ref":"SYN-1","task":{"description":"3"}}]})",
             tokens_.at("one")));
    EXPECT_EQ(edited.status, 200u) << edited.body;
    EXPECT_NE(edited.body.find("\"3\""), std::string::npos) << edited.body;
}

TEST_F(outbox_test, a_look_up_reports_whether_the_server_responded) {
    start();
    const account_id account = make("one");
    const uuid theirs = make_uuid_v7(virtual_start, 9, 9);
    server_->advance(3s);
    chains_["one"].add(chains_["one"].head(), {{operation_kind::create, theirs, {}, {}, {}}});
    EXPECT_TRUE(server_->run(server_->outbox().pull_now(account)));
    EXPECT_TRUE(server_->look([&](read_tx& tx) { return tasks::find(tx, account, theirs); }));
    wires_.at("one").is_down = true;
    EXPECT_FALSE(server_->run(server_->outbox().pull_now(account)));
    EXPECT_FALSE(server_->run(server_->outbox().push_now(account)));
    EXPECT_FALSE(server_->run(server_->outbox().pull_now(account_id{99})));
}

TEST_F(outbox_test, moves_to_local_with_pending_keys) {
    start();
    const account_id account = make("one");
    create("one", "key");
    jobs::board board;
    jobs::context with{server_->engine(), server_->entropy(), nullptr, board};
    const auto moved =
        server_->run(jobs::move_account_to_local(with, server_->outbox(), account, actor{}));
    ASSERT_TRUE(moved);
    ASSERT_TRUE(std::holds_alternative<move_to_local::answer>(*moved));
    EXPECT_TRUE(
        std::holds_alternative<move_to_local::moved>(std::get<move_to_local::answer>(*moved)));
    server_->advance(3s);
    EXPECT_FALSE(server_->outbox().is_remote(account));
    EXPECT_EQ(value_of(chains_["one"].tasks().begin()->second, "key"), "SYN-1");
    const auto links = chains_["one"].links().size();
    EXPECT_EQ(create("one", "here").status, 201u);
    EXPECT_EQ(describe("one", "SYN-2", "edited here").status, 200u);
    EXPECT_EQ(chains_["one"].links().size(), links);
}

// More purged tasks than one step of the move scans.
TEST_F(outbox_test, moves_to_remote_past_many_purged_tasks) {
    start();
    wires_.emplace("there", 1);
    tokens_["here"] = api::make_token(server_->entropy());
    create_account c{"here", "SYN", "default", sha256(tokens_["here"])};
    const auto made = server_->run(server_->engine().submit(std::move(c)));
    const account_id account = std::get<callsign::account>(*made).id;
    constexpr int gone = 800;
    for (int n = 0; n <= gone; ++n) create("here", std::to_string(n));
    for (int n = 1; n <= gone; ++n) {
        edit_task purge{.account = account, .task = task_key{"SYN", "", n}, .purge = true};
        ASSERT_TRUE(server_->run(server_->engine().submit(std::move(purge))));
    }
    server_->start_command(move_to_remote{account, "there", uuid{}, "key"});
    server_->advance(1s);
    EXPECT_FALSE(server_->look([&](read_tx& tx) { return remotes::find(tx, account)->moving; }));
    const task_map tasks = chains_["there"].tasks();
    ASSERT_EQ(tasks.size(), 1u);
    EXPECT_EQ(value_of(tasks.begin()->second, "key"), "SYN-801");
}

// ---- events at any step ----

// An account on a slow remote server that is polled once an hour. The server has a new version, and
// another server, under another URL, has the complete data.
class between_urls {
  public:
    enum class trouble { none, is_down, lies, loses_answers, has_lost_versions };

    explicit between_urls(trouble what, bool creates = false) : late_(*disk_), h(options()) {
        token_ = api::make_token(h.entropy());
        create_account c{"one", "SYN", "default", sha256(token_)};
        c.remote = create_account::remote_endpoint{"old", uuid{}, "key"};
        account = std::get<callsign::account>(*h.run(h.engine().submit(std::move(c)))).id;
        create("first");
        h.advance(1min);
        there().add(there().head(), {{operation_kind::create, first_id, {}, {}, {}}});
        if (what == trouble::is_down) old_wire_.is_down = true;
        if (what == trouble::lies) {
            old_wire_.answer = sink_failure{sink_failure::kind::not_a_server, "Hello.", {}};
        }
        if (what == trouble::loses_answers) old_wire_.is_deaf = true;
        if (what == trouble::has_lost_versions) {
            copy_ = old_there_;
            old_there_.go_back(2);
        }
        if (creates) create("second");
        // Otherwise the next poll is in an hour.
        if (!creates) h.clock().advance_to_next(2h);
    }

    bool step() { return h.step() || h.clock().advance_to_next(2h); }
    void step(int steps) {
        for (int n = 0; n < steps; ++n) step();
    }
    void create(const std::string& key) {
        h.start(post("/v1/tasks", R"({"description":"x"})", token_, key));
    }
    void move_url() {
        h.start_command(edit_remote{.account = account, .url = "new", .accept_loss = true});
    }
    bool has_moved_url() {
        return h.look([&](read_tx& tx) { return remotes::find(tx, account)->url == "new"; });
    }
    bool has(const uuid& task) {
        return h.look([&](read_tx& tx) { return tasks::find(tx, account, task).has_value(); });
    }
    std::optional<remote_status> status() { return h.outbox().status(account); }

    const uuid first_id = make_uuid_v7(virtual_start, 9, 1);
    const uuid second_id = make_uuid_v7(virtual_start, 9, 2);
    account_id account;
    // The server with the complete data.
    chain_in_memory& there() { return copy_ ? *copy_ : old_there_; }

  private:
    test_server_options options() {
        test_server_options all;
        all.disk = &late_;
        all.engine.request_deadline = 3s;
        all.deliveries = {
            .poll_interval = 1h, .retry_min = 10min, .retry_max = 1h, .verify_interval = 1min};
        all.sinks = [this](const remote_chain& r) -> std::unique_ptr<task_sink> {
            const bool is_old = r.url == "old";
            return std::make_unique<slow_sink>(
                h.clock(), std::make_unique<faulty_sink>(is_old ? old_there_ : there(),
                                                         is_old ? old_wire_ : new_wire_));
        };
        return all;
    }

    std::unique_ptr<store> disk_ = make_memory_store();
    faulty_wire old_wire_{1}, new_wire_{2};
    chain_in_memory old_there_;
    std::optional<chain_in_memory> copy_;
    std::string token_;

  public:
    late_reader late_;
    test_server h;
};

// The operator changes the URL at any step of a sync with the old server, whatever it responds: the
// new server is queried at once, not after a pause.
TEST(outbox_steps, a_new_url_is_queried_at_once) {
    using trouble = between_urls::trouble;
    for (const trouble what : {trouble::none, trouble::is_down, trouble::lies,
                               trouble::loses_answers, trouble::has_lost_versions}) {
        for (const bool creates : {false, true}) {
            for (int steps = 0; steps < 60; ++steps) {  // by then its steps repeat
                between_urls w(what, creates);
                w.step(steps);
                w.move_url();
                w.there().add(w.there().head(),
                              {{operation_kind::create, w.second_id, {}, {}, {}}});
                w.h.advance(1min);
                const auto status = w.status();
                ASSERT_TRUE(w.has(w.first_id) && w.has(w.second_id))
                    << "trouble " << static_cast<int>(what) << ", creates " << creates
                    << ", edited at step " << steps << ": " << status->last_error;
                EXPECT_EQ(status->now, remote_status::state::up_to_date);
                EXPECT_EQ(w.there().tasks().size(), creates ? 4u : 3u);
            }
        }
    }
}

// During the edit, the old server reports an error that halts accounts.
TEST(outbox_steps, a_new_url_is_not_halted_for_errors_of_the_old_one) {
    for (int steps = 0; steps < 60; ++steps) {
        for (int before = 0; before < 8; ++before) {
            between_urls w(between_urls::trouble::has_lost_versions);
            w.step(steps);
            w.move_url();
            for (int n = 0; n < before; ++n) w.h.step();
            w.h.clock().advance_to_next(2h);
            w.h.advance(20min);                // it may be read after a pause
            if (!w.has_moved_url()) continue;  // the edit exceeded its deadline
            EXPECT_EQ(w.status()->halted, remote_halt::none)
                << "edited at step " << steps << ", response " << before << " steps later";
        }
    }
}

// The account moves to this server and back to a remote one, while its row is read.
TEST(outbox_steps, an_account_moved_to_local_and_back_continues) {
    for (int at = 1; at < 12; ++at) {
        between_urls w(between_urls::trouble::none);
        w.h.advance(1min);
        w.late_.at = w.late_.reads + at;
        w.late_.meanwhile = [&] {
            w.h.start_command(
                move_to_remote{w.account, "new", make_uuid_v7(virtual_start, 8, 1), "k"});
            w.h.settle();
        };
        w.h.start_command(move_to_local{w.account, w.there().head()});
        w.h.settle();
        if (w.late_.meanwhile) {
            EXPECT_GT(at, 1) << "its row was not read";
            break;
        }
        w.there().lose_all();
        w.h.advance(1min);
        ASSERT_TRUE(w.status()) << "at read " << at;
        EXPECT_EQ(w.there().tasks().size(), 2u) << "at read " << at;
    }
}

// This holds for any step in progress.
TEST(outbox_steps, a_stop_takes_no_time) {
    using trouble = between_urls::trouble;
    for (const trouble what : {trouble::none, trouble::is_down, trouble::has_lost_versions}) {
        for (int steps = 0; steps < 120; ++steps) {
            between_urls w(what, true);
            w.step(steps);
            bool has_stopped = false;
            w.h.outbox().stop();
            boost::asio::co_spawn(w.h.io(), w.h.outbox().stopped(),
                                  [&](const std::exception_ptr&) { has_stopped = true; });
            w.h.settle();
            ASSERT_TRUE(has_stopped)
                << "trouble " << static_cast<int>(what) << ", stopped at step " << steps;
        }
    }
}

// This holds even after a restart, before its server was queried.
TEST_F(outbox_test, a_halted_account_does_not_block_others) {
    const auto disk = make_memory_store();
    disk_ = disk.get();
    start({.at_once = 1});
    const account_id account = make("one");
    make("two");
    const auto row = server_->look([&](read_tx& tx) { return *remotes::find(tx, account); });
    server_->start_command(halt_remote{account, remote_halt::history_lost, row});
    server_->settle();
    server_.reset();
    start({.at_once = 1});
    server_->advance(1min);
    EXPECT_EQ(status(account).now, remote_status::state::halted);
    EXPECT_EQ(create("two", "key").status, 201u);
    server_.reset();
}

TEST_F(outbox_test, stops_while_a_response_is_awaited) {
    start();
    make("one");
    wires_.at("one").is_down = true;
    const auto waiting =
        server_->start(post("/v1/tasks", R"({"description":"x"})", tokens_.at("one"), "key"));
    server_->settle();
    server_->close();
    EXPECT_FALSE(server_->fatal());
}

}  // namespace
}  // namespace callsign::testing
