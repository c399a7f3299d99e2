// `callsign move` and `callsign restored`: a store with its receipts moves to a database and back,
// although the command is killed, and servers stay away until it is there.

#include "fixture.hpp"
#include "support/postgres.hpp"
#include "support/setting.hpp"

#include <gmock/gmock.h>
#include <map>
#include <random>

namespace callsign::testing {
namespace {

using ::testing::HasSubstr;

class move_store_test : public system_test {
  protected:
    std::string program() const { return (programs() / "callsign").string(); }

    std::unique_ptr<server> start_on(const std::filesystem::path& dir, const std::string& url) {
        return std::make_unique<server>(
            server::options{.program_dir = programs(),
                            .data_dir = dir,
                            .flags = {},
                            .environment = {{"CALLSIGN_STORE_URL", url}}});
    }
    static void stop(server& s) {
        s.child().signal(SIGTERM);
        EXPECT_EQ(s.child().wait(timeout), (exit_status{0, 0}));
    }
    // Creates or repeats these creations; the responses by key.
    std::map<std::string, std::string> created(const server& s) const {
        std::map<std::string, std::string> receipts;
        http_client http(s.port(), token_);
        for (int n = 0; n < 200; ++n) {
            const std::string key = "key-" + std::to_string(n);
            const auto answer = http.post_json(
                "/v1/tasks", R"({"description":"task )" + std::to_string(n) + "\"}", key);
            receipts[key] = answer && answer->status < 300 ? answer->body : "none";
        }
        return receipts;
    }
    // Kills the command once, at any moment, and repeats it.
    void move(const std::string& from, const std::string& to, std::mt19937_64& random) const {
        const std::vector<std::string> words{program(), "move", "--from", from,
                                             "--to",    to,     "--yes"};
        process first(words);
        const auto ended = first.wait(milliseconds{random() % 150});
        if (ended == exit_status{0, 0}) return;
        first.kill();
        const finished repeated = run(words, timeout);
        EXPECT_EQ(repeated.status, (exit_status{0, 0})) << repeated.err;
    }
    void expect_sound(const std::vector<std::string>& where) const {
        std::vector<std::string> words{program(), "check", "--json"};
        words.insert(words.end(), where.begin(), where.end());
        const finished checked = run(words, timeout);
        EXPECT_EQ(checked.status, (exit_status{0, 0})) << checked.out << checked.err;
    }
    // Why a server does not start.
    std::string start_error(const std::filesystem::path& dir, const std::string& url) {
        try {
            start_on(dir, url);
            return "it starts";
        } catch (const std::runtime_error& error) {
            return error.what();
        }
    }

    postgres_server database_;
    std::string token_;
};

TEST_F(move_store_test, there_and_back_over_kills) {
    const auto seed = system_seed();
    SCOPED_TRACE("CALLSIGN_SYSTEM_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::map<std::string, std::string> receipts;
    {
        auto s = start();
        token_ = make_account(*s, "home2", "MOV");
        receipts = created(*s);
        stop(*s);
    }
    move(data_dir(), database_.url(), random);
    expect_sound({"--store", database_.url()});
    EXPECT_THAT(start_error(data_dir(), ""), HasSubstr("the store was moved to a database"));
    {
        auto s = start_on(data_dir(), database_.url());
        EXPECT_EQ(created(*s), receipts);
        stop(*s);
    }
    const auto back = temp_path("back");
    move(database_.url(), back, random);
    expect_sound({"--data-dir", back.string()});
    EXPECT_THAT(start_error(temp_path("other"), database_.url()),
                HasSubstr("the store was moved from this database"));
    auto s = start_on(back, "");
    EXPECT_EQ(created(*s), receipts);
    http_client http(s->port(), token_);
    const auto next = http.post_json("/v1/tasks", R"({"description":"next"})", "next");
    EXPECT_THAT(next->body, HasSubstr("\"key\":\"MOV-201\""));
}

TEST_F(move_store_test, restored_holds_the_series_of_a_database) {
    const auto dir = temp_path("node");
    std::map<std::string, std::string> receipts;
    {
        auto s = start_on(dir, database_.url());
        token_ = make_account(*s, "home2", "RES");
        receipts = created(*s);
        const finished refused =
            run({program(), "restored", "--store", database_.url(), "--yes"}, timeout);
        EXPECT_EQ(refused.status.code, 1);
        EXPECT_THAT(refused.err, HasSubstr("a server runs on the database"));
        stop(*s);
    }
    EXPECT_EQ(run({program(), "restored", "--store", database_.url(), "--yes"}, timeout).status,
              (exit_status{0, 0}));
    auto s = start_on(dir, database_.url());
    EXPECT_EQ(created(*s), receipts);
    http_client http(s->port(), token_);
    const auto held = http.post_json("/v1/tasks", R"({"description":"next"})", "next");
    ASSERT_TRUE(held);
    EXPECT_EQ(held->status, 503u);
    EXPECT_THAT(held->body, HasSubstr("series-held"));
    const finished resumed = run({program(), "series", "resume", "RES", "--account", "home2",
                                  "--at", "300", "--data-dir", dir.string()},
                                 timeout);
    EXPECT_EQ(resumed.status, (exit_status{0, 0})) << resumed.err;
    const auto next = http.post_json("/v1/tasks", R"({"description":"next"})", "next");
    EXPECT_THAT(next->body, HasSubstr("\"key\":\"RES-300\""));
    expect_sound({"--store", database_.url()});
}

}  // namespace
}  // namespace callsign::testing
