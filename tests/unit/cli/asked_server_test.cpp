// The choice of server and token for a request, and the handling of the response.

#include "command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign::cli {
namespace {

using testing::HasSubstr;

TEST_F(command_line, the_server_is_the_given_one_or_that_of_the_directory) {
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
    EXPECT_THAT(err.str(), HasSubstr("an operator token is required"));
    put_listen_file("listen.url", "http://127.0.0.1:4711");
    EXPECT_EQ(run({"account", "list", "--data-dir", data_dir.string()}), 1);
    EXPECT_THAT(err.str(), HasSubstr("no operator token in " + data_dir.string()));
    EXPECT_TRUE(requests.empty());
}

// A shell whose working directory contains the data directory of a server.
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

TEST_F(command_line_beside_data, its_token_is_sent_to_its_server_only) {
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

TEST_F(command_line, the_directory_of_a_server_that_does_not_run_selects_none) {
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
    expect_nobody();  // its server was killed, and its port may belong to another program
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

TEST_F(command_line, no_unencrypted_request_to_another_host_without_insecure) {
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
    // An address from a listen file of this host is an address of this host.
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

TEST_F(command_line, a_server_error_shows_the_request_id_for_the_logs) {
    answer(R"({"title":"Service Unavailable","status":503,"code":"overloaded","requestId":"r-9"})",
           503);
    EXPECT_EQ(run({"reaper", "sweep"}), 1);
    EXPECT_EQ(err.str(), "callsign: Service Unavailable (overloaded)\n  request r-9\n");
}

TEST_F(command_line, a_response_of_another_server_is_not_accepted) {
    answers.push_back({502, "text/html", "<html>"});
    EXPECT_EQ(run({"account", "list"}), 1);
    EXPECT_EQ(err.str(), "callsign: the server returned 502 without a reason\n");
    answers.push_back({200, "text/html", "<html>"});
    EXPECT_EQ(run({"account", "list"}), 1);
    EXPECT_THAT(err.str(), HasSubstr("cannot parse the server's response"));
}

TEST_F(command_line, json_prints_the_response_unchanged) {
    const std::string body = R"({"scanned":3,"committed":1,"failed":1,"forgotten":0,"later":true})";
    for (const auto& words : {std::vector<std::string>{"reaper", "sweep", "--json"},
                              std::vector<std::string>{"--json", "reaper", "sweep"}}) {
        out.str("");
        answer(body + "\n");
        EXPECT_EQ(run(words), 0);
        EXPECT_EQ(out.str(), body + "\n");
    }
}

}  // namespace
}  // namespace callsign::cli
