// Commands on files, with and without a server: master keys, backups, check, doctor.

#include "command_line.hpp"

#include <callsign/seal/master_key.hpp>

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

namespace callsign::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(command_line, former_master_keys_are_dropped_when_the_server_has_the_new_one) {
    const std::string file = (data_dir / "master.key").string();
    EXPECT_EQ(run({"master-key", "rotate", file}), 1);
    EXPECT_EQ(run({"master-key", "new", file}), 0) << err.str();
    EXPECT_EQ(run({"master-key", "drop-former", file}), 1);
    EXPECT_THAT(err.str(), HasSubstr("contains no former master key"));
    // The random bytes of the tests are the same in each run.
    std::ofstream(file) << std::string(64, '1') << "\n";
    EXPECT_EQ(run({"master-key", "rotate", file}), 0) << err.str();
    EXPECT_THAT(out.str(), HasSubstr("callsign master-key drop-former " + file));
    EXPECT_THAT(out.str() + err.str(), Not(HasSubstr("5a5a")));
    const auto text = [&] {
        std::ifstream in(file);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    const std::string both = text();
    EXPECT_THAT(both, testing::EndsWith("\n" + std::string(64, '1') + "\n"));
    EXPECT_TRUE(requests.empty());

    answer(R"({"fingerprint":"0123456789abcdef","formerKeys":0,"current":2})");
    EXPECT_EQ(run({"master-key", "drop-former", file}), 1);
    EXPECT_THAT(err.str(), HasSubstr("restart it and retry; nothing was changed"));
    EXPECT_EQ(text(), both) << "a server that was not restarted needs the former key";
    answer(R"({"title":"no","status":503,"code":"no-master-key"})", 503);
    EXPECT_EQ(run({"master-key", "drop-former", file}), 1);
    EXPECT_EQ(text(), both);

    const auto keys = std::get<seal::key_ring>(seal::read_master_key(file));
    answer(R"({"fingerprint":")" + keys.fingerprint() +
           R"(","formerKeys":1,"current":2,"resealed":1,"unopened":1})");
    out.str("");
    EXPECT_EQ(run({"master-key", "drop-former", file}), 0) << err.str();
    EXPECT_THAT(requests.back(),
                HasSubstr("POST http://127.0.0.1:8080 /v1/admin/master-key/reseal"));
    EXPECT_THAT(out.str(), HasSubstr("3 secrets encrypted with the current master key."));
    EXPECT_THAT(err.str(), HasSubstr("1 secret could not be decrypted with any key"));
    EXPECT_EQ(text(), both.substr(0, 65));
}

TEST_F(command_line, a_master_key_is_written_once_and_never_printed) {
    environment.clear();
    const std::string file = (data_dir / "master.key").string();
    std::string digits;
    for (int i = 0; i < 32; ++i) digits += "5a";
    EXPECT_EQ(run({"master-key", "new", file}), 0) << err.str();
    std::ifstream written(file);
    std::string line;
    std::getline(written, line);
    EXPECT_EQ(line, digits);
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(file).permissions(), perms::owner_read | perms::owner_write);
    EXPECT_THAT(out.str(), HasSubstr("master_key_file = \"" + file + "\"\n"));
    EXPECT_THAT(out.str(), HasSubstr("separately from the data"));
    EXPECT_EQ(run({"master-key", "new", file}), 1);
    EXPECT_EQ(err.str(), "callsign: " + file + ": The master key's file already exists.\n");
    EXPECT_THAT(out.str() + err.str(), Not(HasSubstr("5a5a")));
    out.str("");
    EXPECT_EQ(run({"master-key", "new", file + "2", "--json"}), 0);
    EXPECT_EQ(out.str(), R"({"file":")" + file + "2\"}\n");
    EXPECT_EQ(run({"master-key", "new"}), 2);
    EXPECT_TRUE(requests.empty());
}

TEST_F(command_line, a_master_key_that_cannot_be_written_is_an_error) {
    EXPECT_EQ(run({"master-key", "new", (data_dir / "none" / "key").string()}), 1);
    EXPECT_THAT(err.str(),
                HasSubstr("No such directory: mkdir -p " + (data_dir / "none").string()));
}

