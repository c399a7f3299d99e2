#include "cli/run.hpp"

#include <callsign/seal/master_key.hpp>

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <unistd.h>

namespace callsign::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The program on a command line, with a server that answers what the test says.
struct command_line : testing::Test {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    bool terminal = false;
    bool out_terminal = false;
    bool err_is_piped = false;
    time_point now{std::chrono::seconds{1'795'000'000}};  // in November 2026
    std::map<std::string, std::string> environment{{"CALLSIGN_TOKEN", "cs_operator"}};
    std::vector<http_answer> answers;
    // "VERB URL TARGET BODY" of each request, and the token it bore.
    std::vector<std::string> requests;
    std::vector<std::string> tokens;
    std::filesystem::path data_dir;
    check_report report;
    std::vector<std::filesystem::path> restored;
    clock_repair repair;
    doctor_question asked;
    server_word word;
    std::vector<diagnosis> findings;

    command_line() {
        std::string name = (std::filesystem::temp_directory_path() / "callsign-XXXXXX").string();
        data_dir = ::mkdtemp(name.data());
    }
    ~command_line() override { std::filesystem::remove_all(data_dir); }

    void put_file(const char* name, const std::string& text) {
        std::ofstream(data_dir / name) << text;
    }

    // As callsignd writes it; without its lock it was left behind.
    void put_listen_file(const char* name, const std::string& url) {
        put_file(name, url + "\n");
        locked.reset(new int(::open((data_dir / name).c_str(), O_RDWR | O_CLOEXEC)));
        struct flock whole {};
        whole.l_type = F_WRLCK;
        ASSERT_EQ(::fcntl(*locked, F_OFD_SETLK, &whole), 0);
    }
    static void close_file(int* file) {
        ::close(*file);
        delete file;
    }
    std::unique_ptr<int, void (*)(int*)> locked{nullptr, close_file};

    void answer(std::string body, unsigned status = 200) {
        answers.push_back(
            {status, status < 400 ? "application/json" : "application/problem+json", body});
    }

    http_answer exchange(const server_url& server, const http_call& call) {
        requests.push_back(std::string(to_string(call.method)) + " " + server.text + " " +
                           call.target + " " + call.body);
        tokens.push_back(call.token);
        if (answers.empty()) return {500, "text/plain", "not expected"};
        http_answer next = answers.front();
        answers.erase(answers.begin());
        return next;
    }

    local_files files() {
        local_files all;
        all.check = [this](const std::filesystem::path& dir, time_point at,
                           const findings::progress& progress) {
            EXPECT_EQ(at, now);
            if (dir != data_dir) throw std::runtime_error("there is no " + dir.string());
            progress("slots");
            return report;
        };
        all.restore = [this](const std::filesystem::path& backup, const std::filesystem::path& dir,
                             time_point, const findings::progress& progress) {
            progress("the copy");
            if (backup != "/backups/monday") throw std::runtime_error("there is no backup");
            restored.push_back(dir);
            return restored_backup{{}, dir / "before", 3};
        };
        all.doctor = [this](const doctor_question& question) {
            asked = question;
            if (question.ask) word = question.ask(data_dir, true);
            return findings;
        };
        all.repair_clock = [this](const std::filesystem::path& dir, time_point) {
            if (dir != data_dir) throw std::runtime_error("there is no " + dir.string());
            return repair;
        };
        return all;
    }

    int run(std::vector<std::string> words) {
        const surroundings around{
            .in = in,
            .out = out,
            .err = err,
            .in_is_terminal = terminal,
            .err_is_terminal = terminal && !err_is_piped,
            .environment = [this](const char* name) -> const char* {
                const auto found = environment.find(name);
                return found == environment.end() ? nullptr : found->second.c_str();
            },
            .exchange = [this](const server_url& server, const http_call& call,
                               milliseconds) { return exchange(server, call); },
            .files = files(),
            .random = [](std::span<std::uint8_t> bytes) { std::ranges::fill(bytes, 0x5A); },
            .now = [this] { return now; },
            .out_is_terminal = out_terminal,
            .variables = {"CALLSIGN_REAPER_WINDWO"}};
        return cli::run(std::move(words), around);
    }
};

const std::string local = "http://127.0.0.1:8080";

TEST_F(command_line, creates_an_opaque_account_and_shows_its_client_id_once) {
    const std::string id = "0666d464-418a-4a08-ad53-6f15c78270cd";
    answer(R"({"accountId":"7","name":"desk","prefix":"DESK","token":"cs_secret",)"
           R"("createdAt":"2026-11-20T12:48:00.123Z","seq":0,"mode":"opaque","clientId":")" +
               id + R"("})",
           201);
    EXPECT_EQ(run({"account", "create", "desk", "--prefix", "DESK", "--opaque", "--client-id", id}),
              0);
    EXPECT_EQ(requests, std::vector<std::string>{"POST " + local + R"( /v1/admin/accounts )" +
                                                 R"({"name":"desk","prefix":"DESK",)" +
                                                 R"("mode":"opaque","clientId":")" + id + "\"}"});
    EXPECT_NE(out.str().find("client id   " + id), std::string::npos) << out.str();
    EXPECT_NE(out.str().find("the client id now"), std::string::npos);
}

// Until all is there, and then says so.
TEST_F(command_line, moves_an_account_there_and_waits) {
    const auto secret = data_dir / "secret";
    std::ofstream(secret) << "word\n";
    const auto shown = [](const std::string& moving) {
        return R"({"accountId":"7","name":"desk","prefix":"DESK","seq":9,"mode":"managed",)"
               R"("remote":{"url":"https://there.example","clientId":"x","pulled":0,)"
               R"("creationsWaiting":0,"keysWaiting":0,"moving":)" +
               moving + R"(,"tasksMoved":5}})";
    };
    answer(shown("true"));
    answer(shown("false"));
    terminal = true;
    const std::vector<std::string> move{
        "account",     "move", "desk",          "--to",         "https://there.example",
        "--client-id", "x",    "--secret-file", secret.string()};
    in.str("n\n");
    EXPECT_EQ(run(move), 1);
    EXPECT_TRUE(requests.empty());
    EXPECT_THAT(err.str(), HasSubstr("2. Sync each of its Taskwarriors twice"));
    in.clear();
    in.str("y\n");
    EXPECT_EQ(run(move), 0);
    EXPECT_THAT(out.str(), HasSubstr("2. Set sync.server.url, sync.server.client_id"));
    ASSERT_EQ(requests.size(), 2u);
    EXPECT_NE(requests[0].find(R"("remote":{"url":"https://there.example","clientId":"x",)"
                               R"("encryptionSecret":"word")"),
              std::string::npos)
        << requests[0];
    EXPECT_EQ(requests[1], "GET " + local + " /v1/admin/accounts/desk ");
    EXPECT_NE(err.str().find("5 tasks are there"), std::string::npos) << err.str();
    EXPECT_NE(out.str().find("desk lives at https://there.example now"), std::string::npos);
}

TEST_F(command_line, accounts_are_renamed_closed_and_deleted) {
    const std::string path = " /v1/admin/accounts/desk";
    const auto shown =
        R"({"accountId":"7","name":"desk","prefix":"DESK","seq":9,"state":"disabled"})";
    for (int n = 0; n < 4; ++n) answer(shown);
    EXPECT_EQ(run({"account", "rename", "desk", "table"}), 0);
    EXPECT_EQ(run({"account", "disable", "desk"}), 0);
    EXPECT_EQ(run({"account", "enable", "desk"}), 0);
    EXPECT_NE(run({"account", "delete", "desk"}), 0) << "it asks, and nobody answers";
    EXPECT_EQ(run({"account", "delete", "desk", "--yes"}), 0);
    EXPECT_EQ(requests,
              (std::vector<std::string>{"PATCH " + local + path + R"( {"name":"table"})",
                                        "PATCH " + local + path + R"( {"disabled":true})",
                                        "PATCH " + local + path + R"( {"disabled":false})",
                                        "DELETE " + local + path + " "}));
    EXPECT_THAT(out.str(), HasSubstr("state    disabled"));
}

