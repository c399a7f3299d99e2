// Accounts, their tokens and devices, and their entries in the audit log.

#include "command_line.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

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
    EXPECT_NE(out.str().find("the client ID now"), std::string::npos);
}

// Waits until the move has completed, then reports it.
TEST_F(command_line, moves_an_account_to_a_remote_server_and_waits) {
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
    EXPECT_THAT(err.str(), HasSubstr("2. Sync each replica twice"));
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
    EXPECT_NE(err.str().find("5 tasks moved"), std::string::npos) << err.str();
    EXPECT_NE(out.str().find("desk is now on https://there.example"), std::string::npos);
}

TEST_F(command_line, accounts_are_renamed_disabled_and_deleted) {
    const std::string path = " /v1/admin/accounts/desk";
    const auto shown =
        R"({"accountId":"7","name":"desk","prefix":"DESK","seq":9,"state":"disabled"})";
    for (int n = 0; n < 4; ++n) answer(shown);
    EXPECT_EQ(run({"account", "rename", "desk", "table"}), 0);
    EXPECT_EQ(run({"account", "disable", "desk"}), 0);
    EXPECT_EQ(run({"account", "enable", "desk"}), 0);
    EXPECT_NE(run({"account", "delete", "desk"}), 0)
        << "it asks for confirmation and gets no answer";
    EXPECT_EQ(run({"account", "delete", "desk", "--yes"}), 0);
    EXPECT_EQ(requests,
              (std::vector<std::string>{"PATCH " + local + path + R"( {"name":"table"})",
                                        "PATCH " + local + path + R"( {"disabled":true})",
                                        "PATCH " + local + path + R"( {"disabled":false})",
                                        "DELETE " + local + path + " "}));
    EXPECT_THAT(out.str(), HasSubstr("state    disabled"));
}

TEST_F(command_line, a_move_needs_one_destination_and_its_credentials) {
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
              "Save the token now: it is not shown again.\n");
    EXPECT_EQ(err.str(), "");
}

TEST_F(command_line, a_conversion_is_cancelled) {
    answer("", 204);
    EXPECT_EQ(run({"account", "manage", "vault", "--cancel"}), 0) << err.str();
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_THAT(requests[0], HasSubstr("DELETE"));
    EXPECT_THAT(requests[0], HasSubstr("/v1/admin/accounts/vault/manage"));
    EXPECT_THAT(out.str(), HasSubstr("the account is unchanged"));
    EXPECT_EQ(run({"account", "manage", "vault"}), 2) << "neither a secret nor --cancel was given";
    EXPECT_EQ(run({"account", "manage", "vault", "--cancel", "--secret-file", "f"}), 2);
    EXPECT_EQ(requests.size(), 1u);
}

TEST_F(command_line, tokens_of_an_account_and_of_the_operator) {
    answer(R"({"tokenId":"3","name":"phone","scope":"read","token":"cs_new"})", 201);
    EXPECT_EQ(run({"token", "create", "a/b", "--name", "phone", "--scope", "read"}), 0);
    EXPECT_THAT(requests.back(), HasSubstr(" /v1/admin/accounts/a%2Fb/tokens "
                                           R"({"name":"phone","scope":"read"})"));
    EXPECT_THAT(out.str(), HasSubstr("cs_new\nSave the token now"));
    answer(R"({"tokenId":"4","name":"ops","scope":"admin","token":"cs_ops"})", 201);
    EXPECT_EQ(run({"token", "create", "--operator", "--name", "ops"}), 0);
    EXPECT_THAT(requests.back(), HasSubstr(R"( /v1/admin/tokens {"name":"ops","scope":"admin"})"));
    EXPECT_EQ(run({"token", "create", "--name", "n"}), 2);
    EXPECT_EQ(run({"token", "create", "ada", "--operator", "--name", "n"}), 2);
    EXPECT_EQ(run({"token", "create", "--operator", "--name", "n", "--scope", "read"}), 2);
    EXPECT_EQ(run({"token", "create", "ada", "--name", "n", "--scope", "all"}), 2);
    EXPECT_EQ(requests.size(), 2u);
}

TEST_F(command_line, revoking_asks_for_confirmation) {
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
              "Lines for the device's .taskrc. Save them now: the secret is not shown again.\n"
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
    // All of that name are revoked: the last one is chosen.
    answer(list);
    answer(R"({"deviceId":"7","name":"tv"})");
    EXPECT_EQ(run({"device", "revoke", "ada", "tv", "--yes"}), 0) << err.str();
    EXPECT_EQ(requests.back(), "DELETE " + local + " /v1/admin/accounts/ada/devices/7 ");
    answer(list);
    EXPECT_EQ(run({"device", "revoke", "ada", "phone", "--yes"}), 1);
    EXPECT_THAT(err.str(), HasSubstr("the account has no device phone"));
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

}  // namespace
}  // namespace callsign::cli
