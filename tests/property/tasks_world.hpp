#pragma once
// The world of tasks_test.cpp: two accounts, their clients and followers, and the events.

#include "property/disks.hpp"
#include "property/tasks_actions.hpp"
#include "property/tasks_drawn.hpp"
#include "support/audit.hpp"
#include "support/faulty_store.hpp"
#include "support/ledger.hpp"
#include "support/model_follower.hpp"
#include "support/task_json.hpp"
#include "support/test_server.hpp"

#include <callsign/rules/rows/accounts.hpp>

#include <algorithm>
#include <rapidcheck.h>

namespace callsign::testing {

class tasks_world {
  public:
    explicit tasks_world(std::unique_ptr<disk> disk) : disk_(std::move(disk)) {
        start();
        for (const char* name : {"one", "two"}) {
            const auto made = server_->make_account(name, "SYN");
            server_->call(post("/v1/series", R"({"prefix":"OPS","project":"ops"})", made.token));
            server_->call(post("/v1/series",
                               R"({"prefix":"DAY","reset":"daily","timeZone":"Asia/Tokyo"})",
                               made.token));
            accounts_.push_back({made.id, made.token, account_model(made.id), {}});
            for (int n = 0; n < 4; ++n) join(accounts_.back(), n);
        }
    }
    ~tasks_world() { server_.reset(); }
    tasks_world(const tasks_world&) = delete;
    tasks_world& operator=(const tasks_world&) = delete;

    struct events {
        int edits = 0;
        int purges = 0;
        std::size_t days = 0;
        int heard = 0;
        int expiries = 0;
    };
    const events& seen() const { return seen_; }

    void perform(const task_action_drawn& a) {
        try {
            attempt(a);
        } catch (const killed&) {
            restart();
        }
        if (server_->fatal()) restart();
        read_on();
    }

    // Without further faults, everything is checked.
    void settle_accounts() {
        faulty_->disarm();
        restart();
        read_on();
        for (const auto& [name, payload] : ledger_.acknowledged(latest())) {
            create(account_of(name), name.substr(2), payload);
        }
        for (one_account& a : accounts_) {
            for (const auto& [id, t] : a.model.tasks) look_at(a, id, t);
            look_at_lists(a);
            for (auto& f : a.followers) {
                while (read(a, f, 1000)) {
                }
                f.model.finish(a.model.told);
                leave(f);
            }
            seen_.days += a.model.series[2].last.size();
        }
        none_of(ledger_.violations());
        none_of(audit(*faulty_));
        none_of(broken_);
    }

  private:
    using verb = boost::beast::http::verb;
    using json_object = boost::json::object;

    struct follower {
        model_follower model{};
        std::string query{};
        std::string cursor = "0";
    };
    struct one_account {
        account_id id;
        std::string token;
        account_model model;
        std::vector<follower> followers;
    };

    static constexpr reaper_options reaping{
        .interval = std::chrono::minutes{1},
        .window = std::chrono::minutes{10},
        .retention = std::chrono::hours{2},
        .history_retention = std::chrono::minutes{9},
        .batch = 3,
    };

    template <class Words>
    static void none_of(const Words& words) {
        for (const std::string& each : words) RC_LOG(each);
        RC_ASSERT(words.empty());
    }

    time_point latest() const { return virtual_start + clock_.elapsed(); }
    one_account& account_of(const std::string& name) {
        return accounts_[static_cast<std::size_t>(name[0] - '0')];
    }
    std::string name_of(const one_account& a, const std::string& key) const {
        return std::to_string(&a - accounts_.data()) + "/" + key;
    }
    void wrong(std::string what) { broken_.insert(std::move(what)); }

    void read_on() {
        const auto tx = disk_->begin_durable_read();
        for (one_account& a : accounts_) {
            a.model.read_on(*tx, clock_.elapsed());
            a.model.want_nothing_more();
            none_of(a.model.broken);
        }
        none_of(broken_);
    }
    int versions_read(one_account& a) {
        const int before = a.model.versions;
        a.model.read_on(*disk_->begin_durable_read(), clock_.elapsed());
        return a.model.versions - before;
    }