TEST_F(command_line, a_move_needs_one_place_and_what_opens_it) {
    EXPECT_EQ(run({"account", "move", "desk"}), 2);
    EXPECT_EQ(run({"account", "move", "desk", "--here", "--to", "https://there.example"}), 2);
    EXPECT_EQ(run({"account", "move", "desk", "--to", "https://there.example"}), 2);
    EXPECT_TRUE(requests.empty());
}

TEST_F(command_line, a_client_id_is_for_an_opaque_account) {
    EXPECT_EQ(run({"account", "create", "desk", "--prefix", "DESK", "--client-id", "x"}), 2);
    EXPECT_NE(err.str().find("--opaque"), std::string::npos);
    EXPECT_TRUE(requests.empty());
}

TEST_F(command_line, creates_an_account_and_shows_its_token_once) {
    answer(R"({"accountId":"7","name":"ada","prefix":"SYN","token":"cs_secret",)"
           R"("createdAt":"2026-11-20T12:48:00.123Z","seq":0})",
           201);
    EXPECT_EQ(run({"account", "create", "ada", "--prefix", "SYN"}), 0);
    EXPECT_EQ(requests,
              std::vector<std::string>{"POST " + local +
                                       R"( /v1/admin/accounts {"name":"ada","prefix":"SYN"})"});
    EXPECT_EQ(tokens, std::vector<std::string>{"cs_operator"});
    EXPECT_EQ(out.str(),
              "account     ada\n"
              "account id  7\n"
              "prefix      SYN\n"
              "created     2026-11-20T12:48:00.123Z\n"
              "token       cs_secret\n"
              "Keep the token now: it is not shown again.\n");
    EXPECT_EQ(err.str(), "");
}

// ---- importing from Taskwarrior ----

std::string exported(int n, const std::string& more = "") {
    const std::string digits = std::to_string(100'000 + n);
    return R"({"uuid":"11111111-2222-4333-8444-000000)" + digits + R"(","description":"d")" + more +
           "}";
}

TEST_F(command_line, imports_tasks_from_standard_input) {
    in.str("[" + exported(1, R"(,"id":1,"key":"OLD-1","tags":["a"])") + "]");
    answer(R"({"imported":1,"thereAlready":0,"keysLeftOut":1})");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada"}), 0);
    EXPECT_EQ(requests,
              std::vector<std::string>{
                  "POST " + local + R"( /v1/admin/accounts/ada/import {"tasks":[{"uuid":)" +
                  R"("11111111-2222-4333-8444-000000100001",)" +
                  R"("attributes":{"description":"d","key":"OLD-1","status":"pending",)" +
                  R"("tag_a":""}}],"withKeys":false})"});
    EXPECT_EQ(out.str(), "tasks         1\nimported      1\ncompleted     0\nhere already  0\n");
    EXPECT_THAT(err.str(), HasSubstr("keys are the server's"));
}

TEST_F(command_line, an_export_with_keys_lets_held_series_go_on) {
    in.str("[" + exported(1, R"(,"key":"OLD-1")") + "," + exported(2) + "]");
    answer(R"({"imported":0,"thereAlready":0,"keyAttribute":"key"})");
    answer(R"({"imported":2,"thereAlready":0,"keysKept":1})");
    answer(R"({"imported":2,"thereAlready":0,"keysLeftOut":0,"keysKept":1})");
    answer(R"({"series":[{"prefix":"OLD","held":true},{"prefix":"NEW","held":false}]})");
    answer(R"({"prefix":"OLD","next":2,"held":false})");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada", "--with-keys"}), 0);
    ASSERT_EQ(requests.size(), 5u);
    EXPECT_THAT(requests[0], HasSubstr(R"({"tasks":[],"withKeys":true,"checkOnly":true})"));
    EXPECT_THAT(requests[1], HasSubstr(R"("withKeys":true,"checkOnly":true})"));
    EXPECT_THAT(requests[2], HasSubstr(R"("withKeys":true})"));
    EXPECT_THAT(requests[3], HasSubstr("GET " + local + " /v1/admin/accounts/ada/series"));
    EXPECT_THAT(requests[4],
                HasSubstr("POST " + local + " /v1/admin/accounts/ada/series/OLD/resume"));
    EXPECT_EQ(out.str(), "tasks         2\nimported      2\ncompleted     0\nhere already  0\n");
    EXPECT_EQ(err.str(), "Series OLD goes on at number 2.\n");
}

TEST_F(command_line, an_export_is_sent_in_the_order_of_its_keys) {
    in.str("[" + exported(1) + "," + exported(2, R"(,"Key":"S-10")") + "," +
           exported(3, R"(,"Key":"S-9","entry":"20261120T124800Z")") + "]");
    answer(R"({"keyAttribute":"Key"})");
    answer("{}");
    answer("{}");
    answer(R"({"series":[]})");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada", "--with-keys"}), 0);
    ASSERT_EQ(requests.size(), 4u);
    const auto third = requests[1].find("000000100003"), second = requests[1].find("000000100002");
    EXPECT_LT(third, second);
    EXPECT_LT(second, requests[1].find("000000100001"));
    EXPECT_THAT(requests[1], HasSubstr(R"("after":9})"));
}

TEST_F(command_line, keys_that_cannot_be_kept_are_listed_and_nothing_is_taken) {
    in.str("[" + exported(1, R"(,"key":"OLD-1")") + "," + exported(2, R"(,"key":"OLD-2")") + "," +
           exported(3, R"(,"key":"SYN-1")") + "]");
    answer(R"({"keyAttribute":"key"})");
    answer(R"({"status":422,"code":"numbers-refused","title":"t","errors":[)"
           R"({"field":"tasks[0].attributes","code":"unknown-prefix","detail":"OLD-1: no"},)"
           R"({"field":"tasks[1].attributes","code":"unknown-prefix","detail":"OLD-2: no"},)"
           R"({"field":"tasks[2].attributes","code":"duplicate","detail":"SYN-1: taken"}]})",
           422);
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada", "--with-keys"}), 1);
    EXPECT_EQ(requests.size(), 2u);
    EXPECT_THAT(err.str(),
                HasSubstr("keys of the export cannot be kept, and nothing was imported\n"
                          "  there is no series OLD, and 2 tasks have a key of it\n"
                          "  task 11111111-2222-4333-8444-000000100003, SYN-1: taken\n"));
}

TEST_F(command_line, one_key_of_two_tasks_is_a_fault_of_the_export) {
    in.str("[" + exported(1, R"(,"key":"S-1")") + "," + exported(2, R"(,"key":"s-1")") + "]");
    answer(R"({"keyAttribute":"key"})");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada", "--with-keys"}), 1);
    EXPECT_EQ(requests.size(), 1u);
    EXPECT_THAT(err.str(), HasSubstr("has the key of task"));
}

TEST_F(command_line, imports_in_batches_and_shows_how_far_it_is) {
    terminal = true;
    std::string text;
    for (int n = 0; n < 1200; ++n) text += exported(n) + "\n";
    put_file("export.json", text);
    for (const char* n : {"500", "499", "200"}) {
        answer(std::string(R"({"imported":)") + n + R"(,"thereAlready":)" +
               (std::string(n) == "499" ? R"(0,"completed":1})" : "0}"));
    }
    EXPECT_EQ(run({"import", "taskwarrior", (data_dir / "export.json").string(), "--account", "ada",
                   "--json"}),
              0);
    EXPECT_EQ(requests.size(), 3u);
    EXPECT_EQ(out.str(),
              R"({"tasks":1200,"imported":1199,"thereAlready":0,"completed":1,"keysKept":0})"
              "\n");
    const std::string begin = "\r\x1b[K";
    EXPECT_EQ(err.str(), begin + "task 500 of 1200" + begin + "task 1000 of 1200" + begin +
                             "task 1200 of 1200" + begin);
}

TEST_F(command_line, large_tasks_make_small_batches) {
    const std::string large = R"(,"notes":")" + std::string(300'000, 'x') + "\"";
    in.str("[" + exported(1, large) + "," + exported(2, large) + "]");
    for (int i = 0; i < 2; ++i) answer(R"({"imported":1,"thereAlready":0})");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada"}), 0);
    EXPECT_EQ(requests.size(), 2u);
}

