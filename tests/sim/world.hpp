#pragma once
// world{seed}: the whole server without sockets, its clients, network and disk, on one io_context
// and a virtual clock. Everything is a function of the seed: the same seed gives the same run.
//
// Workload: clients of two accounts create tasks over a network that loses, delays and duplicates
// requests and responses; they retry with their keys until they get a definite response, and some
// then edit, complete, delete or purge their tasks in the same way. Other clients follow changes
// (followers.hpp). The process is killed at random, the disk rejects calls and fails, the wall
// clock steps, and the reaper sweeps with a window short enough to matter. The auditor (ledger,
// audit) predicts and checks.

#include "sim/followers.hpp"
#include "support/audit.hpp"
#include "support/faulty_store.hpp"
#include "support/ledger.hpp"
#include "support/test_server.hpp"

#include <callsign/rules/rows/accounts.hpp>

#include <algorithm>
#include <map>
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
    milliseconds history{std::chrono::seconds{25}};
    bool edits = true;  // including batches
    bool followers = true;

    // Worlds with more events take longer, so there are fewer of them.
    static world_options of(std::uint64_t seed) {
        world_options o;
        o.edits = seed % 4 == 0;
        o.followers = seed % 12 == 0;
        return o;
    }
};

class world {
  public:
    explicit world(std::uint64_t seed) : world(seed, world_options::of(seed)) {}
    world(std::uint64_t seed, world_options options)
        : options_(options),
          chance_(seed),
          disk_(make_memory_store()),
          ledger_(options.window, options.retention) {
        start();
        for (const char* name : {"one", "two"}) {
            const auto made = server_->make_account(name, "SYN");
            tokens_.push_back(made.token);
            told_.emplace_back(made.id);
            for (const auto how : {sim_follower::kind::polls, sim_follower::kind::polls_for_pending,
                                   sim_follower::kind::streams}) {
                if (options_.followers) followers_.emplace_back(how, made.id, made.token);
            }
        }
        for (int c = 0; c < options_.clients; ++c) clients_.emplace_back().account = c % 2;
    }

    // Runs until every client has a definite response for each of its tasks.
    void run() {
        for (int steps = 0; !finished(); ++steps) {
            CALLSIGN_ASSERT(steps < 1'000'000);
            try {
                step();
            } catch (const killed&) {
                restart();
            }
            if (server_->fatal()) restart();
        }
    }

    // Returns the violated guarantees; empty: none.
    std::vector<std::string> verdict() {
        faulty_->disarm();
        restart();
        auto found = ledger_.violations();
        for (auto& broken : audit(*disk_)) found.push_back(std::move(broken));
        // Every acknowledged response is returned again.
        ledger again = ledger_;
        for (const auto& [name, payload] : ledger_.acknowledged(now())) {
            const auto key = name.substr(name.find('/') + 1);
            const auto asked = again.sent(name, payload, now());
            auto response = server_->call(
                post("/v1/tasks", payload, tokens_[static_cast<std::size_t>(name[0] - '0')], key));
            if (options_.edits) {
                response.body = boost::json::serialize(boost::json::parse(response.body));
            }
            again.answered(asked, response, header(response, "Idempotent-Replayed") == "true",
                           now());
        }
        for (const auto& v : again.violations()) found.push_back("retried: " + v);
        for (auto& wrong : faults_of_edits()) found.push_back(std::move(wrong));
        for (sim_follower& f : followers_) {
            const auto [told, forgotten] = read_on(f);
            f.finish(*server_, told, forgotten);
            const auto& faults = f.model().faults();
            found.insert(found.end(), faults.begin(), faults.end());
            seen_.heard += f.model().changes();
            seen_.expiries += f.model().expiries();
        }
        found.insert(found.end(), wrong_.begin(), wrong_.end());
        return found;
    }

    // Counts events, so that tests can require that they occurred.
    struct events {
        int kills = 0;
        int retries = 0;
        int failed = 0;
        int receipts = 0;
        int edits = 0;
        int heard = 0;      // changes received by followers
        int expiries = 0;   // expired cursors
        std::string trace;  // of every response: equal seeds give equal traces
    };
    const events& seen() const { return seen_; }