    void attempt(const task_action_drawn& d) {
        one_account& a = accounts_[static_cast<std::size_t>(d.who)];
        switch (d.what) {
        case deed::create: return create_new(a, d.which, d.how);
        case deed::retry: return retry(a, d.which);
        case deed::create_many: return create_many(a, d);
        case deed::edit: return edit(a, draw_.edit(a.model, d.which, d.how));
        case deed::edit_many: return edit_many(a, d);
        case deed::change_series: return change_series(a, d);
        case deed::cross_midnight: return cross_midnight(a, d.how);
        case deed::follow: return follow(a, d);
        case deed::look: return look(a);
        case deed::sweep: return sweep();
        case deed::pass_time: return pass_time(d.how);
        case deed::kill: return kill(a, d);
        case deed::fault: return arm(d);
        }
    }

    // ---- creations ----

    drawn_creation draw(one_account& a, int which, int how) {
        auto c = draw_.creation(a.model, which, how);
        payloads_.emplace(name_of(a, c.key), c.payload);
        return c;
    }

    // Processes one outcome, of a single request or of an item of a batch.
    void answered(one_account& a, const ledger::request& r, net::http_response response,
                  bool replayed) {
        const auto body = boost::json::parse(response.body).as_object();
        response.body = boost::json::serialize(body);
        const bool is_rejected = response.status == 400 ||
                                 (response.status == 409 && code_of(body) == "series-archived");
        if (is_rejected) {
            if (!task_drawer::is_rejectable(a.model, r.payload))
                wrong("rejected without a reason: " + response.body);
            return;
        }
        ledger_.answered(r, response, replayed, latest());
        if (response.status > 201) return;
        versions_read(a);
        const auto id = parse_uuid(std::string_view(body.at("uuid").as_string()));
        const auto found = a.model.tasks.find(*id);
        const bool is_so = found != a.model.tasks.end() &&
                           found->second.number == body.at("number").as_int64() &&
                           text_of(body, "period") == found->second.period &&
                           boost::json::parse(r.payload).at("description").as_string() ==
                               descriptions_.try_emplace(*id, description_of(a, *id)).first->second;
        if (!is_so) wrong("receipt of another task: " + response.body);
    }
    // The description at creation.
    static std::string description_of(const one_account& a, const uuid& id) {
        for (const told_change& c : a.model.told.all()) {
            if (c.task == id) return std::string(value_of(*c.after, "description"));
        }
        return {};
    }

    void create(one_account& a, const std::string& key, const std::string& payload) {
        const auto r = ledger_.sent(name_of(a, key), payload, latest());
        const auto response = server_->start(post("/v1/tasks", payload, a.token, key));
        server_->settle();
        RC_ASSERT(response->has_value());
        answered(a, r, **response, header(**response, "Idempotent-Replayed") == "true");
    }
    void create_new(one_account& a, int which, int how) {
        const auto c = draw(a, which, how);
        create(a, c.key, c.payload);
    }
    // Retries a key of this account with the first payload that was sent with it.
    void retry(one_account& a, int which) {
        const std::string key = "key-" + std::to_string(std::max(1, draw_.keys() - which));
        const auto found = payloads_.find(name_of(a, key));
        if (found != payloads_.end()) create(a, key, found->second);
    }