TEST_F(command_line, a_faulty_export_is_not_sent) {
    in.str("[" + exported(1) + "," + exported(2, R"(,"due":"\u001b[2J")") + R"(,{"id":3}])");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada"}), 1);
    EXPECT_TRUE(requests.empty());
    EXPECT_EQ(err.str(),
              "callsign: the export has faults, and nothing was imported\n"
              "  entry 2: due: it is no date such as 20261120T124800Z\n"
              "  entry 3: it has no uuid\n"
              "  entry 3: it has no description\n");
}

// The server would refuse it when the tasks before it are in.
TEST_F(command_line, a_task_that_no_request_can_hold_is_a_fault_of_the_export) {
    std::string many;
    for (int n = 0; n <= 10'000; ++n) many += ",\"a" + std::to_string(n) + "\":1";
    in.str("[" + exported(1, R"(,"notes":")" + std::string(1'048'576, 'x') + "\"") + "," +
           exported(2, R"(,"status":"recurring","recur":"often","due":"20261120T124800Z")") + "," +
           exported(3) + "," + exported(4, many) + "]");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada"}), 1);
    EXPECT_TRUE(requests.empty());
    EXPECT_THAT(err.str(), HasSubstr("\n  entry 1: it is larger than 1 MiB\n"));
    EXPECT_THAT(err.str(), HasSubstr("\n  entry 2: recur: How often is a word"));
    EXPECT_THAT(err.str(), HasSubstr("\n  entry 4: it has more than 10000 attributes\n"));
}

TEST_F(command_line, an_import_that_is_refused_says_why) {
    in.str("[]");
    answer(R"({"status":409,"title":"The server cannot see this account's tasks",)"
           R"("code":"account-opaque"})",
           409);
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "desk"}), 1);
    EXPECT_EQ(requests.size(), 1u);
    EXPECT_THAT(err.str(), HasSubstr("account-opaque"));
    EXPECT_EQ(run({"import", "taskwarrior", "/no/such/file", "--account", "ada"}), 1);
    EXPECT_THAT(err.str(), HasSubstr("cannot read /no/such/file: No such file"));
    EXPECT_EQ(run({"import", "taskwarrior", "-"}), 2);
}

TEST_F(command_line, json_prints_the_answer_as_it_came) {
    const std::string body = R"({"scanned":3,"committed":1,"failed":1,"forgotten":0,"later":true})";
    for (const auto& words : {std::vector<std::string>{"reaper", "sweep", "--json"},
                              std::vector<std::string>{"--json", "reaper", "sweep"}}) {
        out.str("");
        answer(body + "\n");
        EXPECT_EQ(run(words), 0);
        EXPECT_EQ(out.str(), body + "\n");
    }
}

TEST_F(command_line, the_server_is_the_one_given_else_the_one_whose_directory_it_is) {
    put_listen_file("listen.url", "http://127.0.0.1:4711");
    put_file("admin.token", "cs_of_the_directory\n");
    const std::string dir = data_dir.string();
    const auto asked = [&](std::vector<std::string> more) {
        answer("{}");
        more.insert(more.begin(), {"account", "list"});
        EXPECT_EQ(run(more), 0) << err.str();
        const std::string request = requests.back().substr(4);
        return request.substr(0, request.find(' ')) + " " + tokens.back();
    };
    EXPECT_EQ(asked({"--url", "http://127.0.0.9:1"}), "http://127.0.0.9:1 cs_operator");
    EXPECT_EQ(asked({"--data-dir", dir}), "http://127.0.0.1:4711 cs_operator");
    environment.clear();
    EXPECT_EQ(asked({"--data-dir", dir}), "http://127.0.0.1:4711 cs_of_the_directory");
    EXPECT_EQ(asked({"--data-dir", dir, "--token", "cs_t"}), "http://127.0.0.1:4711 cs_t");
    EXPECT_EQ(asked({"--data-dir", dir, "--url", "http://127.0.0.9:1"}),
              "http://127.0.0.9:1 cs_of_the_directory");
    environment = {{"CALLSIGN_URL", "http://127.0.0.8:2"}, {"CALLSIGN_STORE_DATA_DIR", dir}};
    EXPECT_EQ(asked({}), "http://127.0.0.8:2 cs_of_the_directory");
    EXPECT_EQ(asked({"--url", "http://127.0.0.9:1"}), "http://127.0.0.9:1 cs_of_the_directory");
}

TEST_F(command_line, no_token_means_no_request) {
    environment.clear();
    EXPECT_EQ(run({"account", "list", "--url", "http://127.0.0.9:1"}), 2);
    EXPECT_THAT(err.str(), HasSubstr("an operator's token is needed"));
    put_listen_file("listen.url", "http://127.0.0.1:4711");
    EXPECT_EQ(run({"account", "list", "--data-dir", data_dir.string()}), 1);
    EXPECT_THAT(err.str(), HasSubstr("there is no operator's token in " + data_dir.string()));
    EXPECT_TRUE(requests.empty());
}

// As in a shell that stands where a server's data is.
struct command_line_beside_data : command_line {
    command_line_beside_data() {
        std::filesystem::create_directory(data_dir / "callsign-data");
        put_file("callsign-data/admin.token", "cs_of_the_directory\n");
        put_listen_file("callsign-data/listen.url", "http://127.0.0.1:4711");
        std::filesystem::current_path(data_dir);
        environment.clear();
    }
    ~command_line_beside_data() override { std::filesystem::current_path(before); }

    const std::filesystem::path before = std::filesystem::current_path();
};

TEST_F(command_line_beside_data, its_token_goes_to_its_server_alone) {
    answer("{}");
    EXPECT_EQ(run({"account", "list"}), 0);
    EXPECT_EQ(tokens, std::vector<std::string>{"cs_of_the_directory"});
    answer("{}");
    EXPECT_EQ(run({"account", "list", "--url", "http://127.0.0.1:4711"}), 0);
    EXPECT_EQ(tokens.back(), "cs_of_the_directory");
    for (const char* other : {"http://127.0.0.1:4712", "http://127.0.0.1:4711/x", "http://h:1"}) {
        EXPECT_EQ(run({"account", "list", "--url", other, "--insecure"}), 2);
        environment = {{"CALLSIGN_URL", other}};
        EXPECT_EQ(run({"account", "list", "--insecure"}), 2);
        environment.clear();
    }
    EXPECT_EQ(tokens.size(), 2u);
}

TEST_F(command_line, the_directory_of_a_server_that_does_not_run_leads_nowhere) {
    put_file("admin.token", "cs_of_the_directory\n");
    const std::string dir = data_dir.string();
    const auto expect_nobody = [&] {
        for (const bool on_the_line : {true, false}) {
            err.str("");
            std::vector<std::string> words{"account", "list"};
            if (on_the_line) words.insert(words.end(), {"--data-dir", dir});
            environment = {{"CALLSIGN_TOKEN", "cs_t"}};
            if (!on_the_line) environment["CALLSIGN_STORE_DATA_DIR"] = dir;
            EXPECT_EQ(run(words), 1);
            EXPECT_THAT(err.str(), HasSubstr("no server runs on " + dir));
            EXPECT_THAT(err.str(), HasSubstr("--url"));
            environment.erase("CALLSIGN_TOKEN");
            EXPECT_EQ(run(words), 1);
        }
    };
    expect_nobody();  // its server was stopped
    put_file("listen.url", "http://127.0.0.1:4711\n");
    expect_nobody();  // it was killed, and another may have its port
    EXPECT_TRUE(requests.empty());
}