TEST_F(command_line, requests_a_backup_on_the_servers_disk) {
    answer(R"({"running":false,"copied":0,"total":0})");
    answer(R"({"directory":"/backups/monday","madeAt":"2026-11-20T12:48:00.123Z","bytes":4096,)"
           R"("sha256":"00","schema":14,"program":"0.1.0"})",
           201);
    EXPECT_EQ(run({"backup", "/backups/x/../monday"}), 0);
    EXPECT_EQ(requests[1],
              "POST " + local + R"( /v1/admin/backups {"directory":"/backups/monday"})");
    EXPECT_NE(out.str().find("/backups/monday"), std::string::npos);
    EXPECT_NE(out.str().find("does not contain the master key"), std::string::npos);
}

TEST_F(command_line, restores_into_the_given_directory_and_asks_for_confirmation) {
    EXPECT_EQ(run({"restore", "/backups/monday", "--yes"}), 2);
    EXPECT_NE(err.str().find("--data-dir"), std::string::npos);
    EXPECT_EQ(run({"restore", "/backups/monday", "--data-dir", data_dir.string()}), 2);
    terminal = true;
    in.str("n\n");
    EXPECT_NE(run({"restore", "/backups/monday", "--data-dir", data_dir.string()}), 0);
    EXPECT_TRUE(restored.empty());
    EXPECT_NE(run({"restore", "/backups/none", "--data-dir", data_dir.string(), "--yes"}), 0);
    EXPECT_EQ(run({"restore", "/backups/monday", "--data-dir", data_dir.string(), "--yes"}), 0);
    EXPECT_EQ(restored, std::vector<std::filesystem::path>{data_dir});
    EXPECT_NE(out.str().find("series held     3"), std::string::npos) << out.str();
    EXPECT_NE(out.str().find("series resume"), std::string::npos);
    EXPECT_TRUE(requests.empty());
}

TEST_F(command_line, check_needs_no_server) {
    report.checked = {{"tasks", 12}, {"slots", 30}};
    environment.clear();
    EXPECT_EQ(run({"check", "--data-dir", data_dir.string()}), 0);
    EXPECT_EQ(out.str(),
              "CHECKED  ROWS\n"
              "tasks    12\n"
              "slots    30\n"
              "Guarantees I1, I2, I3, I4 and I6 are verified.\n");
    EXPECT_EQ(err.str(), "");
    out.str("");
    terminal = true;
    EXPECT_EQ(run({"check", "--json", "--data-dir", data_dir.string()}), 0);
    EXPECT_EQ(out.str(), R"({"ok":true,"checked":{"tasks":12,"slots":30},"faults":[]})"
                         "\n");
    EXPECT_EQ(err.str(), "\r\x1b[Kchecking slots ...\r\x1b[K");
    EXPECT_TRUE(requests.empty());
}

TEST_F(command_line, check_lists_incomplete_tasks_and_ends_well) {
    const std::vector<std::string> check{"check", "--data-dir", data_dir.string()};
    const std::string id = "11111111-2222-4333-8444-555555555555";
    report.incomplete = {{"ada", "SYN-7", *parse_uuid(id)}};
    report.incomplete_count = 1;
    EXPECT_EQ(run(check), 0);
    EXPECT_THAT(out.str(), HasSubstr("SYN-7       ada      " + id + "\nIncomplete tasks lack "));
    EXPECT_THAT(out.str(), HasSubstr("I1, I2, I3, I4 and I6 are verified."));
    report.incomplete_count = 12;
    EXPECT_EQ(run(check), 0);
    EXPECT_THAT(out.str(), HasSubstr(id + "\nand 11 more.\n"));
    out.str("");
    EXPECT_EQ(run({"check", "--json", "--data-dir", data_dir.string()}), 0);
    EXPECT_EQ(out.str(), R"({"ok":true,"checked":{},"faults":[],"incomplete":[{"account":"ada",)"
                         R"("key":"SYN-7","uuid":")" +
                             id +
                             R"("}],"incompleteCount":12})"
                             "\n");
}

