// Goal: core dumps of the programs contain no secrets. Method: both programs are ended as by a
// crash, in an environment where an unprotected program leaves a core dump; skipped where none
// does.

#include "fixture.hpp"

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace callsign::testing {
namespace {

class secrets_test : public system_test {
  protected:
    // A process that would dump core, in a separate directory, with a pipe as its standard input.
    struct child {
        pid_t id = -1;
        int in = -1;
    };
    child spawn(std::vector<std::string> words) const {
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        const std::string place = temp_path("").string();
        int in[2];
        EXPECT_EQ(::pipe(in), 0);
        child made{::fork(), in[1]};
        if (made.id == 0) {
            const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
            ::setrlimit(RLIMIT_CORE, &all);
            ::dup2(in[0], STDIN_FILENO);
            ::close(in[1]);
            const bool is_there = ::chdir(place.c_str()) == 0;
            if (is_there) ::execvp(arguments[0], arguments.data());
            ::_exit(127);
        }
        ::close(in[0]);
        return made;
    }
    static bool dumps(const child& c) {
        ::kill(c.id, SIGABRT);
        int status = 0;
        ::waitpid(c.id, &status, 0);
        ::close(c.in);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
        return WIFSIGNALED(status) && WCOREDUMP(status);
    }
    // More than a pipe can hold, so the process is reading.
    static void await_reading(const child& c) {
        const std::string much(std::size_t{1} << 18, '\n');
        EXPECT_EQ(::write(c.in, much.data(), much.size()), static_cast<ssize_t>(much.size()));
    }

    void SetUp() override {
        const child other = spawn({"sh", "-c", "exec cat > /dev/null"});
        await_reading(other);
        if (!dumps(other)) GTEST_SKIP() << "NO CORE DUMPS here: nothing was tested.";
    }
};

TEST_F(secrets_test, are_in_no_core_dump_of_the_command_line) {
    const child c = spawn({(programs() / "callsign").string(), "import", "taskwarrior", "-",
                           "--account", "home", "--data-dir", data_dir().string()});
    await_reading(c);
    EXPECT_FALSE(dumps(c));
}

TEST_F(secrets_test, are_in_no_core_dump_of_the_server) {
    const child c =
        spawn({callsignd(), "--data-dir", data_dir().string(), "--listen", "127.0.0.1:0"});
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (!std::filesystem::exists(data_dir() / "listen.url") &&
           std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
    }
    EXPECT_FALSE(dumps(c));
}

}  // namespace
}  // namespace callsign::testing
