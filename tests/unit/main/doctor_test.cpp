// Goal: the doctor reports the host and the data directory as they are, and does not change them.
// Method: real directories, each with one fault planted.

#include "main/setup/doctor/doctor.hpp"

#include "support/certificates.hpp"
#include "support/incomplete.hpp"
#include "support/temp_dir.hpp"

#include <callsign/domain/backup.hpp>
#include <callsign/seal/at_rest.hpp>
#include <callsign/seal/master_key.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <arpa/inet.h>
#include <array>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace callsign::setup {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

struct doctor_test : ::testing::Test {
    testing::temp_dir temp;
    fs::path dir = temp.path() / "data";
    std::map<std::string, std::string> environment;
    doctor_question question;

    doctor_test() {
        question.data_dir = dir.string();
        question.now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
        question.environment = [this](const char* name) -> const char* {
            const auto found = environment.find(name);
            return found == environment.end() ? nullptr : found->second.c_str();
        };
        environment["CALLSIGN_SERVER_LISTEN"] = "127.0.0.1:0";
    }

    void make_store() { open_sqlite({.data_dir = dir}); }
    fs::path put(const std::string& name, const std::string& text, unsigned mode) {
        const fs::path file = temp.path() / name;
        std::ofstream(file) << text;
        ::chmod(file.c_str(), mode);
        return file;
    }

    // The name, bytes, owner, mode and times of every file.
    std::map<std::string, std::string> traces() const {
        std::map<std::string, std::string> all;
        for (const auto& entry : fs::recursive_directory_iterator(temp.path())) {
            struct stat s {};
            ::lstat(entry.path().c_str(), &s);
            std::string& its = all[entry.path()];
            its = std::to_string(s.st_mode) + "|" + std::to_string(s.st_uid) + "|" +
                  std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec) + "|" +
                  std::to_string(s.st_ctim.tv_nsec);
            if (!entry.is_regular_file()) continue;
            std::ifstream in(entry.path(), std::ios::binary);
            const std::string bytes(std::istreambuf_iterator<char>(in), {});
            its += "|" + std::to_string(std::hash<std::string>{}(bytes));
        }
        return all;
    }

    // "error permissions: found: advice" of every finding; fails if a file was changed.
    std::string examined() {
        const auto before = traces();
        std::string text;
        for (const diagnosis& d : examine(question)) {
            const char* const words[] = {"ok", "warning", "error", "skipped"};
            text += std::string(words[static_cast<int>(d.verdict)]) + " " + d.check + ": " +
                    d.found + ": " + d.advice + "\n";
        }
        EXPECT_EQ(traces(), before) << "the doctor changed a file";
        return text;
    }
};

TEST_F(doctor_test, finds_no_error_in_a_healthy_store) {
    make_store();
    const std::string text = examined();
    EXPECT_THAT(text, Not(HasSubstr("error "))) << text;
    EXPECT_THAT(text, HasSubstr("ok schema: schema "));
    EXPECT_THAT(text, HasSubstr("ok oldest slot: no slot is pending"));
    EXPECT_THAT(text, HasSubstr("ok held series"));
    EXPECT_THAT(text, HasSubstr("ok permissions"));
    EXPECT_THAT(text, HasSubstr("ok port: 127.0.0.1:0, free"));
}

TEST_F(doctor_test, lists_tasks_that_are_incomplete_for_an_hour) {
    testing::make_incomplete(*open_sqlite({.data_dir = dir}), 1, question.now);
    question.now += std::chrono::hours{1};
    EXPECT_THAT(examined(), HasSubstr("ok incomplete tasks"));
    question.now += milliseconds{1};
    EXPECT_THAT(examined(), HasSubstr("warning incomplete tasks: SYN-2 of ada ("));
}

TEST_F(doctor_test, creates_no_directory) {
    const std::string text = examined();
    EXPECT_FALSE(fs::exists(dir));
    EXPECT_THAT(text, HasSubstr("error permissions: " + dir.string() + " does not exist"));
    EXPECT_THAT(text, HasSubstr("skipped schema"));
    EXPECT_THAT(text, HasSubstr("ok disk")) << "the disk of its parent directory";
}