    // New creations, an invalid one, a retry, and a duplicate.
    void create_many(one_account& a, const task_action_drawn& d) {
        std::vector<drawn_creation> items;
        for (int n = 0; n < 1 + d.how % 4; ++n) items.push_back(draw(a, d.which + n, n));
        const auto sent_before =
            payloads_.find(name_of(a, "key-" + std::to_string(draw_.keys() - 7)));
        if (sent_before != payloads_.end()) {
            items.push_back({sent_before->first.substr(2), sent_before->second});
        }
        if (d.how % 3 == 0) items.push_back(items.front());
        const std::size_t bad = static_cast<std::size_t>(d.which) % (items.size() + 1);
        items.insert(items.begin() + static_cast<std::ptrdiff_t>(bad),
                     {"key-0", R"({"description":""})"});
        boost::json::array all;
        std::vector<ledger::request> requests;
        for (const auto& item : items) {
            all.push_back(json_object{{"idempotencyKey", item.key},
                                      {"task", boost::json::parse(item.payload)}});
            if (item.key != "key-0") {
                requests.push_back(ledger_.sent(name_of(a, item.key), item.payload, latest()));
            } else {
                requests.emplace_back();
            }
        }
        const auto response = server_->start(post(
            "/v1/tasks:batchCreate", boost::json::serialize(json_object{{"items", all}}), a.token));
        server_->settle();
        RC_ASSERT(response->has_value());
        RC_ASSERT((*response)->status == 200u || (*response)->status >= 500u);
        if ((*response)->status != 200) return;
        const auto results = boost::json::parse((*response)->body).at("results").as_array();
        RC_ASSERT(results.size() == items.size());
        for (std::size_t n = 0; n < items.size(); ++n) {
            const auto& result = results[n].as_object();
            net::http_response each;
            each.status = status_of(result);
            each.body =
                boost::json::serialize(result.at(each.status <= 201 ? "receipt" : "problem"));
            const auto* const replayed = result.if_contains("replayed");
            if (items[n].key == "key-0") {
                if (each.status != 400) wrong("invalid creation accepted: " + each.body);
            } else {
                answered(a, requests[n], each, replayed && replayed->as_bool());
            }
        }
    }

    // A creation that was reserved before midnight and is fulfilled after it is numbered in the new
    // day.
    void cross_midnight(one_account& a, int how) {
        if (a.model.series[2].archived) return;
        constexpr milliseconds day = std::chrono::hours{24};
        const auto into = (clock_.now().time_since_epoch() + std::chrono::hours{9}) % day;
        clock_.step_wall(day - into - std::chrono::seconds{2});
        auto c = draw(a, 1, 1);
        try {
            faulty_->arm(fault_point::after_reserve_commit, fault_kind::kill);
            create(a, c.key, c.payload);
        } catch (const killed&) {
            restart();
        }
        faulty_->disarm();
        server_->advance(std::chrono::seconds{how % 5});
        create(a, c.key, c.payload);
    }

    // ---- edits ----

    std::string etag_of(const one_account& a, const drawn_edit& e) {
        const model_task& t = a.model.tasks.at(*e.task);
        return server_->etag(*e.if_seq, a.model.series[t.series].prefix);
    }

    void edit(one_account& a, const drawn_edit& e) {
        const unsigned expected = task_drawer::status_for(a.model, e);
        const bool has_effect = expected < 300 && e.becomes(a.model.tasks.at(*e.task).attributes) !=
                                                      a.model.tasks.at(*e.task).attributes;
        if (expected < 300) a.model.want({*e.task, e.becomes});
        header_list headers = bearer(a.token);
        if (!e.body.empty()) headers.emplace_back("Content-Type", "application/json");
        if (e.if_seq) headers.emplace_back("If-Match", etag_of(a, e));
        const auto response =
            server_->start(make_request(e.method, "/v1/tasks/" + e.ref + e.path, e.body, headers));
        server_->settle();
        RC_ASSERT(response->has_value());
        const auto& answer = **response;
        if (answer.status >= 500) return;
        if (answer.status != expected) {
            wrong("expected " + std::to_string(expected) + ", not " +
                  std::to_string(answer.status) + " " + answer.body);
        }
        if (versions_read(a) != (has_effect ? 1 : 0)) wrong("an edit without effect");
        ++seen_.edits;
        seen_.purges += answer.status == 204 ? 1 : 0;
        if (answer.status != 200) return;
        compare(a, *e.task, boost::json::parse(answer.body).as_object());
        const model_task& now = a.model.tasks.at(*e.task);
        if (header(answer, "ETag") != server_->etag(now.seq, a.model.series[now.series].prefix))
            wrong("another ETag");
    }

