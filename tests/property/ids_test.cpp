// Goal: no ID is ever assigned twice, whatever has been removed and however often the server
// starts; a new account inherits nothing from a removed account of the same name.
//
// Method: a seed generates actions of operators and clients on a few account names: accounts are
// created, used, deleted and removed in steps of any size, time passes, and the server stops and
// starts, also between two steps. The whole server without sockets runs on SQLite. After each
// action every new ID must be greater than all earlier ones of its kind.

#include "support/check.hpp"
#include "support/given_ids.hpp"
#include "support/temp_dir.hpp"
#include "support/test_server.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/webhooks.hpp>
#include <callsign/seal/key_ring.hpp>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

namespace json = boost::json;
using boost::beast::http::verb;

class ids_world {
  public:
    explicit ids_world(unsigned seed) : chance_(seed) {
        start();
        operator_ = server_->operator_token();
        // The content of a new account in a new store.
        for (const bool opaque : {false, true}) {
            make(opaque, opaque);
            fresh_[opaque] = shown(name_of(opaque));
        }
        watch_ids("at first");
    }
    ~ids_world() { server_.reset(); }
    ids_world(const ids_world&) = delete;
    ids_world& operator=(const ids_world&) = delete;

    void play(int actions) {
        for (int n = 0; n < actions && faults_.empty(); ++n) watch_ids(act());
        restart();
        watch_ids("at the end");
        for (const auto& fault : report_on(dir_.path()).faults) faults_.push_back(fault.text);
    }

    const std::vector<std::string>& faults() const { return faults_; }
    // Number of accounts whose name a removed account had.
    int made_again() const { return std::min(removed_, made_ - 2); }

  private:
    // Returns a description of the action.
    std::string act() {
        const int who = static_cast<int>(chance_.below(3));
        const std::string name = name_of(who);
        const std::string own = "/v1/admin/accounts/" + name;
        const std::string n = std::to_string(++drawn_);
        switch (chance_.below(20)) {
        case 0:
        case 1: {
            const bool opaque = chance_.once_in(2);
            const bool is_made = make(who, opaque);
            if (is_made && shown(name) != fresh_[opaque]) {
                faults_.push_back("inherited: " + shown(name));
            }
            return "account created";
        }
        case 2:
            tell(verb::post, own + "/series",
                 R"({"prefix":"P)" + n + R"(","next":)" + std::to_string(1 + chance_.below(64)) +
                     "}");
            return "series created";
        case 3:
            tell(verb::post, own + "/tokens", R"({"name":"t","scope":"read"})");
            return "token created";
        case 4: tell(verb::post, own + "/devices", R"({"name":"d"})"); return "device created";
        case 5:
            tell(verb::post, "/v1/webhooks", R"({"url":"https://example.com/"})", tokens_[who]);
            return "webhook created";
        case 6: deliver(who); return "delivery attempt logged";
        case 7:
        case 8:
            tell(verb::post, "/v1/tasks", R"({"description":"x"})", tokens_[who], n);
            return "task created";
        case 9: remove_some(who); return "token, device or webhook removed";
        case 10:
        case 11: tell(verb::delete_, own, ""); return "account deleted";
        case 12:
        case 13:
            server_->advance(std::chrono::hours{1});
            submit(forget_settled{slot_id{}, 100, milliseconds{0}, std::chrono::hours{24}});
            return "time advanced";
        case 14:
        case 15:
        case 16: restart(); return "server restarted";
        default: {
            const auto limit = static_cast<std::int64_t>(1) << chance_.below(12);
            for (auto steps = 1 + chance_.below(40); steps > 0; --steps) {
                const auto done = submit(remove_deleted{milliseconds{1}, limit, place_});
                place_ = done.next;
                removed_ += static_cast<int>(done.removed);
            }
            return "steps of a removal run";
        }
        }
    }

    static std::string name_of(int who) { return std::string(1, static_cast<char>('a' + who)); }

    void start() {
        store_ = open_sqlite({.data_dir = dir_.path(), .readers = 1, .buffered_entries_max = 4});
        test_server_options options;
        options.disk = store_.get();
        options.clock = &clock_;
        options.entropy = &entropy_;
        options.engine.trust_clock_after = milliseconds{0};
        options.service.master_key = master_;
        server_.emplace(std::move(options));
        rows_.emplace(rows_of(dir_.path()));
    }
    void restart() {
        rows_.reset();
        server_->close();
        server_.reset();
        store_.reset();
        place_.reset();  // the cursor is in memory only
        start();
    }

    // Sends a request; the server decides whether it is allowed.
    net::http_response tell(verb method, const std::string& target, std::string body,
                            const std::string& token, const std::string& key = {}) {
        header_list headers = bearer(token);
        if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
        if (!key.empty()) headers.emplace_back("Idempotency-Key", '"' + key + '"');
        auto answer = server_->call(make_request(method, target, std::move(body), headers));
        if (answer.status >= 500) faults_.push_back(target + ": " + answer.body);
        return answer;
    }
    net::http_response tell(verb method, const std::string& target, std::string body) {
        return tell(method, target, std::move(body), operator_);
    }
    template <class Command>
    typename Command::answer submit(Command c) {
        auto done = server_->run(server_->engine().submit(std::move(c)));
        return done.value();
    }

    bool make(int who, bool opaque) {
        const std::string name = name_of(who);
        const auto made = tell(verb::post, "/v1/admin/accounts",
                               R"({"name":")" + name + R"(","prefix":"SYN","mode":")" +
                                   (opaque ? "opaque" : "managed") + "\"}");
        if (made.status != 201) return false;
        ++made_;
        const auto token = tell(verb::post, "/v1/admin/accounts/" + name + "/tokens",
                                R"({"name":"own","scope":"admin"})");
        tokens_[who] = json::parse(token.body).at("token").as_string();
        return true;
    }
    void deliver(int who) {
        const auto owner =
            server_->look([&](read_tx& tx) { return accounts::find(tx, name_of(who)); });
        if (!owner) return;
        const auto all = server_->look([&](read_tx& tx) { return webhooks::of(tx, owner->id); });
        for (const webhook& w : all) {
            submit(settle_delivery{
                .account = owner->id,
                .uuid = w.uuid,
                .edits = w.edits,
                .attempt = webhook_delivery{.id = "1", .at = clock_.now(), .delivered = true},
                .failures_max = 4});
        }
    }
    // Removes the last token, device and webhook, but not the initial token.
    void remove_some(int who) {
        const std::string own = "/v1/admin/accounts/" + name_of(who);
        remove_last(own, "/tokens", "tokenId", "/v1/admin/tokens/", operator_, 2);
        remove_last(own, "/devices", "deviceId", own + "/devices/", operator_, 0);
        remove_last("/v1", "/webhooks", "webhookId", "/v1/webhooks/", tokens_[who], 0);
    }
    void remove_last(const std::string& of, const std::string& kind, const char* id,
                     const std::string& at, const std::string& token, std::size_t kept) {
        const auto listed = tell(verb::get, of + kind, "", token);
        if (listed.status != 200) return;
        const auto all = json::parse(listed.body).at(kind.substr(1)).as_array();
        if (all.size() <= kept) return;
        tell(verb::delete_, at + std::string(all.back().at(id).as_string()), "", token);
    }