TEST_F(command_line, a_directory_on_the_line_counts_for_more_than_an_address_in_the_environment) {
    put_listen_file("listen.url", "http://127.0.0.1:4711");
    put_file("admin.token", "cs_of_the_directory\n");
    environment = {{"CALLSIGN_URL", "http://127.0.0.8:2"}};
    answer("{}");
    EXPECT_EQ(run({"account", "list", "--data-dir", data_dir.string()}), 0) << err.str();
    EXPECT_THAT(requests.back(), HasSubstr("http://127.0.0.1:4711"));
    locked.reset();
    EXPECT_EQ(run({"account", "list", "--data-dir", data_dir.string()}), 1);
    EXPECT_EQ(requests.size(), 1u);
}

TEST_F(command_line_beside_data, its_token_stays_where_its_server_is_dead) {
    locked.reset();
    EXPECT_EQ(run({"account", "list"}), 2);
    EXPECT_EQ(run({"account", "list", "--url", "http://127.0.0.1:4711"}), 2);
    EXPECT_TRUE(requests.empty());
}

TEST_F(command_line, nothing_goes_in_clear_to_another_machine_unless_it_is_said) {
    for (const char* other : {"http://h:1", "http://10.0.0.1:1", "http://[2001:db8::1]:1",
                              "http://localhost.example.org"}) {
        err.str("");
        EXPECT_EQ(run({"account", "list", "--url", other}), 2) << other;
        EXPECT_THAT(err.str(), HasSubstr("--insecure")) << other;
        EXPECT_TRUE(requests.empty()) << other;
        answer("{}");
        EXPECT_EQ(run({"account", "list", "--url", other, "--insecure"}), 0) << other;
        requests.clear();
    }
    for (const char* own : {"https://h:1", "https://tasks.example.org", "http://localhost:1",
                            "http://127.9.9.9:1", "http://[::1]:1"}) {
        answer("{}");
        EXPECT_EQ(run({"account", "list", "--url", own}), 0) << own;
    }
    // What a server on this machine wrote is this machine's.
    put_listen_file("listen.url", "http://192.168.1.2:4711");
    answer("{}");
    EXPECT_EQ(run({"account", "list", "--data-dir", data_dir.string()}), 0);
    EXPECT_THAT(requests.back(), HasSubstr("http://192.168.1.2:4711"));
}