    // Edits apply in order, each to the result of the previous ones.
    void edit_many(one_account& a, const task_action_drawn& d) {
        boost::json::array items;
        std::vector<unsigned> expected;
        std::map<uuid, model_task> before = a.model.tasks;
        for (int n = 0; n < 2 + d.how % 4; ++n) {
            const drawn_edit e = draw_.edit(a.model, d.which + n / 2, d.how / 4 + n);
            if (e.method != verb::patch) continue;
            json_object item{{"ref", e.ref}, {"task", boost::json::parse(e.body)}};
            if (e.if_seq) item["ifMatch"] = etag_of(a, e);
            items.push_back(std::move(item));
            // An edit by position is stale if this batch has already changed the task.
            drawn_edit then = e;
            const bool has_moved = e.task && touched_in_batch_.contains(*e.task);
            then.is_stale = e.is_stale || (has_moved && e.if_seq);
            expected.push_back(task_drawer::status_for(a.model, then));
            if (expected.back() != 200) continue;
            auto& t = a.model.tasks.at(*e.task);
            const auto becomes = e.becomes(t.attributes);
            if (becomes != t.attributes) touched_in_batch_.insert(*e.task);
            t.attributes = *becomes;
            wanted_.push_back({*e.task, e.becomes});
        }
        touched_in_batch_.clear();
        a.model.tasks = std::move(before);
        for (auto& w : std::exchange(wanted_, {})) a.model.want(std::move(w));
        if (items.empty()) return;
        const auto response =
            server_->start(post("/v1/tasks:batchUpdate",
                                boost::json::serialize(json_object{{"items", items}}), a.token));
        server_->settle();
        RC_ASSERT(response->has_value());
        if ((*response)->status != 200) return;
        versions_read(a);
        const auto results = boost::json::parse((*response)->body).at("results").as_array();
        RC_ASSERT(results.size() == expected.size());
        const auto failed = [](const auto& r) { return status_of(r.as_object()) >= 500; };
        if (std::ranges::any_of(results, failed)) return;
        for (std::size_t n = 0; n < results.size(); ++n) {
            const unsigned status = status_of(results[n].as_object());
            if ((status == 201 ? 200 : status) != expected[n]) {
                wrong("of a batch, expected " + std::to_string(expected[n]) + ": " +
                      boost::json::serialize(results[n]));
            }
        }
    }

    // ---- series ----

    // Renames a series, binds it to a project and frees it, archives and unarchives it.
    void change_series(one_account& a, const task_action_drawn& d) {
        const std::size_t n = 1 + static_cast<std::size_t>(d.how) % 2;
        model_series after = a.model.series[n];
        const std::string named =
            *std::next(after.names.begin(), d.which % std::ssize(after.names));
        json_object body;
        bool is_taken = false;
        if (d.how % 3 == 0) {
            after.archived = !after.archived;
            body["archived"] = after.archived;
            if (after.archived) after.project.clear();
        } else if (d.how % 3 == 1 && n == 1 && !after.archived) {
            after.project = after.project.empty() ? "ops" : "";
            body["project"] = after.project;
            if (after.project.empty()) body["project"] = nullptr;
        } else {
            static constexpr const char* names[] = {"OPS", "RUN", "DAY", "NOW", "SYN"};
            after.prefix = names[d.which % 5];
            body["prefix"] = after.prefix;
            const model_series* const owner = a.model.find_series(after.prefix);
            is_taken = owner && owner != &a.model.series[n];
            after.names.insert(after.prefix);
        }
        header_list headers = bearer(a.token);
        headers.emplace_back("Content-Type", "application/json");
        const auto response = server_->start(make_request(verb::patch, "/v1/series/" + named,
                                                          boost::json::serialize(body), headers));
        faulty_->disarm();  // versions do not show whether a change of a series was committed
        server_->settle();
        RC_ASSERT(response->has_value());
        if ((*response)->status != (is_taken ? 409u : 200u)) {
            wrong("a series: " + std::to_string((*response)->status) + " " + (*response)->body);
        }
        if (!is_taken) a.model.series[n] = std::move(after);
        versions_read(a);  // a renaming changes the tasks of the series
    }

    // ---- followers ----

