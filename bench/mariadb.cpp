// mariadb: creates tickets with per-board numbers in a MariaDB, as one of the peers of bench/peers.
// Each client has a connection and waits for each response. pgbench is the counterpart for
// PostgreSQL; MariaDB's own mysqlslap does not time transactions.
//
//     mariadb --socket PATH --how last-insert-id --clients 16 --boards 1000 --duration 10s
//
//     last-insert-id   UPDATE boards SET last_number = LAST_INSERT_ID(last_number + 1)
//     serializable     SELECT max(number) + 1, as SERIALIZABLE, repeated after a deadlock
//
// Prints one JSON object: transactions per second, and latency quantiles in milliseconds.

#include "histogram.hpp"
#include "options.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mysql.h>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace callsign::bench {
namespace {

using steady_clock = std::chrono::steady_clock;

struct settings {
    std::string socket;
    std::string how = "last-insert-id";
    unsigned clients = 16;
    unsigned boards = 1;
    milliseconds duration{std::chrono::seconds{10}};
    milliseconds warmup{std::chrono::seconds{1}};
};

constexpr unsigned deadlock = 1213, lock_wait_timeout = 1205;

struct failure : std::runtime_error {
    failure(unsigned c, const char* text) : std::runtime_error(text), code(c) {}
    unsigned code;
};

class connection {
  public:
    explicit connection(const settings& s) {
        mysql_init(&handle_);
        if (!mysql_real_connect(&handle_, nullptr, "root", nullptr, "bench", 0, s.socket.c_str(),
                                0)) {
            fail();
        }
    }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection() { mysql_close(&handle_); }

    void run(const char* sql) {
        if (mysql_query(&handle_, sql) != 0) fail();
    }
    [[noreturn]] void fail() { throw failure(mysql_errno(&handle_), mysql_error(&handle_)); }
    MYSQL* handle() { return &handle_; }

  private:
    MYSQL handle_{};
};

// A prepared statement of up to two parameters: the board and a key.
class statement {
  public:
    statement(connection& db, const char* sql) : prepared_(mysql_stmt_init(db.handle())) {
        if (mysql_stmt_prepare(prepared_.get(), sql, std::strlen(sql)) != 0) fail();
    }

    void run(std::int64_t board, const std::string& key = {}) {
        MYSQL_BIND values[3]{};
        unsigned long length = key.size();
        const unsigned count = mysql_stmt_param_count(prepared_.get());
        for (unsigned at = 0; at < count; ++at) {
            const bool is_key = !key.empty() && at == 0;
            values[at].buffer_type = is_key ? MYSQL_TYPE_STRING : MYSQL_TYPE_LONGLONG;
            values[at].buffer = is_key ? const_cast<char*>(key.data()) : static_cast<void*>(&board);
            values[at].buffer_length = is_key ? length : sizeof board;
            if (is_key) values[at].length = &length;
        }
        if (mysql_stmt_bind_param(prepared_.get(), values) ||
            mysql_stmt_execute(prepared_.get()) != 0) {
            fail();
        }
        if (mysql_stmt_field_count(prepared_.get()) == 0) return;
        mysql_stmt_store_result(prepared_.get());
        mysql_stmt_free_result(prepared_.get());
    }

  private:
    [[noreturn]] void fail() {
        throw failure(mysql_stmt_errno(prepared_.get()), mysql_stmt_error(prepared_.get()));
    }

    struct closer {
        void operator()(MYSQL_STMT* s) const { mysql_stmt_close(s); }
    };
    std::unique_ptr<MYSQL_STMT, closer> prepared_;
};

constexpr auto description = "Mend the tap in the corridor, visit 000000000042";

// Assigns a number and creates the ticket in one of two ways; durable when create() returns.
class client {
  public:
    client(const settings& s, std::uint64_t seed)
        : db_(s), random_(seed), is_serializable_(s.how == "serializable"), boards_(s.boards) {
        if (is_serializable_) db_.run("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE");
        if (is_serializable_) {
            take_ = std::make_unique<statement>(
                db_, "SELECT coalesce(max(number), 0) + 1 INTO @n FROM tickets WHERE board = ?");
        } else {
            take_ = std::make_unique<statement>(
                db_,
                "UPDATE boards SET last_number = LAST_INSERT_ID(last_number + 1)"
                " WHERE board = ?");
        }
        const std::string number = is_serializable_ ? "@n" : "LAST_INSERT_ID()";
        put_ = std::make_unique<statement>(
            db_, ("INSERT INTO tickets (request_key, board, number, description, created_at)"
                  " VALUES (?, ?, " +
                  number + ", '" + description + "', now(3))")
                     .c_str());
    }

