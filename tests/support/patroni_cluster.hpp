#pragma once
// A replicated PostgreSQL on loopback, as operators run it: three etcd, and three machines with
// Patroni and PostgreSQL, strictly synchronous. A machine is a PID namespace: all of its processes
// end together, also if the test is killed. Needs root.

#include "support/process.hpp"
#include "support/temp_dir.hpp"

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace callsign::testing {

class patroni_cluster {
  public:
    static constexpr std::size_t size = 3;

    // Empty: it can run here.
    static std::string why_not();

    // Returns once there is a primary with a synchronous standby. Throws std::runtime_error.
    patroni_cluster();
    patroni_cluster(const patroni_cluster&) = delete;
    patroni_cluster& operator=(const patroni_cluster&) = delete;

    // All machines; the primary is found.
    std::string url() const;
    // Waits until there is one.
    std::size_t primary();
    std::size_t synchronous_standby();
    // Waits until all machines are members again.
    void await_whole();

    void kill(std::size_t machine);
    void pause(std::size_t machine);
    void resume(std::size_t machine);
    // Requires: it was killed.
    void start(std::size_t machine);
    // Only PostgreSQL: Patroni runs on, and replaces it.
    void kill_postgres(std::size_t machine);
    // Makes the synchronous standby the primary.
    void switch_over();

    void kill_etcd(std::size_t n) { etcd_[n]->kill(); }
    void pause_etcd(std::size_t n) { etcd_[n]->signal(SIGSTOP); }
    void resume_etcd(std::size_t n) { etcd_[n]->signal(SIGCONT); }
    void start_etcd(std::size_t n);

    // Runs SQL on the primary.
    std::string query(const std::string& sql);

  private:
    struct machine {
        std::uint16_t sql_port = 0;
        std::uint16_t rest_port = 0;
        std::unique_ptr<process> runs{};
    };

    std::filesystem::path dir_of(std::size_t n) const;
    void write_config(std::size_t n) const;
    bool is(std::size_t machine, const char* role) const;
    std::size_t await_role(const char* role);
    std::vector<pid_t> members(std::size_t machine) const;
    void signal_all(std::size_t machine, int signal) const;

    temp_dir dir_{"/tmp"};
    std::array<std::uint16_t, size> etcd_client_{}, etcd_peer_{};
    std::array<std::unique_ptr<process>, size> etcd_;
    std::array<machine, size> machines_;
};

}  // namespace callsign::testing