    void join(one_account& a, int n) {
        follower f;
        model_follower::filter wanted;
        if (n == 1) {
            f.query = "&status=pending";
            wanted = [](const uuid&, const attributes& all) {
                return value_of(all, "status") == "pending";
            };
        } else if (n == 2) {
            f.query = "&tag=x";
            wanted = [](const uuid&, const attributes& all) { return all.contains("tag_x"); };
        } else if (n == 3) {
            f.query = "&prefix=DAY";
            wanted = [this, who = a.id](const uuid& id, const attributes&) {
                return series_of(who, id) == 2;
            };
        }
        f.model = model_follower(std::move(wanted), without_key);
        f.model.may_be_scrubbed();
        a.followers.push_back(std::move(f));
    }
    static attributes without_key(const attributes& all) {
        attributes rest = all;
        rest.erase("key");
        return rest;
    }
    std::size_t series_of(account_id who, const uuid& id) const {
        const auto a = std::ranges::find(accounts_, who, &one_account::id);
        return a->model.tasks.at(id).series;
    }
    void leave(const follower& f) {
        for (const auto& each : f.model.faults()) wrong(each);
        seen_.heard += f.model.changes();
        seen_.expiries += f.model.expiries();
    }

    void follow(one_account& a, const task_action_drawn& d) {
        follower& f = a.followers[static_cast<std::size_t>(d.which) % a.followers.size()];
        read(a, f, 1 + d.how % 5);
        for (const auto& each : f.model.faults()) wrong(each);
    }

    // Returns false at the current end of the feed.
    bool read(one_account& a, follower& f, int limit) {
        const auto response = server_->start(
            get("/v1/changes?after=" + f.cursor + "&limit=" + std::to_string(limit) + f.query,
                a.token));
        server_->settle();
        RC_ASSERT(response->has_value());
        versions_read(a);
        const auto& answer = **response;
        if (answer.status >= 500) return false;
        const auto body = boost::json::parse(answer.body).as_object();
        const std::int64_t from = accounts::history_from(*disk_->begin_durable_read(), a.id);
        if (answer.status == 410 && code_of(body) == "cursor-expired") {
            f.cursor = text_of(body, "cursor");
            f.model.begin_again(place_of(f.cursor), a.model.told, from);
            return true;
        }
        if (answer.status != 200) {
            wrong("a follower: " + answer.body);
            return false;
        }
        std::vector<heard_change> shown;
        for (const auto& each : body.at("changes").as_array()) {
            shown.push_back(heard_of(each.as_object()));
        }
        if (std::ssize(shown) > limit) wrong("more changes than the limit");
        if (body.at("last").as_int64() != a.model.told.seq()) wrong("wrong last seq");
        f.cursor = text_of(body, "cursor");
        const feed_place at = place_of(f.cursor);
        const bool is_over = at == feed_place{a.model.told.seq()};
        if (!is_over && at == f.model.place()) wrong("a follower does not advance");
        f.model.hear(shown, at, a.model.told, from);
        return !is_over;
    }

    // ---- checks ----

    void compare(one_account& a, const uuid& id, const json_object& shown) {
        const model_task& t = a.model.tasks.at(id);
        const bool is_so =
            text_of(shown, "uuid") == to_string(id) && text_of(shown, "key") == a.model.key_of(t) &&
            shown.at("seq").as_int64() == t.seq &&
            without_key(attributes_of(shown)) == without_key(a.model.told.tasks().at(id));
        if (!is_so) wrong("wrong task in the response: " + boost::json::serialize(shown));
    }

    // Queries the task by UUID and by each current and former key.
    void look_at(one_account& a, const uuid& id, const model_task& t) {
        std::vector<std::string> refs{to_string(id)};
        for (const auto& prefix : a.model.series[t.series].names) {
            refs.push_back(a.model.key_of(t, prefix));
        }
        for (const std::string& ref : refs) {
            const auto response = server_->call(get("/v1/tasks/" + ref, a.token));
            if (response.status != (t.purged ? 410u : 200u)) {
                wrong(ref + " is answered " + std::to_string(response.status));
            } else if (!t.purged) {
                compare(a, id, boost::json::parse(response.body).as_object());
            }
        }
    }

