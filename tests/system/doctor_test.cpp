// Goal: `callsign doctor` finds errors in a real server's configuration and environment, running or
// not, exits with 1 for errors only, and changes nothing. Method: the installed programs on an
// intact directory, on that of a stopped server and of a killed one, and with each error
// introduced.

#include "fixture.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <map>
#include <sys/stat.h>

namespace callsign::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class doctor_system_test : public system_test {
  protected:
    // Names, bytes, modes and times of files; excludes changes to the shared memory by readers of
    // an open store.
    std::map<std::string, std::string> traces() const {
        std::map<std::string, std::string> all;
        if (!std::filesystem::exists(data_dir())) return all;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(data_dir())) {
            struct stat s {};
            ::lstat(entry.path().c_str(), &s);
            std::string& its = all[entry.path()];
            if (entry.path().string().ends_with("-shm")) continue;
            std::ifstream in(entry.path(), std::ios::binary);
            const std::string bytes(std::istreambuf_iterator<char>(in), {});
            its = std::to_string(s.st_mode) + "|" + std::to_string(s.st_uid) + "|" +
                  std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec) + "|" +
                  std::to_string(std::hash<std::string>{}(bytes));
        }
        return all;
    }

    finished doctor(std::vector<std::string> words = {},
                    const environment& env = {{"CALLSIGN_SERVER_LISTEN", "127.0.0.1:0"}}) const {
        words.insert(words.begin(), {(programs() / "callsign").string(), "doctor", "--data-dir",
                                     data_dir().string()});
        const auto before = traces();
        finished done = run(words, timeout, env);
        EXPECT_EQ(traces(), before) << "doctor has changed files";
        return done;
    }
    void expect_fault(const finished& done, const std::string& words) const {
        EXPECT_EQ(done.status, (exit_status{1, 0})) << done.out << done.err;
        EXPECT_THAT(done.out, HasSubstr(words));
    }
    void stop(server& s) const {
        s.child().signal(SIGTERM);
        expect_exit(s.child(), 0);
    }
    void execute(const char* sql) const {
        SQLite::Database db((data_dir() / "callsign.sqlite3").string(), SQLite::OPEN_READWRITE);
        db.exec(sql);
    }
};

TEST_F(doctor_system_test, a_healthy_server_has_no_error) {
    auto s = start();
    const finished done = doctor();
    EXPECT_EQ(done.status, (exit_status{0, 0})) << done.out;
    EXPECT_THAT(done.out, HasSubstr("server responds"));
    EXPECT_THAT(done.out, HasSubstr("no slot is pending"));
    EXPECT_THAT(done.out, HasSubstr("for the server, http.connections_max"));
    EXPECT_THAT(done.out, Not(HasSubstr(s->admin_token())));
    EXPECT_THAT(done.out, Not(HasSubstr("\x1b")));
    EXPECT_EQ(done.err, "");
}

TEST_F(doctor_system_test, a_stopped_one_is_looked_at_and_left_as_it_is) {
    {
        auto s = start();
        stop(*s);
    }
    const finished done = doctor({"--json"});
    EXPECT_EQ(done.status, (exit_status{0, 0})) << done.out;
    const json::object report = json::parse(done.out).as_object();
    EXPECT_TRUE(report.at("ok").as_bool());
    std::map<std::string, std::string> verdicts;
    for (const json::value& each : report.at("checks").as_array()) {
        verdicts[std::string(each.at("check").as_string())] =
            std::string(each.at("verdict").as_string());
    }
    EXPECT_EQ(verdicts["schema"], "ok");
    EXPECT_EQ(verdicts["oldest slot"], "ok");
    EXPECT_EQ(verdicts["server"], "skipped");
    auto again = start();
    EXPECT_EQ(ask_callsign({"account", "list"}).at("accounts").as_array().size(), 1u);
}

TEST_F(doctor_system_test, a_killed_one_is_read_with_its_wal) {
    auto s = start();
    make_account(*s, "late", "LATE");
    s->child().kill();
    ASSERT_GT(std::filesystem::file_size(data_dir() / "callsign.sqlite3-wal"), 0u);
    const finished done = doctor();
    EXPECT_EQ(done.status, (exit_status{0, 0})) << done.out;
    EXPECT_THAT(done.out, HasSubstr("no server runs on"));
    EXPECT_THAT(done.out, HasSubstr("ok       schema"));
}

TEST_F(doctor_system_test, each_introduced_error_is_found) {
    expect_fault(doctor(), data_dir().string() + " does not exist");
    EXPECT_FALSE(std::filesystem::exists(data_dir()));
    {
        auto s = start();
        stop(*s);
    }
    EXPECT_EQ(doctor().status, (exit_status{0, 0}));

    const auto config = temp_path("callsign.toml");
    std::ofstream(config) << "[reaper]\nwindwo = \"10m\"\n";
    expect_fault(doctor({"--config", config.string()}),
                 ":2: unknown key: reaper.windwo; did you mean 'reaper.window'?");

    const finished misspelt =
        doctor({}, {{"CALLSIGN_SERVER_LISTEN", "127.0.0.1:0"}, {"CALLSIGN_REAPER_WINDWO", "10m"}});
    EXPECT_EQ(misspelt.status, (exit_status{0, 0})) << "a warning is not an error";
    EXPECT_THAT(misspelt.out, HasSubstr("CALLSIGN_REAPER_WINDWO is not a setting and is ignored: "
                                        "rename it to CALLSIGN_REAPER_WINDOW"));

    const auto token = data_dir() / "admin.token";
    ::chmod(token.c_str(), 0644);
    expect_fault(doctor(), "chmod 600 " + token.string());
    ::chmod(token.c_str(), 0600);

    ::chmod(data_dir().c_str(), 0777);
    expect_fault(doctor(), "chmod 700 " + data_dir().string());
    ::chmod(data_dir().c_str(), 0700);

    std::ofstream(temp_path("key")) << "too short\n";
    ::chmod(temp_path("key").c_str(), 0600);
    expect_fault(doctor({}, {{"CALLSIGN_SERVER_LISTEN", "127.0.0.1:0"},
                             {"CALLSIGN_SECRETS_MASTER_KEY_FILE", temp_path("key").string()}}),
                 "A master key must be 64 hexadecimal digits");
}

TEST_F(doctor_system_test, a_store_of_another_schema_is_named_and_not_migrated) {
    {
        auto s = start();
        stop(*s);
    }
    execute("PRAGMA user_version = 99");
    expect_fault(doctor(), "store schema is newer (schema 99");
}

TEST_F(doctor_system_test, a_port_that_another_has_is_named) {
    server other({programs(), temp_path("other"), {}, {}});
    {
        auto s = start();
        stop(*s);
    }
    const std::string listen = "127.0.0.1:" + std::to_string(other.port());
    expect_fault(doctor({}, {{"CALLSIGN_SERVER_LISTEN", listen}}),
                 "another program listens on " + listen);
}

}  // namespace
}  // namespace callsign::testing
