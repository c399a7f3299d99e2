#pragma once
// The callsign program on a command line, with a server whose responses the test chooses.

#include "cli/run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace callsign::cli {

struct command_line : testing::Test {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    bool terminal = false;
    bool out_terminal = false;
    bool err_is_piped = false;
    time_point now{std::chrono::seconds{1'795'000'000}};  // November 2026
    std::map<std::string, std::string> environment{{"CALLSIGN_TOKEN", "cs_operator"}};
    std::vector<http_answer> answers;
    // "VERB URL TARGET BODY" of each request, and its token.
    std::vector<std::string> requests;
    std::vector<std::string> tokens;
    std::filesystem::path data_dir;
    check_report report;
    std::vector<std::filesystem::path> restored;
    std::string checked;  // the last URL
    std::vector<std::string> moves;
    std::string marked;
    clock_repair repair;
    doctor_question asked;
    server_report word;
    std::vector<diagnosis> findings;

    command_line() {
        std::string name = (std::filesystem::temp_directory_path() / "callsign-XXXXXX").string();
        data_dir = ::mkdtemp(name.data());
    }
    ~command_line() override { std::filesystem::remove_all(data_dir); }

    void put_file(const char* name, const std::string& text) {
        std::ofstream(data_dir / name) << text;
    }

    // A listen file as callsignd writes it; without its lock it is from a server that no longer
    // runs.
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
        all.check = [this](const store_place& place, time_point at,
                           const findings::progress& progress) {
            EXPECT_EQ(at, now);
            if (place.url.empty() && place.data_dir != data_dir) {
                throw std::runtime_error("there is no " + place.data_dir.string());
            }
            checked = place.url;
            progress("slots");
            return report;
        };
        all.move = [this](const store_place& from, const store_place& to, time_point,
                          const findings::progress& progress) {
            progress("tasks, 512 rows");
            moves.push_back(from.data_dir.string() + from.url + " to " + to.data_dir.string() +
                            to.url);
            return moved_store{512, report, report};
        };
        all.mark_restored = [this](const std::string& url, time_point) {
            marked = url;
            return 3;
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
        const cli_context around{
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

inline const std::string local = "http://127.0.0.1:8080";

}  // namespace callsign::cli