    void look_at_lists(one_account& a) {
        const auto response = server_->call(
            get("/v1/tasks?pageSize=500&status=pending&status=completed&status=deleted", a.token));
        const auto body = boost::json::parse(response.body).as_object();
        std::set<uuid> listed, expected;
        for (const auto& each : body.at("tasks").as_array()) {
            const auto id = *parse_uuid(text_of(each.as_object(), "uuid"));
            listed.insert(id);
            if (a.model.tasks.contains(id)) compare(a, id, each.as_object());
        }
        for (const auto& [id, t] : a.model.tasks) {
            if (!t.purged) expected.insert(id);
        }
        if (listed != expected) wrong("a list with wrong tasks");
    }

    void look(one_account& a) {
        for (const auto& [id, t] : a.model.tasks) look_at(a, id, t);
    }

    // ---- time and faults ----

    void sweep() {
        const auto done = server_->run(server_->reaper().sweep_once());
        for (one_account& a : accounts_) {
            a.model.read_on(*disk_->begin_durable_read(), clock_.elapsed());
            const std::int64_t from = accounts::history_from(*disk_->begin_durable_read(), a.id);
            const milliseconds kept = reaping.history_retention, now = clock_.elapsed();
            if (from > a.model.forgettable(now, kept, milliseconds{0})) {
                wrong("history expires too early");
            }
            constexpr std::chrono::seconds slack{1};
            if (done && from < a.model.forgettable(now, kept + slack, started_)) {
                wrong("old history does not expire");
            }
        }
    }

    void pass_time(int how) {
        static constexpr milliseconds spans[] = {
            std::chrono::milliseconds{1}, std::chrono::seconds{5},  std::chrono::minutes{4},
            std::chrono::minutes{11},     std::chrono::minutes{40}, std::chrono::hours{3}};
        static constexpr milliseconds steps[] = {
            std::chrono::seconds{-1}, std::chrono::hours{9}, std::chrono::hours{-30},
            std::chrono::hours{24 * 40}, std::chrono::hours{-24 * 40}};
        if (how % 4 == 3) return clock_.step_wall(steps[how / 4 % 5]);
        server_->advance(spans[how % 6]);
    }

    // Kills the server with requests at any stage.
    void kill(one_account& a, const task_action_drawn& d) {
        for (int n = 0; n < d.which % 4; ++n) {
            const auto c = draw(a, d.which + n, n);
            ledger_.sent(name_of(a, c.key), c.payload, latest());
            server_->start(post("/v1/tasks", c.payload, a.token, c.key));
        }
        for (int n = 0; n < d.how % 64; ++n) server_->step();
        throw killed{};
    }

    void arm(const task_action_drawn& d) {
        // Half of the faults come before a commit of any kind: edits have no fault points of their
        // own.
        const auto where = d.how % 2 == 0 ? fault_point::before_any_commit
                                          : static_cast<fault_point>(d.how / 2 % fault_points);
        faulty_->arm(where, fault_at(where, static_cast<std::uint64_t>(d.which)));
    }

    void start() {
        started_ = clock_.elapsed();
        faulty_ = std::make_unique<faulty_store>(disk_->open());
        server_.emplace(
            test_server_options{.engine = {.trust_clock_after = std::chrono::years{100}},
                                .reaper = reaping,
                                .disk = faulty_.get(),
                                .clock = &clock_,
                                .entropy = &entropy_});
    }

    void restart() {
        disk_->kill();
        server_.reset();
        start();
    }

    std::unique_ptr<disk> disk_;
    virtual_clock clock_;
    milliseconds started_{0};  // this run of the server
    seeded_entropy entropy_{1};
    std::unique_ptr<faulty_store> faulty_;
    std::optional<test_server> server_;
    std::vector<one_account> accounts_;
    ledger ledger_{*reaping.window, reaping.retention};
    std::map<std::string, std::string> payloads_;  // by account/key
    std::map<uuid, std::string> descriptions_;     // at creation
    std::set<uuid> touched_in_batch_;
    std::vector<wanted_edit> wanted_;
    std::set<std::string> broken_;
    events seen_;
    task_drawer draw_;
};

}  // namespace callsign::testing
