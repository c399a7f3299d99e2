#pragma once
// A PostgreSQL server for tests, with data in a temporary directory and fsync off.

#include "support/process.hpp"
#include "support/temp_dir.hpp"

#include <callsign/ports/clock.hpp>
#include <callsign/ports/store.hpp>
#include <callsign/store/postgres.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace callsign::testing {

// A program of PostgreSQL, which Debian does not install in PATH. Throws std::runtime_error.
std::filesystem::path postgres_program(const std::string& name);
// Runs SQL; returns the last result, with columns separated by |. Throws std::runtime_error.
std::string query_postgres(const std::string& url, const std::string& sql);

class postgres_server {
  public:
    // Starts it. Throws std::runtime_error, for example if the package postgresql is missing.
    postgres_server();
    ~postgres_server();
    postgres_server(const postgres_server&) = delete;
    postgres_server& operator=(const postgres_server&) = delete;

    // One server for all tests of this process.
    static postgres_server& shared();

    // Connects by the server's socket.
    std::string url() const;
    std::filesystem::path socket() const;
    // As SIGKILL of the whole server.
    void kill();
    // Starts it again. Requires: it was killed.
    void start(const std::vector<std::pair<std::string, std::string>>& environment = {});
    // See query_postgres.
    std::string query(const std::string& sql);

  private:
    // Not in TMPDIR: the server's user must reach it, and a socket's path is short.
    temp_dir dir_{"/tmp"};
    std::unique_ptr<process> server_;
};

// Takes the store over as soon as possible. `schema` is created if missing.
std::unique_ptr<store> open_postgres_now(const std::string& schema, callsign::clock& clock,
                                         postgres_options options = {});

}  // namespace callsign::testing
