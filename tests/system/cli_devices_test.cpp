// Goal: operators can add and revoke devices on the command line once there is a master key, and
// without one get instructions. Method: the real programs.

#include "fixture.hpp"

#include <fstream>
#include <sys/stat.h>

namespace callsign::testing {
namespace {

class device_cli_test : public system_test {
  protected:
    static std::string text(const json::object& from, std::string_view name) {
        const json::value* found = from.if_contains(name);
        return found != nullptr && found->is_string() ? std::string(found->as_string()) : "";
    }
    std::string key_file() const { return temp_path("master.key").string(); }
    environment with_key() const { return {{"CALLSIGN_SECRETS_MASTER_KEY_FILE", key_file()}}; }
    json::array devices_of(const std::string& account) const {
        const json::object listed = ask_callsign({"device", "list", account});
        return listed.contains("devices") ? listed.at("devices").as_array() : json::array{};
    }
    static std::string bytes_of(const std::filesystem::path& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    // Searches all files below the data directory.
    bool data_has(const std::string& bytes) const {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(data_dir())) {
            if (entry.is_regular_file() && bytes_of(entry).find(bytes) != std::string::npos)
                return true;
        }
        return false;
    }
};

TEST_F(device_cli_test, a_master_key_is_made_once_and_kept_from_others) {
    const json::object made = ask_callsign({"master-key", "new", key_file()});
    EXPECT_EQ(text(made, "file"), key_file());
    struct stat found {};
    ASSERT_EQ(::stat(key_file().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777u, 0600u);
    const std::string key = bytes_of(key_file());
    EXPECT_EQ(key.size(), 65u);

    const finished again = callsign({"master-key", "new", key_file()});
    EXPECT_EQ(again.status, (exit_status{1, 0}));
    EXPECT_EQ(bytes_of(key_file()), key);
    ask_callsign({"master-key", "new", key_file() + ".2"});
    EXPECT_NE(bytes_of(key_file() + ".2"), key);
}

TEST_F(device_cli_test, a_device_is_added_listed_and_revoked) {
    ask_callsign({"master-key", "new", key_file()});
    auto s = start({}, with_key());
    ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    const json::object made = ask_callsign({"device", "add", "ops", "--name", "laptop"});
    const std::string id = text(made, "clientId");
    const std::string secret = text(made, "encryptionSecret");
    EXPECT_EQ(id.size(), 36u);
    EXPECT_EQ(secret.size(), 64u);
    EXPECT_EQ(text(made, "taskrc"),
              "sync.server.url=http://127.0.0.1:" + std::to_string(s->port()) +
                  "\nsync.server.client_id=" + id + "\nsync.encryption_secret=" + secret +
                  "\nuda.key.type=string\nuda.key.label=Key\n");
    EXPECT_EQ(callsign({"device", "add", "ops", "--name", "laptop"}).status, (exit_status{1, 0}));

    const finished listed = callsign({"device", "list", "ops"});
    EXPECT_NE(listed.out.find(id), std::string::npos);
    EXPECT_EQ(listed.out.find(secret), std::string::npos) << "a secret is shown once";

    ask_callsign({"device", "revoke", "ops", "laptop", "--yes"});
    const json::array gone = devices_of("ops");
    ASSERT_EQ(gone.size(), 1u);
    const std::string revoked_at = text(gone[0].as_object(), "revokedAt");
    EXPECT_NE(revoked_at, "");
    ask_callsign({"device", "revoke", "ops", "laptop", "--yes"});
    EXPECT_EQ(callsign({"device", "revoke", "ops", "phone", "--yes"}).status, (exit_status{1, 0}));

    // Also after a crash; the name is available for another device.
    s->child().kill();
    s->start();
    const json::object second = ask_callsign({"device", "add", "ops", "--name", "laptop"});
    EXPECT_NE(text(second, "clientId"), id);
    const json::array both = devices_of("ops");
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(text(both[0].as_object(), "revokedAt"), revoked_at);

    // No secret is stored, and no anonymous client gets one.
    EXPECT_FALSE(data_has(secret));
    EXPECT_FALSE(data_has(text(second, "encryptionSecret")));
    EXPECT_EQ(s->child().errors().find(id), std::string::npos);
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

TEST_F(device_cli_test, the_master_key_is_rotated_and_devices_notice_nothing) {
    const char* const locked_out = "devices cannot sync";
    ask_callsign({"master-key", "new", key_file()});
    const std::string first = bytes_of(key_file());
    auto s = start({}, with_key());
    ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    ask_callsign({"device", "add", "ops", "--name", "laptop"});
    ask_callsign({"master-key", "rotate", key_file()});
    const std::string both = bytes_of(key_file());
    // The server has not read the new key yet.
    EXPECT_EQ(callsign({"master-key", "drop-former", key_file()}).status, (exit_status{1, 0}));
    EXPECT_EQ(bytes_of(key_file()), both);

    s->child().kill();
    s->start();
    const json::object done = ask_callsign({"master-key", "drop-former", key_file()});
    EXPECT_EQ(done.at("current").to_number<int>(), 1) << "re-encrypted at the start";
    EXPECT_EQ(bytes_of(key_file()) + first, both);
    s->child().kill();
    s->start();
    EXPECT_EQ(await_line(s->child(), "info started").find(locked_out), std::string::npos);
    // Only that key decrypts the devices' keys.
    std::ofstream(key_file()) << first;
    s->child().kill();
    s->start();
    await_line(s->child(), locked_out);
}

TEST_F(device_cli_test, the_audit_log_records_who_gave_access) {
    ask_callsign({"master-key", "new", key_file()});
    auto s = start({}, with_key());
    ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    const json::object made = ask_callsign({"device", "add", "ops", "--name", "laptop"});
    s->child().kill();
    s->start();
    ask_callsign({"device", "revoke", "ops", "laptop", "--yes"});
    const json::object log = ask_callsign({"audit", "--account", "ops"});
    std::vector<std::string> actions;
    for (const json::value& each : log.at("entries").as_array()) {
        const json::object& entry = each.as_object();
        actions.push_back(text(entry, "action"));
        EXPECT_EQ(text(entry, "by"), "admin.token");
        EXPECT_EQ(text(entry, "client"), "127.0.0.1");
        EXPECT_EQ(text(entry, "account"), "ops");
    }
    EXPECT_EQ(actions,
              (std::vector<std::string>{"device-revoked", "device-created", "account-created"}));
    EXPECT_EQ(json::serialize(log).find(text(made, "encryptionSecret")), std::string::npos);
    const json::object all = ask_callsign({"audit"});
    ASSERT_FALSE(all.at("entries").as_array().empty());
    const json::object& first = all.at("entries").as_array().back().as_object();
    EXPECT_EQ(text(first, "action"), "token-created") << "at the first start";
    EXPECT_FALSE(first.contains("tokenId")) << "without a token";
}

TEST_F(device_cli_test, without_a_master_key_the_error_explains_how_to_create_one) {
    auto s = start({}, {{"CALLSIGN_MASTER_KEY", ""}, {"CALLSIGN_SECRETS_MASTER_KEY_FILE", ""}});
    ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    const finished rejected = callsign({"device", "add", "ops", "--name", "laptop"});
    EXPECT_EQ(rejected.status, (exit_status{1, 0}));
    EXPECT_NE(rejected.err.find("no-master-key"), std::string::npos) << rejected.err;
    EXPECT_NE(rejected.err.find("callsign master-key new FILE"), std::string::npos) << rejected.err;
}

TEST_F(device_cli_test, an_invalid_master_key_is_a_configuration_error) {
    const std::string digits(63, '7');
    std::ofstream(key_file()) << digits;
    ASSERT_EQ(::chmod(key_file().c_str(), 0600), 0);
    for (const environment& env :
         {with_key(), environment{{"CALLSIGN_MASTER_KEY", digits}},
          environment{{"CALLSIGN_SECRETS_MASTER_KEY_FILE", key_file() + ".none"}}}) {
        const finished checked = run({callsignd(), "--check-config"}, timeout, env);
        EXPECT_EQ(checked.status, (exit_status{2, 0})) << checked.err;
        EXPECT_NE(checked.err.find(env[0].first + ": "), std::string::npos) << checked.err;
        EXPECT_EQ(checked.err.find("777"), std::string::npos) << checked.err;
    }
    const environment good{{"CALLSIGN_MASTER_KEY", digits + "7"}};
    EXPECT_EQ(run({callsignd(), "--check-config"}, timeout, good).status, (exit_status{0, 0}));
}

}  // namespace
}  // namespace callsign::testing
