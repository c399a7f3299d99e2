#include "support/postgres.hpp"

#include <callsign/platform/real.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <unistd.h>
#include <vector>

namespace callsign::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// PostgreSQL does not run as root. The process ends with this one even if that is killed.
std::vector<std::string> as_its_user(std::vector<std::string> command) {
    std::vector<std::string> all{"setpriv", "--pdeathsig", "QUIT"};
    if (::geteuid() == 0) {
        all.insert(all.end(), {"--reuid=postgres", "--regid=postgres", "--clear-groups"});
    }
    all.insert(all.end(), command.begin(), command.end());
    return all;
}

void expect_success(const finished& done, const std::string& what) {
    if (done.status.code != 0) throw std::runtime_error(what + " failed: " + done.err);
}

}  // namespace

// The newest version.
fs::path postgres_program(const std::string& name) {
    fs::path newest;
    std::error_code none;
    for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", none)) {
        const fs::path its = version.path() / "bin" / name;
        if (fs::exists(its)) newest = std::max(newest, its);
    }
    if (newest.empty()) throw std::runtime_error(name + " is missing: install postgresql");
    return newest;
}

std::string query_postgres(const std::string& url, const std::string& sql) {
    const finished done =
        run({postgres_program("psql"), "-XqAt", "-d", url, "-c", sql}, seconds{30});
    expect_success(done, sql);
    return done.out.substr(0, done.out.find_last_not_of('\n') + 1);
}

postgres_server::postgres_server() {
    const fs::path data = dir_.path() / "data";
    fs::permissions(dir_.path(), fs::perms::owner_all | fs::perms::group_exec |
                                     fs::perms::others_read | fs::perms::others_exec);
    if (::geteuid() == 0) {
        expect_success(run({"chown", "postgres:", dir_.path()}, seconds{5}), "chown");
    }
    expect_success(run(as_its_user({postgres_program("initdb"), "-D", data, "--auth=trust",
                                    "--no-sync", "--locale=C", "--encoding=UTF8",
                                    "--username=postgres", "--no-instructions"}),
                       seconds{60}),
                   "initdb");
    std::ofstream(data / "postgresql.auto.conf")
        << "listen_addresses = ''\nmax_connections = 300\nfsync = off\nfull_page_writes = off\n"
        << "autovacuum = off\n"
        << "unix_socket_directories = '" << dir_.path().string() << "'\n";
    start();
}

// Processes of a killed server may still end: another one does not start beside them.
void postgres_server::start(const std::vector<std::pair<std::string, std::string>>& environment) {
    const fs::path data = dir_.path() / "data";
    for (int attempt = 0; attempt < 50; ++attempt) {
        server_ = std::make_unique<process>(as_its_user({"sh", "-c", "exec \"$0\" -D \"$1\" 2>&1",
                                                         postgres_program("postgres"), data}),
                                            environment);
        while (const auto line = server_->read_line(seconds{60})) {
            if (line->find("ready to accept connections") != std::string::npos) return;
        }
    }
    throw std::runtime_error("PostgreSQL did not start");
}

void postgres_server::kill() {
    server_->kill();
}

postgres_server::~postgres_server() {
    server_->signal(SIGQUIT);
    server_->wait(seconds{10});
}

postgres_server& postgres_server::shared() {
    static postgres_server one;
    return one;
}

fs::path postgres_server::socket() const {
    return dir_.path() / ".s.PGSQL.5432";
}

std::string postgres_server::url() const {
    return "postgresql:///postgres?user=postgres&host=" + dir_.path().string();
}

std::string postgres_server::query(const std::string& sql) {
    return query_postgres(url(), sql);
}

std::unique_ptr<store> open_postgres_now(const std::string& schema, callsign::clock& clock,
                                         postgres_options options) {
    if (options.url.empty()) options.url = postgres_server::shared().url();
    options.schema = schema;
    static const auto entropy = platform::make_real_entropy();
    const auto standby = open_postgres(std::move(options), clock, draw_uuid(*entropy));
    if (!standby->look()) throw std::runtime_error("another server owns the store");
    auto opened = standby->take_over();
    if (!opened) throw std::runtime_error("another server has taken over the store");
    return opened;
}

}  // namespace callsign::testing
