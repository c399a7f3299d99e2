#pragma once
// world{seed}: the whole server but its sockets, its clients, its network and its disk, on one
// io_context and a virtual clock. Everything that happens is a function of the seed: the same seed,
// the same run.
//
// The workload drives: clients of two accounts create tasks over a network that loses requests and
// answers, delays them, and delivers them twice; they retry with their keys until they have a
// definite answer, and some then edit, complete, delete or purge what they made, until they have an
// answer to that. Others follow what changes (followers.hpp). The process is killed at random, the
// disk refuses and fails, the wall clock steps, the reaper sweeps all the while with a window short
// enough to matter. The auditor (ledger, audit) predicts and checks.

#include "sim/followers.hpp"
#include "support/audit.hpp"
#include "support/faulty_store.hpp"
#include "support/house.hpp"
#include "support/ledger.hpp"

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
    bool edits = true;  // batches, too
    bool followers = true;

    // Worlds where more happens take longer, and so they are fewer.
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
            const auto made = house_->make_account(name, "SYN");
            tokens_.push_back(made.token);
            told_.emplace_back(made.id);
            for (const auto how : {sim_follower::kind::polls, sim_follower::kind::polls_for_pending,
                                   sim_follower::kind::streams}) {
                if (options_.followers) followers_.emplace_back(how, made.id, made.token);
            }
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
            auto response = house_->call(
                post("/v1/tasks", payload, tokens_[static_cast<std::size_t>(name[0] - '0')], key));
            if (options_.edits) {
                response.body = boost::json::serialize(boost::json::parse(response.body));
            }
            again.answered(asked, response, header(response, "Idempotent-Replayed") == "true",
                           now());
        }
        for (const auto& v : again.violations()) found.push_back("asked again: " + v);
        for (auto& wrong : faults_of_edits()) found.push_back(std::move(wrong));
        for (sim_follower& f : followers_) {
            const auto [told, forgotten] = read_on(f);
            f.finish(*house_, told, forgotten);
            const auto& faults = f.model().faults();
            found.insert(found.end(), faults.begin(), faults.end());
            seen_.heard += f.model().changes();
            seen_.expiries += f.model().expiries();
        }
        found.insert(found.end(), wrong_.begin(), wrong_.end());
        return found;
    }

    // How much happened, for a test that wants to know that something did.
    struct events {
        int kills = 0;
        int retries = 0;
        int failed = 0;
        int receipts = 0;
        int edits = 0;
        int heard = 0;      // changes, by followers
        int expiries = 0;   // of their cursors
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
        bool is_edit = false;
        bool is_batch = false;
    };

    enum class change { describe, complete, remove, purge };

    // What became of one task, by the answers to its only client.
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
        int made = 0;        // tasks with a definite answer
        int attempt = 0;     // at the task it is at
        int generation = 0;  // a new key after a definite failure
        milliseconds wait_until{0};
        std::optional<flight> out;
        // It is at an edit of the task it made last.
        std::optional<change> edit;
        std::int64_t seq = 0;  // of that task, as it knows it
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
            f.step(*house_, chance_, told, forgotten);
        }
        // The server gets some way, or all the way, and time passes.
        if (chance_.once_in(3)) {
            house_->settle();
            find_sleepers();
        } else {
            for (auto n = chance_.below(6); n > 0; --n) house_->step();
        }
        if (chance_.once_in(2)) house_->advance(milliseconds{chance_.below(1500)});
    }

    // What its account's chain says by now, and where history begins.
    std::pair<const told_changes&, std::int64_t> read_on(const sim_follower& f) {
        const auto tx = disk_->begin_durable_read();
        told_changes& told = told_[f.account() == told_[0].account() ? 0 : 1];
        told.read_on(*tx);
        return {told, accounts::history_from(*tx, f.account())};
    }

    // With nothing left to do, nobody waits for what is there.
    void find_sleepers() {
        if (house_->fatal()) return;
        const auto tx = disk_->begin_read();
        for (const sim_follower& f : followers_) {
            if (f.sleeps_on(accounts::head_of(*tx, f.account()).seq))
                wrong_.insert("a follower sleeps on");
        }
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
        if (clock_.elapsed() < c.wait_until) return;
        if (c.edit) return send_edit(c);
        if (c.made == options_.tasks_a_client) return;
        if (c.attempt++ > 0) ++seen_.retries;
        const auto request = ledger_.sent(name_of(c), payload_of(c), now());
        // Lost on the way there: the server never hears of it.
        if (chance_.once_in(10)) {
            c.out = flight{request, std::make_shared<std::optional<net::http_response>>(), true};
            return;
        }
        const bool is_batch = options_.edits && chance_.once_in(6);
        auto deliver = [&] {
            const auto& token = tokens_[static_cast<std::size_t>(c.account)];
            return house_->start(is_batch ? post("/v1/tasks:batchCreate", batch_of(c), token)
                                          : post("/v1/tasks", payload_of(c), token, key_of(c)));
        };
        // Sometimes it arrives twice; the client sees one of the answers.
        if (chance_.once_in(12)) deliver();
        c.out = flight{request, deliver(), chance_.once_in(8)};
        c.out->is_batch = is_batch;
    }

    // Beside one that is not valid.
    std::string batch_of(const client& c) const {
        return R"({"items":[{"idempotencyKey":"none","task":{"description":""}},)"
               R"({"idempotencyKey":")" +
               key_of(c) + R"(","task":)" + payload_of(c) + "}]}";
    }
    // What its creation would have been answered with by itself.
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

    // ---- edits: of a task that nobody else edits ----

    void send_edit(client& c) {
        made_task& t = tasks_.at(name_of_task(c));
        header_list headers = bearer(tokens_[static_cast<std::size_t>(c.account)]);
        // A retry may find that the first one took.
        if (c.attempt++ > 0) {
            ++seen_.retries;
        } else if (chance_.once_in(2)) {
            headers.emplace_back("If-Match", "\"" + std::to_string(c.seq) + "\"");
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
        c.out = flight{{}, house_->start(std::move(request)), chance_.once_in(8), true};
    }

    void look_at_edit(client& c, const net::http_response& response) {
        made_task& t = tasks_.at(name_of_task(c));
        seen_.trace += t.key + " " + std::to_string(response.status) + "\n";
        const bool was_purged = *c.edit == change::purge && response.status == 410;
        if (response.status >= 500) return retry_later(c);
        if (response.status >= 300 && !was_purged) {
            wrong_.insert("an edit of " + t.key + " is refused: " + response.body);
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

    // Each acknowledged edit is there, once, and nothing else is.
    std::vector<std::string> faults_of_edits() {
        std::vector<std::string> found;
        if (!options_.edits) return found;
        for (const auto& [name, t] : tasks_) {
            const std::string path = "/v1/tasks/" + t.key;
            const auto response =
                house_->call(get(path, tokens_[static_cast<std::size_t>(t.account)]));
            if (response.status != (t.purged ? 410u : 200u)) {
                found.push_back(t.key + " is answered " + std::to_string(response.status));
                continue;
            }
            told_changes& told = told_[static_cast<std::size_t>(t.account)];
            told.read_on(*disk_->begin_read());
            const auto changes = std::ranges::count(told.all(), t.uuid, &told_change::task);
            if (changes != 1 + t.edits) found.push_back(t.key + " has changed too often");
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
            // Out of patience, sooner or later: nothing is known.
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
        house_.emplace(house_options{.engine = engine,
                                     .reaper = reaper,
                                     .disk = faulty_.get(),
                                     .clock = &clock_,
                                     .entropy = &chance_,
                                     .reaping = true});
        // Who is told of a version finds it there, whatever happens next.
        told_of_ = house_->engine().events().subscribe([this](const event& happened) {
            const auto* const made = std::get_if<callsign::events::version_appended>(&happened);
            if (!made) return;
            if (accounts::head_of(*disk_->begin_durable_read(), made->account).seq < made->seq) {
                wrong_.insert("a version is told of before it is durable");
            }
        });
    }

    void restart() {
        for (sim_follower& f : followers_) f.cut_off();
        house_.reset();
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
    std::optional<house> house_;
    hub::subscription told_of_;
    std::vector<std::string> tokens_;
    std::vector<client> clients_;
    ledger ledger_;
    std::map<std::string, made_task> tasks_;  // by their client and how many it had made
    std::vector<told_changes> told_;          // by account
    std::vector<sim_follower> followers_;
    std::set<std::string> wrong_;
    events seen_;
};

}  // namespace callsign::testing
