// followers: the cost of many followers of one account. Measures the server's memory per idle
// follower, and the time from the response to a creation until the last follower has received the
// change.
//
//     followers                              10,000 idle, then 1,000 active ones
//     followers --idle 2000 --hearing 200    fewer

#include "histogram.hpp"
#include "options.hpp"
#include "support/http_client.hpp"
#include "support/server.hpp"
#include "support/temp_dir.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <sys/resource.h>

namespace callsign::bench {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using stopwatch = std::chrono::steady_clock;
constexpr auto use_result = asio::as_tuple(asio::use_awaitable);

enum class form { stream, socket };

// Does minimal work, since the server is measured.
class follower {
  public:
    follower(asio::io_context& io, form how) : socket_(io), how_(how) {}

    asio::awaitable<void> follow(std::uint16_t port, const std::string& token, int& following,
                                 std::int64_t& heard) {
        const tcp::endpoint server(asio::ip::make_address("127.0.0.1"), port);
        const auto [rejected] = co_await socket_.async_connect(server, use_result);
        if (rejected) options::fail("cannot connect: " + rejected.message());
        const std::string request = request_with(token);
        co_await asio::async_write(socket_, asio::buffer(request), use_result);
        for (bool begun = false;;) {
            char bytes[4096];
            const auto space = asio::buffer(bytes);
            const auto [gone, got] = co_await socket_.async_read_some(space, use_result);
            if (gone) co_return;
            const std::string_view text(bytes, got);
            if (!begun) {
                const bool fine = text.find(" 200 ") == 8 || text.find(" 101 ") == 8;
                if (!fine) options::fail("rejected: " + std::string(text));
                begun = true;
                ++following;
            }
            // Each change contains this once; changes are small and never split between reads.
            for (auto at = text.find("\"purged\""); at != std::string_view::npos;
                 at = text.find("\"purged\"", at + 1)) {
                ++heard;
            }
        }
    }
    void stop() {
        boost::system::error_code ignored;
        socket_.close(ignored);
    }

  private:
    std::string request_with(const std::string& token) const {
        const bool is_socket = how_ == form::socket;
        std::string text = std::string("GET /v1/changes/") + (is_socket ? "socket" : "stream") +
                           "?after=now HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + token +
                           "\r\n";
        if (is_socket) {
            text +=
                "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
        }
        return text + "\r\n";
    }

    tcp::socket socket_;
    form how_;
};

double resident_kib(int pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6);
    }
    return 0;
}

struct setting {
    int idle = 10'000;
    int hearing = 1'000;
    int creations = 200;
};

class experiment {
  public:
    explicit experiment(const setting& of) : setting_(of) {
        testing::http_client as_operator(server_.port(), server_.admin_token());
        const auto made =
            as_operator.post_json("/v1/admin/accounts", R"({"name":"bench","prefix":"BEN"})");
        if (!made || made->status != 201) options::fail("no account");
        token_ = std::string(boost::json::parse(made->body).at("token").as_string());
        creator_.emplace(server_.port(), token_);
        create("first");
    }

    void idle(form how, const char* name) {
        std::deque<follower> all;
        const double before = resident_kib(server_.child().id());
        begin(all, how, setting_.idle);
        const double each = (resident_kib(server_.child().id()) - before) / setting_.idle;
        std::printf("%d idle followers, %s: %.1f KiB each in the server\n", setting_.idle, name,
                    each);
        std::fflush(stdout);
        end(all);
    }

    void hear(form how, const char* name) {
        std::deque<follower> all;
        begin(all, how, setting_.hearing);
        histogram from_answer, from_request;
        heard_ = 0;
        for (int n = 0; n < setting_.creations; ++n) {
            const auto asked = stopwatch::now();
            create(name + std::to_string(n));
            const auto answered = stopwatch::now();
            const std::int64_t wanted = std::int64_t{n + 1} * setting_.hearing;
            while (heard_ < wanted) io_.run_one();
            const auto last = stopwatch::now();
            from_answer.record(last - answered);
            from_request.record(last - asked);
        }
        const auto ms = [](std::chrono::nanoseconds t) {
            return static_cast<double>(t.count()) / 1e6;
        };
        std::printf(
            "to the last of %d, %s: p50 %.1f ms, p99 %.1f ms after the creation's answer"
            " (p50 %.1f ms, p99 %.1f ms after its request)\n",
            setting_.hearing, name, ms(from_answer.quantile(0.5)), ms(from_answer.quantile(0.99)),
            ms(from_request.quantile(0.5)), ms(from_request.quantile(0.99)));
        std::fflush(stdout);
        end(all);
    }

  private:
    void create(const std::string& key) {
        const auto made = creator_->post_json("/v1/tasks", R"({"description":"Say it"})", key);
        if (!made || made->status != 201) options::fail("no task: " + (made ? made->body : ""));
    }

    void begin(std::deque<follower>& all, form how, int count) {
        following_ = 0;
        for (int n = 0; n < count; ++n) {
            all.emplace_back(io_, how);
            asio::co_spawn(io_, all.back().follow(server_.port(), token_, following_, heard_),
                           asio::detached);
            // A few at a time, otherwise the server's listen backlog overflows.
            while (following_ < n - 64) io_.run_one();
        }
        while (following_ < count) io_.run_one();
    }
    void end(std::deque<follower>& all) {
        for (follower& each : all) each.stop();
        io_.run();
        io_.restart();
    }

    setting setting_;
    testing::temp_dir dir_;
    testing::server server_{{"build/release",
                             dir_.path(),
                             {},
                             {{"CALLSIGN_HTTP_CONNECTIONS_MAX", "15000"},
                              {"CALLSIGN_HTTP_CONNECTIONS_PER_ADDRESS_MAX", "15000"},
                              {"CALLSIGN_FEED_FOLLOWERS_MAX", "15000"},
                              {"CALLSIGN_FEED_ACCOUNT_FOLLOWERS_MAX", "15000"},
                              {"CALLSIGN_FEED_HEARTBEAT", "1h"}}}};
    std::optional<testing::http_client> creator_;
    asio::io_context io_{1};
    std::string token_;
    int following_ = 0;
    std::int64_t heard_ = 0;
};

void raise_open_files() {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    using namespace callsign::bench;
    setting of;
    options known("What it costs that many follow one account.");
    known.add("--idle", of.idle, "idle followers of each kind");
    known.add("--hearing", of.hearing, "followers of each kind that hear of each creation");
    known.add("--creations", of.creations, "of each kind");
    known.parse(argc, argv);
    raise_open_files();
    // A separate server for each: memory that was freed is reused.
    experiment(of).idle(form::stream, "streams");
    experiment(of).idle(form::socket, "sockets");
    experiment(of).hear(form::stream, "streams");
    experiment(of).hear(form::socket, "sockets");
}