TEST_F(doctor_test, finds_the_errors_of_a_configuration_and_continues) {
    make_store();
    question.config_file = put("c.toml", "[reaper]\nwindwo = \"1m\"\n[store]\nreaders = 0\n", 0644);
    question.variables = {"CALLSIGN_REAPER_WINDWO", "HOME"};
    const std::string text = examined();
    EXPECT_THAT(text, HasSubstr("c.toml:2: unknown key: reaper.windwo; did you mean "
                                "'reaper.window'?"));
    EXPECT_THAT(text, HasSubstr("c.toml:4: store.readers: must be"));
    EXPECT_THAT(text, HasSubstr("warning environment: CALLSIGN_REAPER_WINDWO"));
    EXPECT_THAT(text, HasSubstr("ok schema"));
}

TEST_F(doctor_test, finds_readable_secrets_and_prints_none) {
    make_store();
    const std::string digits(64, 'a');
    std::ofstream(dir / "admin.token") << "cs_operators_own\n";
    ::chmod((dir / "admin.token").c_str(), 0644);
    environment["CALLSIGN_SECRETS_MASTER_KEY_FILE"] = put("key", digits + "\n", 0644).string();
    const std::string text = examined();
    EXPECT_THAT(text, HasSubstr("error permissions: " + (dir / "admin.token").string()));
    EXPECT_THAT(text, HasSubstr("error master key: CALLSIGN_SECRETS_MASTER_KEY_FILE"));
    EXPECT_THAT(text, Not(HasSubstr("cs_operators_own")));
    EXPECT_THAT(text, Not(HasSubstr(digits)));
}

TEST_F(doctor_test, finds_a_directory_that_others_write) {
    make_store();
    ::chmod(dir.c_str(), 0777);
    EXPECT_THAT(examined(), HasSubstr("is writable by others (mode 777)"));
}

TEST_F(doctor_test, finds_a_file_of_another_user) {
    if (::geteuid() != 0) GTEST_SKIP() << "chown needs root";
    make_store();
    ASSERT_EQ(::chown(dir.c_str(), 1, 1), 0);
    for (const auto& entry : fs::directory_iterator(dir)) {
        ASSERT_EQ(::chown(entry.path().c_str(), 1, 1), 0);
    }
    ASSERT_EQ(::chown((dir / "callsign.sqlite3").c_str(), 0, 0), 0);
    EXPECT_THAT(examined(), HasSubstr("callsign.sqlite3 belongs to root, the directory to"));
}

TEST_F(doctor_test, finds_another_programs_file) {
    fs::create_directory(dir);
    std::ofstream(dir / "callsign.sqlite3") << "no database";
    EXPECT_THAT(examined(), HasSubstr("error schema"));
}

TEST_F(doctor_test, finds_a_port_that_is_taken) {
    make_store();
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&at), size), 0);
    ASSERT_EQ(::listen(fd, 1), 0);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
    const std::string listen = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    environment["CALLSIGN_SERVER_LISTEN"] = listen;
    EXPECT_THAT(examined(), HasSubstr("error port: another program listens on " + listen));
    ::close(fd);
    EXPECT_THAT(examined(), HasSubstr("ok port: " + listen + ", free"));
}

TEST_F(doctor_test, finds_missing_backups) {
    make_store();
    const fs::path backups = temp.path() / "backups";
    environment["CALLSIGN_BACKUP_DIRECTORY"] = backups.string();
    EXPECT_THAT(examined(),
                HasSubstr("error backups: " + backups.string() +
                          " cannot be read: No such directory: mkdir -p " + backups.string()));
    fs::create_directory(backups);
    EXPECT_THAT(examined(), HasSubstr("warning backups: no backup in " + backups.string()));
    // An unfinished backup does not count.
    const fs::path old = backups / backup_name(question.now - std::chrono::days{9});
    fs::create_directory(old);
    EXPECT_THAT(examined(), HasSubstr("warning backups: no backup in"));
}