    // Erases names, times and IDs; in texts only those behind a bracket.
    static void leave_out_own(json::value& v) {
        if (auto* const all = v.if_array()) {
            for (json::value& one : *all) leave_out_own(one);
        } else if (auto* const members = v.if_object()) {
            for (const char* own :
                 {"accountId", "tokenId", "entryId", "account", "name", "createdAt", "at"}) {
                members->erase(own);
            }
            for (auto& [name, value] : *members) leave_out_own(value);
        } else if (auto* const text = v.if_string()) {
            for (auto at = text->find('('); at != text->npos; at = text->find('(', at + 1)) {
                const auto end = text->find_first_not_of("0123456789", at + 1);
                text->erase(at + 1, std::min(end, text->size()) - at - 1);
            }
        }
    }
    // Returns all that the server shows about an account, without its name, times and IDs.
    std::string shown(const std::string& name) {
        std::string all;
        const std::string own = "/v1/admin/accounts/" + name;
        for (const std::string& at : {own, own + "/series", own + "/tokens", own + "/devices",
                                      "/v1/admin/audit?account=" + name}) {
            auto said = json::parse(tell(verb::get, at, "").body);
            leave_out_own(said);
            all += json::serialize(said) + '\n';
        }
        return all;
    }

    void watch_ids(const std::string& when) {
        if (const auto why = server_->fatal()) faults_.push_back(when + ": " + *why);
        for (const auto& [table, ids] : ids_in(*rows_)) {
            auto& known = known_[table];
            const std::int64_t before = highest_[table];
            for (const std::int64_t id : ids) {
                if (known.contains(id)) continue;
                if (id <= before) {
                    faults_.push_back(when + ": " + table + " has " + std::to_string(id) +
                                      " again");
                }
                highest_[table] = std::max(highest_[table], id);
            }
            known = std::set(ids.begin(), ids.end());
        }
    }

    seeded_entropy chance_;
    temp_dir dir_;
    virtual_clock clock_;
    seeded_entropy entropy_{1};
    std::shared_ptr<const seal::key_ring> master_ = std::make_shared<const seal::key_ring>(
        seal::key(std::array<std::uint8_t, seal::key_bytes>{0x4B}));
    std::unique_ptr<store> store_;
    std::optional<test_server> server_;
    std::optional<SQLite::Database> rows_;
    std::string operator_;
    std::array<std::string, 3> tokens_;
    std::array<std::string, 2> fresh_;  // managed, opaque
    std::optional<remove_deleted::place> place_;
    std::map<std::string, std::set<std::int64_t>> known_;
    std::map<std::string, std::int64_t> highest_;
    int drawn_ = 0, made_ = 0, removed_ = 0;
    std::vector<std::string> faults_;
};

TEST(ids, none_is_assigned_twice) {
    int made_again = 0;
    for (unsigned seed = 1; seed <= 8; ++seed) {
        ids_world world(seed);
        world.play(150);
        ASSERT_EQ(world.faults(), std::vector<std::string>{}) << "seed " << seed;
        made_again += world.made_again();
    }
    EXPECT_GT(made_again, 8);
}

}  // namespace
}  // namespace callsign::testing
