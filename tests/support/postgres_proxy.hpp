#pragma once
// A proxy before a PostgreSQL server that loses one round trip. Clients connect to its Unix socket.
//
// Threads: its own, one for each connection.

#include "support/temp_dir.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace callsign::testing {

// What happens to the next data that a client sends.
enum class trip_fate {
    passed,
    cut_before,  // the connection is closed, and the server receives nothing
    cut_after,   // the server responds, and the connection is closed without the response
    swallowed,   // the server receives nothing, and the connection stays open
    unanswered,  // the server responds, and the client receives nothing
    late,        // the client receives the response after postgres_proxy::lateness
};

class postgres_proxy {
  public:
    // `server`: the socket of a PostgreSQL server.
    explicit postgres_proxy(std::filesystem::path server);
    ~postgres_proxy();
    postgres_proxy(const postgres_proxy&) = delete;
    postgres_proxy& operator=(const postgres_proxy&) = delete;

    static constexpr std::chrono::milliseconds lateness{700};

    std::string url() const;
    void lose_next(trip_fate how) { next_ = how; }

  private:
    void accept();
    void serve(int client);
    bool pass_on(int from, int to) const;

    std::filesystem::path server_;
    temp_dir dir_;
    int listener_ = -1;
    std::atomic<trip_fate> next_ = trip_fate::passed;
    std::atomic<bool> is_ended_ = false;
    std::mutex mutex_;
    std::vector<std::thread> connections_;
    std::thread acceptor_;
};

}  // namespace callsign::testing
