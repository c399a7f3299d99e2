// Goal: the commands of the README and of docs/ work as documented, pasted in order. Method: the
// fenced lines of a section run in one shell, with a separate home directory and server; only the
// server's address and the location of /etc are replaced.

#include "taskwarrior_fixture.hpp"

#include <fstream>
#include <sstream>

namespace callsign::testing {
namespace {

const std::filesystem::path readme = CALLSIGN_README;
const std::filesystem::path root = readme.parent_path();
const std::filesystem::path taskwarrior_page = root / "docs/taskwarrior.md";
const std::filesystem::path api_page = root / "docs/api.md";

// Returns the fenced lines between this heading and the next one, without those that start a
// server.
std::string lines_of(const std::filesystem::path& page, const std::string& heading) {
    std::ifstream text(page);
    std::string line, found;
    bool is_section = false, is_fenced = false;
    while (std::getline(text, line)) {
        if (line.starts_with("## ")) is_section = line == "## " + heading;
        if (!is_section) continue;
        if (line.starts_with("```")) {
            is_fenced = line == "```sh";
        } else if (is_fenced && line != "scripts/serve") {
            found += line + "\n";
        }
    }
    return found;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
    }
    return text;
}

class readme_test : public with_taskwarrior<system_test> {
  protected:
    void SetUp() override {
        with_taskwarrior<system_test>::SetUp();
        if (IsSkipped()) return;
        // As in a built checkout where scripts/serve runs.
        s = std::make_unique<server>(
            server::options{programs(),
                            here() / "callsign-data",
                            {},
                            {{"CALLSIGN_MASTER_KEY", std::string(64, '7')}}});
        std::filesystem::create_directories(here() / "build");
        std::filesystem::create_directories(home());
        std::filesystem::create_directory_symlink(programs(), here() / "build" / "release");
        std::filesystem::create_directory_symlink(std::filesystem::path(program).parent_path(),
                                                  here() / "build" / "taskwarrior");
        std::filesystem::create_directory_symlink(root / "scripts", here() / "scripts");
    }

    // Runs the lines in one shell, up to the first one that fails.
    finished paste(const std::string& lines) const {
        std::string text =
            replaced(lines, "127.0.0.1:8080", "127.0.0.1:" + std::to_string(s->port()));
        text = replaced(text, "/etc/", (home() / "etc/").string());
        return run({"sh", "-e", "-c", "cd " + here().string() + "\n" + text}, timeout,
                   {{"HOME", home().string()},
                    {"HTTP_PROXY", ""},
                    {"http_proxy", ""},
                    {"TASKRC", ""},
                    {"TASKDATA", ""},
                    {"CALLSIGN_URL", ""},
                    {"CALLSIGN_TOKEN", ""},
                    {"CALLSIGN_STORE_DATA_DIR", ""}});
    }
    std::filesystem::path here() const { return temp_path("here"); }
    std::filesystem::path home() const { return temp_path("home"); }

    // Returns the line that the server prints to set the token.
    std::string token_line() const {
        for (const std::string& line : s->banner()) {
            if (line.starts_with("  TOKEN=")) return line + "\n";
        }
        return {};
    }

    static void expect_no_problem(const finished& done) {
        expect_done(done);
        EXPECT_EQ(done.out.find("\"code\""), std::string::npos) << done.out;
    }

    std::unique_ptr<server> s;
};

TEST_F(readme_test, a_first_task_and_its_retry) {
    const std::string lines = lines_of(readme, "Creating a task");
    const std::string changes = lines_of(api_page, "Updating and deleting tasks");
    ASSERT_NE(lines.find("Idempotency-Key"), std::string::npos);
    ASSERT_NE(changes.find("If-Match"), std::string::npos);
    const finished done = paste(token_line() + lines + changes);
    expect_no_problem(done);
    EXPECT_NE(done.out.find(R"("key":"TASK-1")"), std::string::npos) << done.out;
    EXPECT_NE(done.out.find(R"("status":"deleted")"), std::string::npos) << done.out;
}

TEST_F(readme_test, taskwarrior_in_ten_lines) {
    const std::string lines = lines_of(readme, "Taskwarrior");
    ASSERT_NE(lines.find("scripts/get-taskwarrior\n"), std::string::npos);
    const finished done = paste(lines);
    expect_no_problem(done);
    EXPECT_NE(done.out.find("Say its number out loud"), std::string::npos) << done.out;
}

TEST_F(readme_test, taskwarrior_with_keys) {
    const std::string lines = lines_of(taskwarrior_page, "Quick start");
    ASSERT_NE(lines.find("scripts/get-taskwarrior\n"), std::string::npos);
    ASSERT_NE(lines.find("key.is:TASK-1"), std::string::npos);
    const finished done = paste(lines);
    expect_no_problem(done);
    EXPECT_NE(done.out.find("Say its number out loud"), std::string::npos) << done.out;
    EXPECT_NE(done.out.find("TASK-2"), std::string::npos) << done.out;  // in the report
}

TEST_F(readme_test, devices) {
    const std::string lines = lines_of(taskwarrior_page, "Devices");
    ASSERT_NE(lines.find("device revoke"), std::string::npos);
    // A Taskwarrior with existing tasks.
    const finished done = paste(
        "PATH=$PWD/build/release:$PWD/build/taskwarrior:$PATH\n"
        "echo data.location=$HOME/.task > ~/.taskrc\n"
        "task add From before\n" +
        lines);
    expect_no_problem(done);
    EXPECT_TRUE(std::filesystem::exists(home() / "etc/callsign/master.key")) << done.out;
    EXPECT_NE(done.out.find("imported   1"), std::string::npos) << done.out;
}

// A filter without `.is` matches prefixes, and there is no confirmation.
TEST_F(readme_test, keys_are_named_whole_everywhere) {
    for (const auto& page : {readme, taskwarrior_page}) {
        std::ostringstream bytes;
        bytes << std::ifstream(page).rdbuf();
        const std::string text = bytes.str();
        ASSERT_NE(text.find("task key.is:"), text.npos) << page;
        for (auto at = text.find("task key"); at != text.npos; at = text.find("task key", at + 1)) {
            EXPECT_EQ(text.compare(at, 12, "task key.is:"), 0) << text.substr(at, 60);
        }
    }
}

}  // namespace
}  // namespace callsign::testing