TEST_F(command_line, a_problem_is_a_sentence_and_a_line_for_each_field) {
    answer(R"({"type":"about:blank","title":"Bad Request","status":400,"code":"invalid",)"
           R"("detail":"The account is not valid.","errors":[)"
           R"({"field":"name","code":"malformed","detail":"must begin\u001b[2J well"},)"
           R"({"field":"prefix","code":"required","detail":"is required"}],"requestId":"r-1"})",
           400);
    EXPECT_EQ(run({"account", "create", "-x", "--prefix", ""}), 2);
    EXPECT_EQ(run({"account", "create", "x", "--prefix", "bad"}), 1);
    EXPECT_EQ(out.str(), "");
    EXPECT_THAT(err.str(), HasSubstr("callsign: Bad Request: The account is not valid. (invalid)\n"
                                     "  name: must begin?[2J well\n"
                                     "  prefix: is required\n"));
}

TEST_F(command_line, a_server_error_names_the_request_for_the_logs) {
    answer(R"({"title":"Service Unavailable","status":503,"code":"overloaded","requestId":"r-9"})",
           503);
    EXPECT_EQ(run({"reaper", "sweep"}), 1);
    EXPECT_EQ(err.str(), "callsign: Service Unavailable (overloaded)\n  request r-9\n");
}

TEST_F(command_line, whatever_else_answers_is_not_taken_for_callsign) {
    answers.push_back({502, "text/html", "<html>"});
    EXPECT_EQ(run({"account", "list"}), 1);
    EXPECT_EQ(err.str(), "callsign: the server answered 502 and no reason\n");
    answers.push_back({200, "text/html", "<html>"});
    EXPECT_EQ(run({"account", "list"}), 1);
    EXPECT_THAT(err.str(), HasSubstr("the server's answer is not understood"));
}

TEST_F(command_line, tokens_of_an_account_and_of_the_operator) {
    answer(R"({"tokenId":"3","name":"phone","scope":"read","token":"cs_new"})", 201);
    EXPECT_EQ(run({"token", "create", "a/b", "--name", "phone", "--scope", "read"}), 0);
    EXPECT_THAT(requests.back(), HasSubstr(" /v1/admin/accounts/a%2Fb/tokens "
                                           R"({"name":"phone","scope":"read"})"));
    EXPECT_THAT(out.str(), HasSubstr("cs_new\nKeep the token now"));
    answer(R"({"tokenId":"4","name":"ops","scope":"admin","token":"cs_ops"})", 201);
    EXPECT_EQ(run({"token", "create", "--operator", "--name", "ops"}), 0);
    EXPECT_THAT(requests.back(), HasSubstr(R"( /v1/admin/tokens {"name":"ops","scope":"admin"})"));
    EXPECT_EQ(run({"token", "create", "--name", "n"}), 2);
    EXPECT_EQ(run({"token", "create", "ada", "--operator", "--name", "n"}), 2);
    EXPECT_EQ(run({"token", "create", "--operator", "--name", "n", "--scope", "read"}), 2);
    EXPECT_EQ(run({"token", "create", "ada", "--name", "n", "--scope", "all"}), 2);
    EXPECT_EQ(requests.size(), 2u);
}

TEST_F(command_line, revoking_asks_first) {
    EXPECT_EQ(run({"token", "revoke", "7"}), 2);
    EXPECT_THAT(err.str(), HasSubstr("--yes"));
    terminal = true;
    in.str("n\n");
    EXPECT_EQ(run({"token", "revoke", "7"}), 1);
    in.clear();
    in.str("");
    EXPECT_EQ(run({"token", "revoke", "7"}), 1);
    EXPECT_TRUE(requests.empty());
    in.clear();
    in.str("y\n");
    answer(R"({"tokenId":"7","revokedAt":"2026-11-20T12:48:00.000Z"})");
    EXPECT_EQ(run({"token", "revoke", "7"}), 0) << err.str();
    terminal = false;
    answer(R"({"tokenId":"7","revokedAt":"2026-11-20T12:48:00.000Z"})");
    EXPECT_EQ(run({"token", "revoke", "7", "--yes"}), 0) << err.str();
    EXPECT_EQ(requests.back(), "DELETE " + local + " /v1/admin/tokens/7 ");
    EXPECT_THAT(out.str(), Not(HasSubstr("Keep")));
}

// ---- devices ----

const char* const new_device =
    R"({"deviceId":"3","name":"laptop","clientId":"an-id","encryptionSecret":"a-secret",)"
    R"("taskrc":"sync.server.url=http://h\nsync.encryption_secret=a-\u001bsecret\n",)"
    R"("createdAt":"2026-11-20T12:48:00.123Z"})";

TEST_F(command_line, a_device_is_added_and_its_lines_are_ready_to_paste) {
    answer(new_device, 201);
    EXPECT_EQ(run({"device", "add", "a/b", "--name", "laptop"}), 0) << err.str();
    EXPECT_EQ(requests, std::vector<std::string>{"POST " + local +
                                                 " /v1/admin/accounts/a%2Fb/devices "
                                                 R"({"name":"laptop"})"});
    EXPECT_EQ(out.str(),
              "device id          3\n"
              "name               laptop\n"
              "client id          an-id\n"
              "encryption secret  a-secret\n"
              "created            2026-11-20T12:48:00.123Z\n"
              "\n"
              "The lines for its .taskrc, now: the secret is not shown again.\n"
              "\n"
              "sync.server.url=http://h\n"
              "sync.encryption_secret=a-?secret\n");
    out.str("");
    answer(new_device, 201);
    EXPECT_EQ(run({"device", "add", "ada", "--name", "laptop", "--json"}), 0);
    EXPECT_EQ(out.str(), std::string(new_device) + "\n");
    out.str("");
    answer(new_device, 201);
    EXPECT_EQ(run({"device", "add", "ada", "--name", "laptop", "--taskrc"}), 0);
    EXPECT_EQ(out.str(), "sync.server.url=http://h\nsync.encryption_secret=a-?secret\n");
    EXPECT_EQ(run({"device", "add", "ada", "--name", "laptop", "--taskrc", "--json"}), 2);
    EXPECT_EQ(run({"device", "add", "ada"}), 2);
    EXPECT_EQ(run({"device", "add", "--name", "laptop"}), 2);
}

TEST_F(command_line, devices_line_up) {
    answer(R"({"devices":[{"deviceId":"3","name":"laptop","clientId":"id-3",)"
           R"("revokedAt":"2026-11-20T12:48:00.123Z"}],"nextPageToken":"n"})");
    answer(R"({"devices":[{"deviceId":"4","name":"tv","clientId":"id-4"}]})");
    EXPECT_EQ(run({"device", "list", "ada"}), 0) << err.str();
    EXPECT_EQ(out.str(),
              "NAME    DEVICE ID  CLIENT ID  CREATED  REVOKED\n"
              "laptop  3          id-3       -        2026-11-20T12:48:00.123Z\n"
              "tv      4          id-4       -        -\n");
}

TEST_F(command_line, a_device_is_revoked_by_its_name) {
    const std::string list =
        R"({"devices":[{"deviceId":"3","name":"laptop","revokedAt":"2026-11-20T12:48:00.000Z"},)"
        R"({"deviceId":"5","name":"laptop"},{"deviceId":"6","name":"tv",)"
        R"("revokedAt":"2026-11-20T12:48:00.000Z"},{"deviceId":"7","name":"tv",)"
        R"("revokedAt":"2026-11-20T12:49:00.000Z"}]})";
    EXPECT_EQ(run({"device", "revoke", "ada", "laptop"}), 2);
    EXPECT_THAT(err.str(), HasSubstr("--yes"));
    terminal = true;
    in.str("n\n");
    EXPECT_EQ(run({"device", "revoke", "ada", "laptop"}), 1);
    EXPECT_TRUE(requests.empty());
    in.clear();
    in.str("y\n");
    answer(list);
    answer(R"({"deviceId":"5","name":"laptop"})");
    EXPECT_EQ(run({"device", "revoke", "ada", "laptop"}), 0) << err.str();
    EXPECT_EQ(requests.back(), "DELETE " + local + " /v1/admin/accounts/ada/devices/5 ");
    // Revoked already: the last that had the name.
    answer(list);
    answer(R"({"deviceId":"7","name":"tv"})");
    EXPECT_EQ(run({"device", "revoke", "ada", "tv", "--yes"}), 0) << err.str();
    EXPECT_EQ(requests.back(), "DELETE " + local + " /v1/admin/accounts/ada/devices/7 ");
    answer(list);
    EXPECT_EQ(run({"device", "revoke", "ada", "phone", "--yes"}), 1);
    EXPECT_THAT(err.str(), HasSubstr("the account has no device of this name: phone"));
    EXPECT_EQ(requests.size(), 5u);
}

TEST_F(command_line, the_audit_log_is_shown_a_line_each) {
    answer(R"({"entries":[)"
           R"({"entryId":"9","at":"2026-11-20T10:00:00Z","action":"token-created","by":"anna",)"
           R"("tokenId":"7","byAccount":true,"client":"192.0.2.7","accountId":"2",)"
           R"-("account":"board","subject":"laptop (8, write)"},)-"
           R"({"entryId":"1","at":"2026-11-20T09:00:00Z","action":"account-created",)"
           R"("account":"home","subject":"TASK"}]})");
    EXPECT_EQ(run({"audit", "--account", "board & co", "--limit", "2"}), 0) << err.str();
    EXPECT_THAT(requests.back(), HasSubstr("/v1/admin/audit?account=board%20%26%20co"));
    EXPECT_THAT(out.str(), HasSubstr("2026-11-20T10:00:00.000Z  anna (7) of the account"));
    EXPECT_THAT(out.str(), HasSubstr("192.0.2.7"));
    EXPECT_THAT(out.str(), HasSubstr("token-created"));
    EXPECT_THAT(out.str(), HasSubstr("laptop (8, write)"));
    EXPECT_THAT(out.str(), HasSubstr("the server"));
    EXPECT_EQ(run({"audit", "--limit", "0"}), 2);
}

TEST_F(command_line, former_master_keys_go_when_the_server_has_the_new_one) {
    const std::string file = (data_dir / "master.key").string();
    EXPECT_EQ(run({"master-key", "rotate", file}), 1);
    EXPECT_EQ(run({"master-key", "new", file}), 0) << err.str();
    EXPECT_EQ(run({"master-key", "drop-former", file}), 1);
    EXPECT_THAT(err.str(), HasSubstr("There is no former master key in it."));
    // The tests' random bytes are the same ones each time.
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
    EXPECT_THAT(err.str(), HasSubstr("restart it, and try again. Nothing was changed."));
    EXPECT_EQ(text(), both) << "a server that was not restarted needs it";
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
    EXPECT_THAT(out.str(), HasSubstr("3 secrets kept under the new master key."));
    EXPECT_THAT(err.str(), HasSubstr("1 secret opened with none of the keys"));
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
    EXPECT_THAT(out.str(), HasSubstr("apart from backups"));
    EXPECT_EQ(run({"master-key", "new", file}), 1);
    EXPECT_EQ(err.str(), "callsign: " + file + ": The master key's file exists already.\n");
    EXPECT_THAT(out.str() + err.str(), Not(HasSubstr("5a5a")));
    out.str("");
    EXPECT_EQ(run({"master-key", "new", file + "2", "--json"}), 0);
    EXPECT_EQ(out.str(), R"({"file":")" + file + "2\"}\n");
    EXPECT_EQ(run({"master-key", "new"}), 2);
    EXPECT_TRUE(requests.empty());
}

TEST_F(command_line, series_line_up) {
    answer(R"({"series":[{"prefix":"SYN","reset":"never","timeZone":"UTC","next":43,)"
           R"("isDefault":true},{"prefix":"HOME","reset":"never","timeZone":"UTC",)"
           R"("project":"h\u00e9\u0007","next":1,"isDefault":false}]})");
    EXPECT_EQ(run({"series", "list", "ada"}), 0) << err.str();
    EXPECT_EQ(out.str(),
              "PREFIX  RESET  TIME ZONE  PROJECT  NEXT  DEFAULT  ARCHIVED\n"
              "SYN     never  UTC        -        43    yes      no\n"
              "HOME    never  UTC        h\xC3\xA9?      1     no       no\n");
    answer(R"({"prefix":"OPS","reset":"never","timeZone":"UTC","project":"ops","next":1})", 201);
    EXPECT_EQ(run({"series", "create", "ada", "--prefix", "OPS", "--project", "ops"}), 0);
    EXPECT_THAT(requests.back(), HasSubstr(R"({"prefix":"OPS",)"));
    EXPECT_THAT(requests.back(), HasSubstr(R"("project":"ops")"));
}

TEST_F(command_line, a_series_is_edited) {
    const std::string made =
        R"({"prefix":"INC","reset":"daily","timeZone":"Europe/Berlin","next":1,"isDefault":false})";
    answer(made);
    EXPECT_EQ(
        run({"series", "edit", "ada", "inc", "--rename", "INC", "--no-project", "--reset", "daily",
             "--time-zone", "Europe/Berlin", "--next", "7", "--allow-gaps", "--archive"}),
        0)
        << err.str();
    EXPECT_EQ(requests.back(),
              "PATCH " + local +
                  R"( /v1/admin/accounts/ada/series/inc {"prefix":"INC","project":null,)"
                  R"("reset":"daily","timeZone":"Europe/Berlin","archived":true,)"
                  R"("allowsGaps":true,"next":7})");
    answer(made);
    EXPECT_EQ(run({"series", "edit", "ada", "INC", "--rename", "OPS"}), 0) << err.str();
    EXPECT_THAT(requests.back(), HasSubstr(R"(/INC {"prefix":"OPS"})"));
    EXPECT_EQ(run({"series", "edit", "ada", "INC"}), 2);
    EXPECT_EQ(run({"series", "edit", "ada", "INC", "--archive", "--restore"}), 2);
    EXPECT_EQ(run({"series", "edit", "ada", "INC", "--project", "p", "--no-project"}), 2);
    EXPECT_EQ(run({"series", "create", "ada", "--prefix", "X", "--reset", "weekly"}), 2);
}