TEST_F(doctor_test, distinguishes_the_master_key_of_the_store_from_another) {
    make_store();
    const std::string digits(64, 'a');
    const fs::path key_file = put("key", digits + "\n", 0600);
    environment["CALLSIGN_SECRETS_MASTER_KEY_FILE"] = key_file.string();
    EXPECT_THAT(examined(), HasSubstr("ok master key: present"));
    {
        const auto keys = std::get<seal::key_ring>(seal::parse_master_key(digits));
        uuid client{};
        client.data[0] = 1;
        const std::array<std::uint8_t, seal::key_bytes> secret{};
        const std::array<std::uint8_t, seal::nonce_bytes> nonce{};
        const std::string sealed =
            keys.seal({seal::purpose::device_key, account_id{7}, client}, nonce, secret);
        SQLite::Database db((dir / "callsign.sqlite3").string(), SQLite::OPEN_READWRITE, 0,
                            "callsign");
        db.exec(
            "INSERT INTO accounts VALUES (7, 'ada', 1, 1, 1, NULL, 0, 0, zeroblob(16), 0, 0, 0,"
            " 0, 0)");
        SQLite::Statement device(db,
                                 "INSERT INTO devices (client_id, account_id, name, key,"
                                 " created_at) VALUES (?, 7, 'laptop', ?, 1)");
        device.bind(1, client.data, 16);
        device.bind(2, sealed.data(), static_cast<int>(sealed.size()));
        device.exec();
    }
    EXPECT_THAT(examined(), HasSubstr("ok master key: matches the store"));
    environment["CALLSIGN_SECRETS_MASTER_KEY_FILE"] =
        put("another", std::string(64, 'b') + "\n", 0600).string();
    EXPECT_THAT(examined(), HasSubstr("error master key: master key does not match"));
    environment.erase("CALLSIGN_SECRETS_MASTER_KEY_FILE");
    EXPECT_THAT(examined(), HasSubstr("error master key: no master key, and devices"));
}

TEST_F(doctor_test, reads_a_certificate) {
    make_store();
    const auto use = [&](const testing::certificate_files& files) {
        environment["CALLSIGN_TLS_CERTIFICATE"] = files.certificate.string();
        environment["CALLSIGN_TLS_KEY"] = files.key.string();
        ::chmod(files.key.c_str(), 0640);
    };
    use(testing::write_certificate(temp.path(), "good"));
    environment["CALLSIGN_SERVER_PUBLIC_URL"] = "https://localhost:8443/base";
    EXPECT_THAT(examined(), HasSubstr("ok tls: the certificate expires in"));
    environment["CALLSIGN_SERVER_PUBLIC_URL"] = "https://127.0.0.1";
    EXPECT_THAT(examined(), HasSubstr("ok tls"));
    environment["CALLSIGN_SERVER_PUBLIC_URL"] = "https://tasks.example.org";
    EXPECT_THAT(examined(),
                HasSubstr("error tls: the certificate is not valid for tasks.example.org"));
    environment.erase("CALLSIGN_SERVER_PUBLIC_URL");
    use(testing::write_certificate(temp.path(), "soon", 3));
    EXPECT_THAT(examined(), HasSubstr("warning tls: the certificate expires in"));
    use(testing::write_certificate(temp.path(), "late", -3));
    EXPECT_THAT(examined(), HasSubstr("error tls: the certificate expired "));
    environment["CALLSIGN_TLS_KEY"] = (temp.path() / "good.key").string();
    EXPECT_THAT(examined(), HasSubstr("error tls: CALLSIGN_TLS_KEY: tls.key: "));
}

TEST_F(doctor_test, queries_the_server_and_reports_its_error) {
    make_store();
    fs::path asked;
    question.ask = [&](const fs::path& data_dir, bool held) {
        asked = data_dir;
        EXPECT_FALSE(held) << "the series were read from the store";
        return server_report{.error = "no server runs"};
    };
    EXPECT_THAT(examined(), HasSubstr("skipped server: no server runs on"));
    EXPECT_EQ(asked, dir);
    question.ask = [](const fs::path&, bool) -> server_report { throw std::runtime_error("odd"); };
    EXPECT_THAT(examined(), HasSubstr("error doctor: the checks cannot be made: odd"));
}

}  // namespace
}  // namespace callsign::setup