  private:
    // By the monotonic clock: the time that a client has waited, whatever the wall clock shows.
    time_point now() const { return virtual_start + clock_.elapsed(); }

    // A request on the network, or at the server. `response` is set once the server has responded.
    struct flight {
        ledger::request request;
        std::shared_ptr<std::optional<net::http_response>> response;
        bool answer_lost = false;
        bool is_edit = false;
        bool is_batch = false;
    };

    enum class change { describe, complete, remove, purge };

    // The state of a task according to the responses to its only client.
    struct made_task {
        int account = 0;
        std::string key{};
        callsign::uuid uuid{};
        std::int64_t edits = 0;
        std::string description{};
        std::string status = "pending";
        bool purged = false;
    };

    struct client {
        int account = 0;
        int made = 0;        // tasks with a definite response
        int attempt = 0;     // for the current task
        int generation = 0;  // a new key after a definite failure
        milliseconds wait_until{0};
        std::optional<flight> out;
        // Set while the client edits its last task.
        std::optional<change> edit;
        std::int64_t seq = 0;  // of that task, as last received
    };

    bool finished() const {
        return std::ranges::all_of(clients_, [&](const client& c) {
            return c.made == options_.tasks_a_client && !c.edit;
        });
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
        if (!followers_.empty() && chance_.once_in(2)) {
            sim_follower& f = followers_[chance_.below(followers_.size())];
            const auto [told, forgotten] = read_on(f);
            f.step(*server_, chance_, told, forgotten);
        }
        // The server runs for some steps or until idle, and time passes.
        if (chance_.once_in(3)) {
            server_->settle();
            find_sleepers();
        } else {
            for (auto n = chance_.below(6); n > 0; --n) server_->step();
        }
        if (chance_.once_in(2)) server_->advance(milliseconds{chance_.below(1500)});
    }

    // The state of the account's chain, and where its history begins.
    std::pair<const told_changes&, std::int64_t> read_on(const sim_follower& f) {
        const auto tx = disk_->begin_durable_read();
        told_changes& told = told_[f.account() == told_[0].account() ? 0 : 1];
        told.read_on(*tx);
        return {told, accounts::history_from(*tx, f.account())};
    }

    // An idle server must not have waiting followers with changes to read.
    void find_sleepers() {
        if (server_->fatal()) return;
        const auto tx = disk_->begin_read();
        for (const sim_follower& f : followers_) {
            if (f.sleeps_on(accounts::head_of(*tx, f.account()).seq))
                wrong_.insert("a follower was not woken");
        }
    }