// ---- importing numbers ----

const std::string one_series =
    R"({"series":[{"prefix":"SYN","reset":"never","timeZone":"UTC","next":1}]})";
const std::string table_head = "prefix,number,uuid,title,created_at\n";
std::string table_row(int number) {
    return "SYN," + std::to_string(number) + ",11111111-2222-4333-8444-" +
           std::to_string(100'000'000'000 + number) + ",\"Old, one\",2020-01-01T00:00:00Z\n";
}

TEST_F(command_line, imports_numbers_after_all_were_checked) {
    // In no order; they are sent in that of their numbers.
    std::string table = table_head;
    for (int n = 300; n >= 1; --n) table += table_row(n);
    in.str(table);
    answer(one_series);
    for (int i = 0; i < 4; ++i) answer(R"({"imported":150,"thereAlready":0})");
    EXPECT_EQ(run({"import", "numbers", "-", "--account", "ada", "--json"}), 0) << err.str();
    EXPECT_EQ(out.str(), "{\"rows\":300,\"imported\":300,\"thereAlready\":0}\n");
    ASSERT_EQ(requests.size(), 5u);
    for (const int checked : {1, 2})
        EXPECT_THAT(requests[checked], HasSubstr(R"("checkOnly":true)"));
    for (const int taken : {3, 4}) EXPECT_THAT(requests[taken], Not(HasSubstr("checkOnly\":true")));
    EXPECT_THAT(requests[3], HasSubstr(R"({"rows":[{"prefix":"SYN","number":1,)"));
    EXPECT_THAT(requests[3], HasSubstr(R"("title":"Old, one")"));
    EXPECT_THAT(requests[4], HasSubstr(R"({"rows":[{"prefix":"SYN","number":251,)"));
    EXPECT_THAT(requests[4], HasSubstr(R"("after":250)"));
}

TEST_F(command_line, names_the_lines_that_stand_in_the_way_of_numbers) {
    in.str(table_head + table_row(2) + table_row(1) + table_row(4));
    answer(one_series);
    answer(R"({"status":422,"code":"numbers-refused","title":"t","detail":"d","errors":)"
           R"([{"field":"rows[2]","code":"gap","detail":"SYN-3 is missing before it."}]})",
           422);
    EXPECT_EQ(run({"import", "numbers", "-", "--account", "ada"}), 1);
    EXPECT_EQ(err.str(),
              "callsign: the table has faults, and nothing was imported\n"
              "  line 4: SYN-3 is missing before it.\n");
    EXPECT_EQ(requests.size(), 2u) << "nothing but the check";
    in.clear();
    in.str(table_head + table_row(1) +
           "SYN,1,11111111-2222-4333-8444-555555555555,b,"
           "2020-01-01T00:00:00Z\n");
    answer(one_series);
    err.str("");
    EXPECT_EQ(run({"import", "numbers", "-", "--account", "ada"}), 1);
    EXPECT_THAT(err.str(), HasSubstr("line 3: its number is the one of line 2"));
}

TEST_F(command_line, slots_follow_the_pages_up_to_the_limit) {
    const auto page = [](int rows, const char* next) {
        std::string text = R"({"slots":[)";
        for (int i = 0; i < rows; ++i) {
            text += std::string(i ? "," : "") + R"({"state":"failed","account":"ada",)" +
                    R"("idempotencyKey":"k","attempts":1,"reason":"window-passed"})";
        }
        return text + R"(],"nextPageToken":")" + next + "\"}";
    };
    answer(page(2, "p 2"));
    answer(page(1, "p3"));
    EXPECT_EQ(run({"slots", "list", "--state", "failed", "--account", "ada", "--limit", "3"}), 0)
        << err.str();
    EXPECT_EQ(requests,
              (std::vector<std::string>{
                  "GET " + local + " /v1/admin/slots?state=failed&account=ada&pageSize=3 ",
                  "GET " + local +
                      " /v1/admin/slots?state=failed&account=ada&pageSize=1"
                      "&pageToken=p%202 "}));
    const std::string text = out.str();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
    EXPECT_EQ(err.str(), "There are more: raise --limit to see them.\n");
    out.str("");
    answer(page(1, "next"));
    answer(page(1, ""));
    EXPECT_EQ(run({"slots", "list", "--json"}), 0);
    const std::string json = out.str();
    EXPECT_EQ(json.substr(0, 11), R"({"slots":[{)");
    EXPECT_THAT(json, Not(HasSubstr("nextPageToken")));
    EXPECT_EQ(run({"slots", "list", "--state", "lost"}), 2);
    EXPECT_EQ(run({"slots", "list", "--limit", "0"}), 2);
}

TEST_F(command_line, listings_are_whole) {
    answer(R"({"accounts":[{"name":"ada","prefix":"A","accountId":"1","state":"active","seq":5}],)"
           R"("nextPageToken":"n"})");
    answer(
        R"({"accounts":[{"name":"bob","prefix":"B","accountId":"2","state":"disabled","seq":0}]})");
    EXPECT_EQ(run({"account", "list"}), 0) << err.str();
    EXPECT_EQ(out.str(),
              "NAME  PREFIX  ACCOUNT ID  STATE     SEQ  CREATED\n"
              "ada   A       1           active    5    -\n"
              "bob   B       2           disabled  0    -\n");
}

TEST_F(command_line, reaper_status) {
    answer(R"({"interval":"30s","window":"10m","retention":"7d","batch":500,"pending":2,)"
           R"("oldestPending":"2026-11-20T12:48:00.000Z","lateRetries":1,"sweeps":9,)"
           R"("lastResult":{"scanned":4,"committed":1,"failed":2,"forgotten":3,"scrubbed":5},)"
           R"("advice":"Lengthen the window."})");
    EXPECT_EQ(run({"reaper", "status"}), 0) << err.str();
    EXPECT_THAT(out.str(), HasSubstr("window          10m\n"));
    EXPECT_THAT(out.str(), HasSubstr("oldest pending  2026-11-20T12:48:00.000Z\n"));
    EXPECT_THAT(out.str(),
                HasSubstr("last result     4 scanned, 1 committed, 2 failed, 3 forgotten,"
                          " 5 scrubbed\n"));
    EXPECT_THAT(out.str(), Not(HasSubstr("last sweep ")));
}

TEST_F(command_line, reaper_status_shows_what_the_window_is_chosen_of) {
    answer(R"({"interval":"30s","window":"62s","windowSetting":"auto","windows":[)"
           R"({"accounts":"here","window":"62s","reason":"derived","because":"So many.",)"
           R"("p99":"41s","samples":1840,"failed":3,"failedRetried":1,"others":[)"
           R"({"window":"15s","failedRetried":312,"pending":"0.02"},)"
           R"({"window":"62s","failedRetried":0,"pending":"0.10"}]}]})");
    EXPECT_EQ(run({"reaper", "status"}), 0) << err.str();
    EXPECT_THAT(out.str(), HasSubstr("window        62s (auto)\n"));
    EXPECT_THAT(out.str(), HasSubstr("\nAccounts here:\n"));
    EXPECT_THAT(out.str(), HasSubstr("reason            derived\n"));
    EXPECT_THAT(out.str(), HasSubstr("p99               41s\n"));
    EXPECT_THAT(out.str(), Not(HasSubstr("p50")));
    EXPECT_THAT(out.str(), HasSubstr("failed too early  1\n"));
    EXPECT_THAT(out.str(), HasSubstr("15s          312                          0.02\n"));
}