TEST_F(command_line, check_reports_that_the_store_time_is_ahead) {
    const std::vector<std::string> check{"check", "--data-dir", data_dir.string()};
    report.last_moment = now + std::chrono::seconds{59};
    EXPECT_EQ(run(check), 0);
    EXPECT_EQ(out.str().find("The latest time"), std::string::npos);
    report.last_moment = now + std::chrono::hours{24 * 3650};
    EXPECT_EQ(run(check), 0);
    EXPECT_THAT(out.str(), HasSubstr("The latest time in the store is 2036-11-"));
    EXPECT_THAT(out.str(), HasSubstr("this machine's clock says 2026-11-"));
    EXPECT_THAT(out.str(), HasSubstr("callsign repair-clock"));
    out.str("");
    EXPECT_EQ(run({"check", "--json", "--data-dir", data_dir.string()}), 0);
    EXPECT_THAT(out.str(), HasSubstr(R"("note":"The latest time)"));
}

TEST_F(command_line, repair_clock_asks_for_confirmation_and_needs_a_store) {
    EXPECT_EQ(run({"repair-clock", "--data-dir", data_dir.string()}), 2);
    EXPECT_THAT(err.str(), HasSubstr("use --yes"));
    err.str("");
    EXPECT_EQ(run({"repair-clock", "--yes", "--data-dir", "/nonexistent"}), 1);
    EXPECT_THAT(err.str(), HasSubstr("there is no /nonexistent"));
    const std::vector<std::string> repair_clock{"repair-clock", "--yes", "--data-dir",
                                                data_dir.string()};
    repair = {now, false, 0};
    EXPECT_EQ(run(repair_clock), 0);
    EXPECT_THAT(out.str(), HasSubstr("Nothing to repair"));
    repair = {now + std::chrono::hours{24 * 3650}, true, 17};
    EXPECT_EQ(run(repair_clock), 0);
    EXPECT_THAT(out.str(), HasSubstr("The store's time was 2036-11-"));
    EXPECT_THAT(out.str(), HasSubstr("Slots corrected: 17"));
}

TEST_F(command_line, check_reports_corruption_and_fails) {
    report.checked = {{"tasks", 1}};
    report.faults = {{"I1", "series 3 has number 4 twice"}};
    environment = {{"CALLSIGN_STORE_DATA_DIR", data_dir.string()}};
    EXPECT_EQ(run({"check"}), 1);
    EXPECT_THAT(out.str(), HasSubstr("I1      series 3 has number 4 twice\n"));
    EXPECT_THAT(out.str(), Not(HasSubstr("hold")));
    out.str("");
    EXPECT_EQ(run({"check", "--json"}), 1);
    EXPECT_EQ(out.str(), R"({"ok":false,"checked":{"tasks":1},"faults":[{"invariant":"I1",)"
                         R"("text":"series 3 has number 4 twice"}]})"
                         "\n");
    EXPECT_EQ(run({"check", "--data-dir", "/nonexistent"}), 1);
    EXPECT_EQ(err.str(), "callsign: there is no /nonexistent\n");
}

// ---- doctor ----

TEST_F(command_line, doctor_shows_one_line_per_check_and_fails_for_errors_only) {
    findings = {{"config", verdict::ok, "callsign.toml", ""},
                {"clock", verdict::warning, "nothing keeps it right", "set it"},
                {"schema", verdict::skipped, "there is none", "start callsignd"}};
    answer(R"({"window":"10m","interval":"30s","oldestPending":"2026-11-20T12:48:00.000Z"})");
    answer(R"({"title":"Server not ready","code":"not-ready","requestId":"r"})", 503);
    answer(R"({"accounts":[{"name":"ada"}]})");
    answer(R"({"series":[{"prefix":"SYN","held":true},{"prefix":"INC","held":false}]})");
    EXPECT_EQ(
        run({"doctor", "--data-dir", data_dir.string(), "--config", "c.toml", "--url", local}), 0);
    EXPECT_EQ(out.str(),
              "ok       config  callsign.toml\n"
              "warning  clock   nothing keeps it right: set it\n"
              "skipped  schema  there is none: start callsignd\n");
    EXPECT_EQ(asked.config_file, std::filesystem::path("c.toml"));
    EXPECT_EQ(asked.data_dir, data_dir.string());
    EXPECT_EQ(asked.now, now);
    EXPECT_EQ(asked.variables, std::vector<std::string>{"CALLSIGN_REAPER_WINDWO"});
    EXPECT_EQ(word.error, "");
    EXPECT_EQ(word.window, std::chrono::minutes{10});
    EXPECT_EQ(word.interval, std::chrono::seconds{30});
    EXPECT_TRUE(word.oldest_pending);
    ASSERT_EQ(word.held.size(), 1u);
    EXPECT_EQ(word.held[0].account + word.held[0].prefix, "adaSYN");
    EXPECT_EQ(word.not_ready, "Server not ready (not-ready)");
    out.str("");
    findings.push_back({"disk", verdict::error, "it is full", "make room"});
    EXPECT_EQ(run({"doctor", "--data-dir", data_dir.string(), "--json"}), 1);
    EXPECT_EQ(out.str(),
              R"({"ok":false,"checks":[)"
              R"({"check":"config","verdict":"ok","found":"callsign.toml","advice":""},)"
              R"({"check":"clock","verdict":"warning","found":"nothing keeps it right",)"
              R"("advice":"set it"},)"
              R"({"check":"schema","verdict":"skipped","found":"there is none",)"
              R"("advice":"start callsignd"},)"
              R"({"check":"disk","verdict":"error","found":"it is full","advice":"make room"}]})"
              "\n");
    EXPECT_THAT(word.error, HasSubstr("no server runs on"));
}

// The token of a data directory is sent to the server of that directory.
TEST_F(command_line, doctor_queries_no_other_server) {
    environment = {{"CALLSIGN_URL", "http://127.0.0.1:1"}};
    put_file("admin.token", "cs_operators_own\n");
    EXPECT_EQ(run({"doctor"}), 0);
    EXPECT_THAT(word.error, HasSubstr("no server runs on"));
    EXPECT_TRUE(requests.empty());
    put_listen_file("listen.url", local);
    answer(R"({"window":"10m","interval":"30s"})");
    answer("ready");
    answer("{}");
    EXPECT_EQ(run({"doctor"}), 0);
    EXPECT_EQ(word.error + word.not_ready, "");
    ASSERT_FALSE(requests.empty());
    EXPECT_THAT(requests[0], HasSubstr("GET " + local));
    EXPECT_THAT(out.str() + err.str(), Not(HasSubstr("cs_operators_own")));
}

TEST_F(command_line, doctor_shows_errors_in_red) {
    findings = {{"disk", verdict::error, "full\x1b[2J", ""}, {"clock", verdict::warning, "w", ""}};
    EXPECT_EQ(run({"doctor", "--color", "always"}), 1);
    EXPECT_EQ(out.str(),
              "\x1b[31merror\x1b[0m    disk   full?[2J\n"
              "\x1b[33mwarning\x1b[0m  clock  w\n");
}

TEST_F(command_line, check_reads_a_database_that_is_named) {
    EXPECT_EQ(run({"check", "--store", "postgresql://db/callsign"}), 0);
    EXPECT_EQ(checked, "postgresql://db/callsign");
}

TEST_F(command_line, move_asks_for_confirmation_and_shows_no_password) {
    const std::string url = "postgresql://callsign:secret@db1,db2/tasks?sslmode=require";
    const std::vector<std::string> move{"move", "--from", data_dir.string(), "--to", url};
    EXPECT_EQ(run(move), 2);
    EXPECT_TRUE(moves.empty());
    auto yes = move;
    yes.emplace_back("--yes");
    EXPECT_EQ(run(yes), 0) << err.str();
    EXPECT_EQ(moves, std::vector<std::string>{data_dir.string() + " to " + url});
    EXPECT_THAT(out.str(), HasSubstr("The store is now in postgresql://db1,db2/tasks."));
    EXPECT_THAT(out.str() + err.str(), Not(HasSubstr("secret")));
    EXPECT_EQ(run({"move", "--yes", "--from", url, "--to", "/other"}), 0);
    EXPECT_EQ(moves.back(), url + " to /other");
    // A URL and a directory, whichever way.
    EXPECT_EQ(run({"move", "--yes", "--from", "/a", "--to", "/b"}), 2);
    EXPECT_EQ(run({"move", "--yes", "--from", url, "--to", url}), 2);
}

TEST_F(command_line, move_fails_if_a_store_violates_the_guarantees) {
    report.faults.push_back({"I1", "a number is missing"});
    EXPECT_EQ(run({"move", "--yes", "--from", "/a", "--to", "postgresql://db/tasks"}), 1);
    EXPECT_THAT(out.str(), HasSubstr("The store was not moved"));
}

TEST_F(command_line, restored_holds_the_series_of_a_database) {
    EXPECT_EQ(run({"restored", "--store", "postgresql://db/tasks"}), 2);
    EXPECT_TRUE(marked.empty());
    EXPECT_EQ(run({"restored", "--yes", "--store", "postgresql://db/tasks"}), 0);
    EXPECT_EQ(marked, "postgresql://db/tasks");
    EXPECT_THAT(out.str(), HasSubstr("callsign series resume"));
    EXPECT_EQ(run({"restored", "--yes", "--store", "/data"}), 2);
}

}  // namespace
}  // namespace callsign::cli