    // Mostly steps such as a time server makes; occasionally years.
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
        if (clock_.elapsed() < c.wait_until) return;
        if (c.edit) return send_edit(c);
        if (c.made == options_.tasks_a_client) return;
        if (c.attempt++ > 0) ++seen_.retries;
        const auto request = ledger_.sent(name_of(c), payload_of(c), now());
        // The request is lost before it reaches the server.
        if (chance_.once_in(10)) {
            c.out = flight{request, std::make_shared<std::optional<net::http_response>>(), true};
            return;
        }
        const bool is_batch = options_.edits && chance_.once_in(6);
        auto deliver = [&] {
            const auto& token = tokens_[static_cast<std::size_t>(c.account)];
            return server_->start(is_batch ? post("/v1/tasks:batchCreate", batch_of(c), token)
                                           : post("/v1/tasks", payload_of(c), token, key_of(c)));
        };
        // Sometimes the request arrives twice; the client receives one of the responses.
        if (chance_.once_in(12)) deliver();
        c.out = flight{request, deliver(), chance_.once_in(8)};
        c.out->is_batch = is_batch;
    }

    // A batch that also contains an invalid creation.
    std::string batch_of(const client& c) const {
        return R"({"items":[{"idempotencyKey":"none","task":{"description":""}},)"
               R"({"idempotencyKey":")" +
               key_of(c) + R"(","task":)" + payload_of(c) + "}]}";
    }
    // Extracts the response for the creation's item.
    static net::http_response answer_of_item(net::http_response whole) {
        if (whole.status != 200) return whole;
        const auto body = boost::json::parse(whole.body);
        const auto& result = body.at("results").at(1).as_object();
        net::http_response answer;
        answer.status = status_of(result);
        answer.body =
            boost::json::serialize(result.at(answer.status < 300 ? "receipt" : "problem"));
        const auto* const replayed = result.if_contains("replayed");
        if (replayed && replayed->as_bool()) {
            answer.headers.emplace_back("Idempotent-Replayed", "true");
        }
        return answer;
    }

    // ---- edits: each task is edited by one client only ----

    void send_edit(client& c) {
        made_task& t = tasks_.at(name_of_task(c));
        header_list headers = bearer(tokens_[static_cast<std::size_t>(c.account)]);
        // A retry may find that the first attempt succeeded.
        if (c.attempt++ > 0) {
            ++seen_.retries;
        } else if (chance_.once_in(2)) {
            headers.emplace_back("If-Match", server_->etag(c.seq));
        }
        if (chance_.once_in(10)) {
            c.out = flight{{}, std::make_shared<std::optional<net::http_response>>(), true, true};
            return;
        }
        using verb = boost::beast::http::verb;
        const std::string path = "/v1/tasks/" + t.key;
        net::http_request request;
        switch (*c.edit) {
        case change::describe:
            headers.emplace_back("Content-Type", "application/json");
            request = make_request(verb::patch, path,
                                   R"({"description":"again )" + std::to_string(c.made) + R"("})",
                                   headers);
            break;
        case change::complete:
            request = make_request(verb::post, path + ":complete", {}, headers);
            break;
        case change::remove: request = make_request(verb::delete_, path, {}, headers); break;
        case change::purge:
            request = make_request(verb::delete_, path + "?purge=true", {}, headers);
            break;
        }
        c.out = flight{{}, server_->start(std::move(request)), chance_.once_in(8), true};
    }

    void look_at_edit(client& c, const net::http_response& response) {
        made_task& t = tasks_.at(name_of_task(c));
        seen_.trace += t.key + " " + std::to_string(response.status) + "\n";
        const bool was_purged = *c.edit == change::purge && response.status == 410;
        if (response.status >= 500) return retry_later(c);
        if (response.status >= 300 && !was_purged) {
            wrong_.insert("an edit of " + t.key + " was rejected: " + response.body);
        }
        ++seen_.edits;
        ++t.edits;
        switch (*c.edit) {
        case change::describe: t.description = "again " + std::to_string(c.made); break;
        case change::complete: t.status = "completed"; break;
        case change::remove: t.status = "deleted"; break;
        case change::purge: t.purged = true; break;
        }
        c.edit.reset();
        c.attempt = 0;
        if (!t.purged && t.edits < 2 && chance_.once_in(3)) {
            const auto shown = boost::json::parse(response.body).as_object();
            c.seq = shown.at("seq").as_int64();
            c.edit = t.status == "pending" ? change::remove : change::purge;
        }
    }

    // Each acknowledged edit was applied exactly once, and no other edit.
    std::vector<std::string> faults_of_edits() {
        std::vector<std::string> found;
        if (!options_.edits) return found;
        for (const auto& [name, t] : tasks_) {
            const std::string path = "/v1/tasks/" + t.key;
            const auto response =
                server_->call(get(path, tokens_[static_cast<std::size_t>(t.account)]));
            if (response.status != (t.purged ? 410u : 200u)) {
                found.push_back(t.key + " is answered " + std::to_string(response.status));
                continue;
            }
            told_changes& told = told_[static_cast<std::size_t>(t.account)];
            told.read_on(*disk_->begin_read());
            const auto changes = std::ranges::count(told.all(), t.uuid, &told_change::task);
            if (changes != 1 + t.edits) found.push_back(t.key + " has the wrong number of changes");
            if (t.purged) continue;
            const auto shown = boost::json::parse(response.body).as_object();
            if (text_of(shown, "description") != t.description ||
                text_of(shown, "status") != t.status) {
                found.push_back(t.key + " lost an edit: " + response.body);
            }
        }
        return found;
    }

    std::string name_of_task(const client& c) const {
        const auto index = static_cast<std::size_t>(&c - clients_.data());
        return std::to_string(index) + "/" + std::to_string(c.made);
    }

    void look(client& c) {
        if (c.out->answer_lost || !*c.out->response) {
            // The client times out eventually; the outcome is unknown.
            if (chance_.once_in(4)) give_up(c);
            return;
        }
        const auto request = std::move(c.out->request);
        auto response = std::move(**c.out->response);
        const bool is_edit = c.out->is_edit;
        if (c.out->is_batch) response = answer_of_item(std::move(response));
        c.out.reset();
        if (is_edit) return look_at_edit(c, response);
        if (options_.edits && response.status < 300) {
            response.body = boost::json::serialize(boost::json::parse(response.body));
        }
        const bool replayed = header(response, "Idempotent-Replayed") == "true";
        ledger_.answered(request, response, replayed, now());
        seen_.trace +=
            key_of(c) + " " + std::to_string(response.status) + " " + response.body + "\n";
        if (response.status == 201) {
            ++seen_.receipts;
            next_task(c, boost::json::parse(response.body).as_object());
        } else if (response.status == 409 &&
                   response.body.find("slot-failed") != std::string::npos) {
            ++seen_.failed;
            ++c.generation;  // definite failure: a new key is safe
            c.attempt = 0;
        } else {
            retry_later(c);
        }
    }

    void give_up(client& c) {
        c.out.reset();
        retry_later(c);
    }

    // Mostly soon; occasionally so late that the reaper has failed the slot.
    void retry_later(client& c) {
        c.wait_until = clock_.elapsed() + milliseconds{chance_.once_in(6) ? chance_.below(60'000)
                                                                          : chance_.below(500)};
    }

    void next_task(client& c, const boost::json::object& receipt) {
        const std::string description = "task " + std::to_string(c.made);
        ++c.made;
        tasks_[name_of_task(c)] = {.account = c.account,
                                   .key = text_of(receipt, "key"),
                                   .uuid = *parse_uuid(text_of(receipt, "uuid")),
                                   .description = description};
        c.seq = receipt.at("seq").as_int64();
        if (options_.edits && chance_.once_in(3)) c.edit = static_cast<change>(chance_.below(4));
        c.attempt = 0;
        c.generation = 0;
    }

    void arm() {
        const auto where = static_cast<fault_point>(chance_.below(fault_points + 1));
        faulty_->arm(where, fault_at(where, chance_.below(12)));
    }

    void start() {
        faulty_ = std::make_unique<faulty_store>(*disk_);
        reaper_options reaper;
        reaper.interval = std::chrono::seconds{2};
        reaper.window = options_.window;
        reaper.retention = options_.retention;
        reaper.history_retention = options_.history;
        reaper.batch = 2;
        engine_options engine;
        engine.batch_commands_max = 1 + chance_.below(8);
        engine.queue_depth_max = 4 + chance_.below(30);
        engine.account_depth_max = engine.queue_depth_max;
        engine.trust_clock_after = std::chrono::years{100};
        server_.emplace(test_server_options{.engine = engine,
                                            .reaper = reaper,
                                            .disk = faulty_.get(),
                                            .clock = &clock_,
                                            .entropy = &chance_,
                                            .reaping = true});
        // A version that an event reports must survive whatever happens next.
        told_of_ = server_->engine().events().subscribe([this](const event& happened) {
            const auto* const made = std::get_if<callsign::events::version_appended>(&happened);
            if (!made) return;
            if (accounts::head_of(*disk_->begin_durable_read(), made->account).seq < made->seq) {
                wrong_.insert("an event precedes the durability of its version");
            }
        });
    }

    void restart() {
        for (sim_follower& f : followers_) f.cut_off();
        server_.reset();
        chance_.once_in(2) ? disk_->lose_unsynced() : disk_->sync();
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
    std::optional<test_server> server_;
    hub::subscription told_of_;
    std::vector<std::string> tokens_;
    std::vector<client> clients_;
    ledger ledger_;
    std::map<std::string, made_task> tasks_;  // by client and its number of tasks at that time
    std::vector<told_changes> told_;          // by account
    std::vector<sim_follower> followers_;
    std::set<std::string> wrong_;
    events seen_;
};

}  // namespace callsign::testing