TEST_F(command_line, asks_for_a_backup_on_the_servers_disk) {
    answer(R"({"running":false,"copied":0,"total":0})");
    answer(R"({"directory":"/backups/monday","madeAt":"2026-11-20T12:48:00.123Z","bytes":4096,)"
           R"("sha256":"00","schema":14,"program":"0.1.0"})",
           201);
    EXPECT_EQ(run({"backup", "/backups/x/../monday"}), 0);
    EXPECT_EQ(requests[1],
              "POST " + local + R"( /v1/admin/backups {"directory":"/backups/monday"})");
    EXPECT_NE(out.str().find("/backups/monday"), std::string::npos);
    EXPECT_NE(out.str().find("master key is not in it"), std::string::npos);
}

TEST_F(command_line, restores_where_it_is_told_and_asks_before) {
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

TEST_F(command_line, lets_a_series_go_on) {
    answer(R"({"prefix":"SYN","reset":"never","timeZone":"UTC","next":57,"isDefault":true,)"
           R"("archived":false,"allowsGaps":false,"held":false})");
    EXPECT_EQ(run({"series", "resume", "SYN", "--account", "ada", "--at", "57"}), 0);
    EXPECT_EQ(requests,
              std::vector<std::string>{"POST " + local +
                                       R"( /v1/admin/accounts/ada/series/SYN/resume {"at":57})"});
    EXPECT_EQ(run({"series", "resume", "SYN", "--account", "ada", "--at", "0"}), 2);
}

TEST_F(command_line, check_needs_no_server) {
    report.checked = {{"tasks", 12}, {"slots", 30}};
    environment.clear();
    EXPECT_EQ(run({"check", "--data-dir", data_dir.string()}), 0);
    EXPECT_EQ(out.str(),
              "CHECKED  ROWS\n"
              "tasks    12\n"
              "slots    30\n"
              "I1, I2, I3, I4 and I6 hold.\n");
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
    EXPECT_THAT(out.str(), HasSubstr("I1, I2, I3, I4 and I6 hold."));
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

TEST_F(command_line, check_says_that_the_stores_time_is_ahead) {
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

TEST_F(command_line, repair_clock_asks_and_needs_a_store) {
    EXPECT_EQ(run({"repair-clock", "--data-dir", data_dir.string()}), 2);
    EXPECT_THAT(err.str(), HasSubstr("say --yes"));
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
    EXPECT_THAT(out.str(), HasSubstr("Slots set back: 17"));
}

TEST_F(command_line, check_names_what_is_broken_and_fails) {
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

TEST_F(command_line, a_line_that_is_not_understood_does_nothing) {
    for (const auto& words : {std::vector<std::string>{"account", "create"},
                              {"acount", "list"},
                              {"account", "list", "--colour"},
                              {"account", "list", "extra"},
                              {"account", "list", "--url", "ftp://h"},
                              {"account", "list", "--url", "h:x"},
                              {"account", "list", "--url", "http://u:p@h"},
                              {"account", "list", "--timeout", "soon"}}) {
        err.str("");
        EXPECT_EQ(run(words), 2) << testing::PrintToString(words);
        EXPECT_THAT(err.str(), HasSubstr("callsign: "));
    }
    EXPECT_TRUE(requests.empty());
    EXPECT_EQ(out.str(), "");
}

TEST_F(command_line, nothing_said_is_answered_with_help) {
    EXPECT_EQ(run({}), 0);
    EXPECT_THAT(out.str(), HasSubstr("reaper"));
    out.str("");
    EXPECT_EQ(run({"account"}), 0);
    EXPECT_THAT(out.str(), HasSubstr("rename"));
    EXPECT_THAT(out.str(), Not(HasSubstr("reaper")));
    EXPECT_EQ(err.str(), "");
    EXPECT_TRUE(requests.empty());
}

TEST_F(command_line, what_is_misspelt_is_named_with_the_nearest) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> lines{
        {{"acount", "list"},
         "there is no command 'acount'; did you mean 'account'? (callsign --help)"},
        {{"account", "crate", "x"},
         "there is no command 'crate'; did you mean 'create'? (callsign account --help)"},
        {{"account", "list", "--jsn"},
         "there is no option '--jsn'; did you mean '--json'? (callsign account list --help)"},
        {{"--urll=x", "account"},
         "there is no option '--urll'; did you mean '--url'? (callsign --help)"},
        {{"account", "create", "x", "--prefx", "SYN"},
         "there is no option '--prefx'; did you mean '--prefix'? (callsign account create --help)"},
        {{"account", "move", "x", "--her"},
         "there is no option '--her'; did you mean '--here'? (callsign account move --help)"},
        {{"restaurant"}, "there is no command 'restaurant' (callsign --help)"},
        {{"--url", "acount", "tokn"},
         "there is no command 'tokn'; did you mean 'token'? (callsign --help)"}};
    for (const auto& [words, sentence] : lines) {
        err.str("");
        EXPECT_EQ(run(words), 2) << testing::PrintToString(words);
        EXPECT_EQ(err.str(), "callsign: " + sentence + "\n");
    }
    err.str("");
    EXPECT_EQ(run({"acc\x1b[2Junt"}), 2);
    EXPECT_THAT(err.str(), Not(HasSubstr("\x1b"))) << "it is shown as it is";
    EXPECT_EQ(out.str(), "");
}

TEST_F(command_line, empty_lists_say_how_the_first_is_made) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> lists{
        {{"account", "list"}, "callsign account create NAME --prefix SYN"},
        {{"token", "list", "ada"}, "callsign token create ada --name NAME"},
        {{"device", "list", "ada"}, "callsign device add ada --name NAME"},
        {{"series", "list", "ada"}, "callsign series create ada --prefix SYN"},
        {{"slots", "list"}, "POST /v1/tasks"},
        {{"slots", "list", "--state", "pending"}, "callsign slots list"}};
    for (auto [words, sentence] : lists) {
        err.str("");
        answer("{}");
        EXPECT_EQ(run(words), 0) << err.str();
        EXPECT_THAT(err.str(), HasSubstr(sentence));
        EXPECT_EQ(out.str(), "") << "standard output is for rows";
        words.emplace_back("--json");
        err.str("");
        answer("{}");
        EXPECT_EQ(run(words), 0) << err.str();
        EXPECT_THAT(out.str(), HasSubstr("[]"));
        EXPECT_EQ(err.str(), "") << "a program is told nothing else";
        out.str("");
    }
}

TEST_F(command_line, asks_only_where_the_question_is_seen) {
    terminal = true;
    answer(R"({"accountId":"7","name":"desk","prefix":"DESK","seq":312,"state":"active"})");
    in.str("");
    EXPECT_EQ(run({"account", "delete", "desk"}), 1) << "the end of the input is no yes";
    EXPECT_THAT(err.str(),
                HasSubstr("Delete account 'desk' and all its tasks (312 changes so far)?"));
    EXPECT_THAT(err.str(), HasSubstr("[y/N]"));
    EXPECT_THAT(err.str(), HasSubstr("nothing was done"));
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_THAT(requests[0], HasSubstr("GET"));
    for (const char* no : {"", "n\n", "no\n", "yess\n", " \n", "Y N\n"}) {
        in.clear();
        in.str(no);
        EXPECT_EQ(run({"repair-clock", "--data-dir", data_dir.string()}), 1) << no;
    }
    err_is_piped = true;
    err.str("");
    in.clear();
    in.str("y\n");
    EXPECT_EQ(run({"repair-clock", "--data-dir", data_dir.string()}), 2) << "nobody sees it";
    EXPECT_THAT(err.str(), Not(HasSubstr("[y/N]")));
    EXPECT_THAT(err.str(), HasSubstr("say --yes"));
}

TEST_F(command_line, has_colours_on_a_terminal_alone) {
    const std::string red = "\x1b[31m";
    run({"acount"});
    EXPECT_THAT(err.str(), Not(HasSubstr("\x1b")));
    run({"acount", "--color", "always"});
    terminal = true;
    err.str("");
    run({"acount"});
    EXPECT_THAT(err.str(), HasSubstr(red));
    for (const auto& [name, value] : {std::pair{"NO_COLOR", "1"}, std::pair{"TERM", "dumb"}}) {
        environment[name] = value;
        err.str("");
        run({"acount"});
        EXPECT_THAT(err.str(), Not(HasSubstr("\x1b"))) << name;
        environment.erase(name);
    }
    environment["NO_COLOR"] = "";
    err.str("");
    run({"acount"});
    EXPECT_THAT(err.str(), HasSubstr(red)) << "an empty one counts as none";
}

TEST_F(command_line, keys_are_bold_on_a_terminal) {
    const std::string slots =
        R"({"slots":[{"account":"ada","idempotencyKey":"k","state":"committed","uuid":"u",)"
        R"("receipt":{"key":"SYN-42"},"attempts":1}]})";
    answer(slots);
    EXPECT_EQ(run({"slots", "list"}), 0) << err.str();
    EXPECT_THAT(out.str(), Not(HasSubstr("\x1b")));
    const std::string plain = out.str();
    out.str("");
    out_terminal = true;
    answer(slots);
    EXPECT_EQ(run({"slots", "list"}), 0);
    EXPECT_THAT(out.str(), HasSubstr("\x1b[1mSYN-42\x1b[0m"));
    std::string without = out.str();
    for (const char* escape : {"\x1b[1m", "\x1b[0m"}) {
        without.erase(without.find(escape), std::string(escape).size());
    }
    EXPECT_EQ(without, plain) << "columns line up";
    out.str("");
    answer(slots);
    EXPECT_EQ(run({"slots", "list", "--color", "never"}), 0);
    EXPECT_EQ(out.str(), plain);
}

// ---- doctor ----

TEST_F(command_line, doctor_shows_a_line_each_and_fails_for_faults_alone) {
    findings = {{"config", verdict::ok, "callsign.toml", ""},
                {"clock", verdict::warning, "nothing keeps it right", "set it"},
                {"schema", verdict::skipped, "there is none", "start callsignd"}};
    answer(R"({"window":"10m","interval":"30s","oldestPending":"2026-11-20T12:48:00.000Z"})");
    answer(R"({"title":"The server cannot write","code":"not-ready","requestId":"r"})", 503);
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
    EXPECT_EQ(word.why_not, "");
    EXPECT_EQ(word.window, std::chrono::minutes{10});
    EXPECT_EQ(word.interval, std::chrono::seconds{30});
    EXPECT_TRUE(word.oldest_pending);
    ASSERT_EQ(word.held.size(), 1u);
    EXPECT_EQ(word.held[0].account + word.held[0].prefix, "adaSYN");
    EXPECT_EQ(word.not_ready, "The server cannot write (not-ready)");
    out.str("");
    findings.push_back({"disk", verdict::fault, "it is full", "make room"});
    EXPECT_EQ(run({"doctor", "--data-dir", data_dir.string(), "--json"}), 1);
    EXPECT_EQ(out.str(),
              R"({"ok":false,"checks":[)"
              R"({"check":"config","verdict":"ok","found":"callsign.toml","advice":""},)"
              R"({"check":"clock","verdict":"warning","found":"nothing keeps it right",)"
              R"("advice":"set it"},)"
              R"({"check":"schema","verdict":"skipped","found":"there is none",)"
              R"("advice":"start callsignd"},)"
              R"({"check":"disk","verdict":"fault","found":"it is full","advice":"make room"}]})"
              "\n");
    EXPECT_THAT(word.why_not, HasSubstr("no server runs on"));
}

// A token of this directory goes to the server of this directory.
TEST_F(command_line, doctor_asks_nobody_else) {
    environment = {{"CALLSIGN_URL", "http://127.0.0.1:1"}};
    put_file("admin.token", "cs_operators_own\n");
    EXPECT_EQ(run({"doctor"}), 0);
    EXPECT_THAT(word.why_not, HasSubstr("no server runs on"));
    EXPECT_TRUE(requests.empty());
    put_listen_file("listen.url", local);
    answer(R"({"window":"10m","interval":"30s"})");
    answer("ready");
    answer("{}");
    EXPECT_EQ(run({"doctor"}), 0);
    EXPECT_EQ(word.why_not + word.not_ready, "");
    ASSERT_FALSE(requests.empty());
    EXPECT_THAT(requests[0], HasSubstr("GET " + local));
    EXPECT_THAT(out.str() + err.str(), Not(HasSubstr("cs_operators_own")));
}

TEST_F(command_line, a_master_key_that_cannot_be_written_says_why) {
    EXPECT_EQ(run({"master-key", "new", (data_dir / "none" / "key").string()}), 1);
    EXPECT_THAT(err.str(),
                HasSubstr("No such directory: mkdir -p " + (data_dir / "none").string()));
}

TEST_F(command_line, doctor_shows_faults_in_red) {
    findings = {{"disk", verdict::fault, "full\x1b[2J", ""}, {"clock", verdict::warning, "w", ""}};
    EXPECT_EQ(run({"doctor", "--color", "always"}), 1);
    EXPECT_EQ(out.str(),
              "\x1b[31mfault\x1b[0m    disk   full?[2J\n"
              "\x1b[33mwarning\x1b[0m  clock  w\n");
}

TEST_F(command_line, help_and_version) {
    EXPECT_EQ(run({"--version"}), 0);
    EXPECT_EQ(out.str(), "callsign " CALLSIGN_VERSION "\n");
    EXPECT_EQ(run({"--help"}), 0);
    EXPECT_THAT(out.str(), HasSubstr("reaper"));
    EXPECT_THAT(out.str(), Not(HasSubstr("cs_operator")));
    out.str("");
    EXPECT_EQ(run({"token", "create", "--help"}), 0);
    EXPECT_THAT(out.str(), HasSubstr("--operator"));
    EXPECT_EQ(err.str(), "");
}

// Commands whose effect nobody can take back. Without a terminal they need --yes.
TEST_F(command_line, what_cannot_be_undone_asks_first) {
    const std::string secret = (data_dir / "secret").string();
    std::ofstream(secret) << "hush\n";
    const std::vector<std::vector<std::string>> commands{
        {"account", "delete", "x"},
        {"account", "manage", "x", "--secret-file", secret},
        {"account", "move", "x", "--here"},
        {"account", "move", "x", "--to", "https://there.example", "--client-id", "y",
         "--secret-file", secret},
        {"account", "remote", "x", "--accept-loss"},
        {"device", "revoke", "x", "y"},
        {"repair-clock", "--data-dir", data_dir.string()},
        {"restore", data_dir.string(), "--data-dir", data_dir.string()},
        {"token", "revoke", "7"}};
    for (const auto& command : commands) {
        const std::string shown = command[0] + " " + command[1];
        answer(R"({"name":"x","state":"open","seq":1})");
        err.str("");
        requests.clear();
        EXPECT_EQ(run(command), 2) << shown;
        EXPECT_THAT(err.str(), HasSubstr(": say --yes")) << shown;
        for (const std::string& sent : requests) EXPECT_THAT(sent, StartsWith("GET ")) << shown;
    }
}

TEST_F(command_line, a_conversion_is_cancelled) {
    answer("", 204);
    EXPECT_EQ(run({"account", "manage", "vault", "--cancel"}), 0) << err.str();
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_THAT(requests[0], HasSubstr("DELETE"));
    EXPECT_THAT(requests[0], HasSubstr("/v1/admin/accounts/vault/manage"));
    EXPECT_THAT(out.str(), HasSubstr("nothing was changed"));
    EXPECT_EQ(run({"account", "manage", "vault"}), 2) << "neither a secret nor that";
    EXPECT_EQ(run({"account", "manage", "vault", "--cancel", "--secret-file", "f"}), 2);
    EXPECT_EQ(requests.size(), 1u);
}

}  // namespace
}  // namespace callsign::cli