    // Returns false after a conflict with another client: to be repeated.
    bool create() {
        const auto board = static_cast<std::int64_t>(random_() % boards_) + 1;
        char key[33];
        std::snprintf(key, sizeof key, "%016llx%016llx", static_cast<unsigned long long>(random_()),
                      static_cast<unsigned long long>(random_()));
        try {
            db_.run("START TRANSACTION");
            take_->run(board);
            put_->run(board, key);
            db_.run("COMMIT");
            return true;
        } catch (const failure& f) {
            if (f.code != deadlock && f.code != lock_wait_timeout) throw;
            db_.run("ROLLBACK");
            return false;
        }
    }

    std::uint64_t draw() { return random_(); }

  private:
    connection db_;
    std::mt19937_64 random_;
    bool is_serializable_;
    std::uint64_t boards_;
    std::unique_ptr<statement> take_, put_;
};

struct result {
    histogram latencies;
    std::uint64_t again = 0;
    std::string error;
};

int run(const settings& s) {
    std::vector<result> results(s.clients);
    std::vector<std::thread> threads;
    const auto begin = steady_clock::now() + s.warmup;
    const auto end = begin + s.duration;
    for (unsigned n = 0; n < s.clients; ++n) {
        threads.emplace_back([&, n] {
            result& r = results[n];
            try {
                client c(s, std::random_device{}());
                for (auto from = steady_clock::now(); from < end; from = steady_clock::now()) {
                    bool done = c.create();
                    for (unsigned tries = 1; !done && steady_clock::now() < end; ++tries) {
                        ++r.again;
                        // Without growing pauses the clients would conflict again and again.
                        const std::uint64_t most = 1000U << std::min(tries, 7U);
                        std::this_thread::sleep_for(std::chrono::microseconds(c.draw() % most));
                        done = c.create();
                    }
                    const auto now = steady_clock::now();
                    if (done && from >= begin) r.latencies.record(now - from);
                }
            } catch (const std::exception& e) {
                r.error = e.what();
            }
        });
    }
    for (std::thread& t : threads) t.join();
    result all;
    for (const result& r : results) {
        if (!r.error.empty()) throw std::runtime_error(r.error);
        all.latencies.add(r.latencies);
        all.again += r.again;
    }
    const auto ms = [&](double quantile) {
        return std::chrono::duration<double, std::milli>(all.latencies.quantile(quantile)).count();
    };
    std::printf(
        "{\"how\":\"%s\",\"clients\":%u,\"boards\":%u,\"perSecond\":%.1f,\"p50\":%.3f,"
        "\"p99\":%.3f,\"again\":%llu}\n",
        s.how.c_str(), s.clients, s.boards,
        static_cast<double>(all.latencies.total()) /
            std::chrono::duration<double>(s.duration).count(),
        ms(0.5), ms(0.99), static_cast<unsigned long long>(all.again));
    return 0;
}

settings read_settings(int argc, char** argv) {
    settings s;
    options o("mariadb: measures creations of numbered tickets in a MariaDB.");
    o.add("--socket", s.socket, "server's socket; uses the database `bench` as root");
    o.add("--how", s.how, "last-insert-id or serializable");
    o.add("--clients", s.clients, "number of connections, 1..1000");
    o.add("--boards", s.boards, "number of boards, chosen at random");
    o.add("--duration", s.duration, "duration after the warm-up");
    o.add("--warmup", s.warmup, "initial time without measurement");
    o.parse(argc, argv);
    if (s.socket.empty()) options::fail("--socket is required");
    if (s.clients < 1 || s.clients > 1000) options::fail("--clients must be 1..1000");
    if (s.boards < 1) options::fail("--boards must be at least 1");
    if (s.how != "last-insert-id" && s.how != "serializable")
        options::fail("--how must be last-insert-id or serializable");
    return s;
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    using namespace callsign::bench;
    return run_program("mariadb", [&] { return run(read_settings(argc, argv)); });
}
