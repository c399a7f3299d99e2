#include "support/patroni_cluster.hpp"

#include "support/http_client.hpp"
#include "support/postgres.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <csignal>
#include <fstream>
#include <netinet/in.h>
#include <sstream>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace callsign::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto settles = 120s;

std::uint16_t free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    if (::bind(fd, address, size) != 0 || ::getsockname(fd, address, &size) != 0) {
        throw std::runtime_error("no free port");
    }
    ::close(fd);
    return ntohs(at.sin_port);
}

std::string local(std::uint16_t port) {
    return "127.0.0.1:" + std::to_string(port);
}

// "patroni 3.0.2"
bool speaks_new_etcd() {
    static const bool does = [] {
        const finished said = run({"patroni", "--version"}, 20s);
        std::istringstream text(said.out);
        std::string name;
        int major = 0, minor = 0;
        char dot = 0;
        text >> name >> major >> dot >> minor;
        return major > 3 || (major == 3 && minor >= 1);
    }();
    return does;
}

// It ends with this process even if that is killed.
const std::vector<std::string> as_postgres{
    "setpriv", "--pdeathsig", "KILL", "--reuid=postgres", "--regid=postgres", "--clear-groups"};

std::vector<std::string> joined(std::vector<std::string> all,
                                const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

template <class Condition>
void await(const Condition& is_met, const std::string& otherwise) {
    for (const auto until = steady_clock::now() + settles; !is_met();) {
        if (steady_clock::now() > until) throw std::runtime_error(otherwise);
        std::this_thread::sleep_for(100ms);
    }
}

std::string namespace_of(const std::string& pid, const char* which) {
    std::error_code gone;
    return fs::read_symlink("/proc/" + pid + "/ns/" + which, gone).string();
}

}  // namespace

std::string patroni_cluster::why_not() {
    if (::geteuid() != 0) return "it needs root";
    for (const char* program : {"patroni", "etcd", "unshare", "setpriv"}) {
        if (run({"sh", "-c", std::string("command -v ") + program}, 5s).status.code != 0) {
            return std::string(program) + " is not installed: scripts/install-deps --nodes";
        }
    }
    return {};
}

patroni_cluster::patroni_cluster() {
    for (std::size_t n = 0; n < size; ++n) {
        etcd_client_[n] = free_port();
        etcd_peer_[n] = free_port();
        machines_[n].sql_port = free_port();
        machines_[n].rest_port = free_port();
    }
    for (std::size_t n = 0; n < size; ++n) write_config(n);
    fs::permissions(dir_.path(),
                    fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
    if (run({"chown", "-R", "postgres:", dir_.path()}, 5s).status.code != 0) {
        throw std::runtime_error("there is no user postgres");
    }
    for (std::size_t n = 0; n < size; ++n) start_etcd(n);
    for (std::size_t n = 0; n < size; ++n) start(n);
    await_whole();
}

fs::path patroni_cluster::dir_of(std::size_t n) const {
    return dir_.path() / ("m" + std::to_string(n));
}

void patroni_cluster::start_etcd(std::size_t n) {
    const auto http = [](std::uint16_t port) { return "http://" + local(port); };
    std::string all;
    for (std::size_t i = 0; i < size; ++i) {
        all += (i > 0 ? ",e" : "e") + std::to_string(i) + "=" + http(etcd_peer_[i]);
    }
    const std::string data = dir_.path() / ("e" + std::to_string(n));
    etcd_[n] = std::make_unique<process>(joined(as_postgres, {"etcd",
                                                              "--name",
                                                              "e" + std::to_string(n),
                                                              "--data-dir",
                                                              data,
                                                              "--listen-client-urls",
                                                              http(etcd_client_[n]),
                                                              "--advertise-client-urls",
                                                              http(etcd_client_[n]),
                                                              "--listen-peer-urls",
                                                              http(etcd_peer_[n]),
                                                              "--initial-advertise-peer-urls",
                                                              http(etcd_peer_[n]),
                                                              "--initial-cluster",
                                                              all,
                                                              "--enable-v2=true",
                                                              "--heartbeat-interval",
                                                              "100",
                                                              "--election-timeout",
                                                              "1000",
                                                              "--log-level",
                                                              "error"}));
}

void patroni_cluster::write_config(std::size_t n) const {
    const machine& m = machines_[n];
    std::ofstream file(dir_.path() / ("patroni" + std::to_string(n) + ".yml"));
    file << "scope: callsign\nname: m" << n << "\nrestapi: {listen: '" << local(m.rest_port)
         << "', connect_address: '" << local(m.rest_port) << "'}\n"
         << (speaks_new_etcd() ? "etcd3" : "etcd") << ": {hosts: [";
    for (std::size_t i = 0; i < size; ++i)
        file << (i ? ", '" : "'") << local(etcd_client_[i]) << "'";
    file << "]}\n"
            "bootstrap:\n"
            "  dcs:\n"
            "    ttl: "
         << (speaks_new_etcd() ? 20 : 10)
         << "\n"
            "    loop_wait: 1\n"
            "    retry_timeout: 3\n"
            "    synchronous_mode: true\n"
            "    synchronous_mode_strict: true\n"
            "    "
         << (speaks_new_etcd() ? "primary" : "master")
         << "_start_timeout: 0\n"
            "    postgresql:\n"
            "      use_pg_rewind: true\n"
            "      parameters: {max_connections: 100, shared_buffers: 64MB, wal_log_hints: 'on',"
            " wal_receiver_status_interval: 1s, wal_sender_timeout: 5s, wal_receiver_timeout: 5s}\n"
            "  initdb: [{encoding: UTF8}, {locale: C}, data-checksums]\n"
            "postgresql:\n"
            "  listen: "
         << local(m.sql_port) << "\n  connect_address: " << local(m.sql_port)
         << "\n  bin_dir: " << postgres_program("postgres").parent_path().string()
         << "\n  data_dir: " << dir_of(n).string() << "\n  pgpass: " << dir_of(n).string()
         << ".pgpass\n"
            "  pg_hba: [local all all trust, host all all 127.0.0.1/32 trust,"
            " host replication all 127.0.0.1/32 trust]\n"
            "  authentication:\n"
            "    superuser: {username: postgres, password: postgres}\n"
            "    replication: {username: replicator, password: replicator}\n"
            "    rewind: {username: rewinder, password: rewinder}\n"
            "  parameters: {unix_socket_directories: '"
         << dir_.path().string() << "'}\n";
}

// A machine that starts has no process of before.
void patroni_cluster::start(std::size_t n) {
    std::error_code none;
    fs::remove(dir_of(n) / "postmaster.pid", none);
    const std::string file = dir_.path() / ("patroni" + std::to_string(n) + ".yml");
    const std::string log = dir_.path() / ("patroni" + std::to_string(n) + ".log");
    machines_[n].runs = std::make_unique<process>(
        joined(joined({"setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork",
                       "--kill-child", "--mount-proc"},
                      as_postgres),
               {"sh", "-c", "exec patroni \"$0\" >> \"$1\" 2>&1", file, log}));
}

std::string patroni_cluster::url() const {
    std::string hosts;
    for (const machine& m : machines_) hosts += (hosts.empty() ? "" : ",") + local(m.sql_port);
    return "postgresql://postgres@" + hosts + "/postgres?target_session_attrs=read-write";
}

bool patroni_cluster::is(std::size_t machine, const char* role) const {
    http_client http(machines_[machine].rest_port, {}, 1s);
    const auto answer = http.get(role);
    return answer && answer->status == 200;
}

std::size_t patroni_cluster::await_role(const char* role) {
    std::size_t found = 0;
    const auto finds = [&] {
        for (found = 0; found < size; ++found) {
            if (is(found, role)) return true;
        }
        return false;
    };
    await(finds, std::string("no machine is ") + role);
    return found;
}

std::size_t patroni_cluster::primary() {
    return await_role("/primary");
}
std::size_t patroni_cluster::synchronous_standby() {
    return await_role("/sync");
}

void patroni_cluster::await_whole() {
    primary();
    synchronous_standby();
    for (std::size_t n = 0; n < size; ++n) {
        await([&] { return is(n, "/health"); }, "a machine did not return");
    }
}

std::vector<pid_t> patroni_cluster::members(std::size_t machine) const {
    const std::string its =
        namespace_of(std::to_string(machines_[machine].runs->id()), "pid_for_children");
    std::vector<pid_t> all;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        if (name[0] < '0' || name[0] > '9' || namespace_of(name, "pid") != its) continue;
        all.push_back(std::stoi(name));
    }
    return all;
}

void patroni_cluster::signal_all(std::size_t machine, int signal) const {
    for (const pid_t each : members(machine)) ::kill(each, signal);
}

void patroni_cluster::kill(std::size_t machine) {
    machines_[machine].runs->kill();
}
// Twice: a process may have been made meanwhile.
void patroni_cluster::pause(std::size_t machine) {
    for (int n = 0; n < 2; ++n) signal_all(machine, SIGSTOP);
}
void patroni_cluster::resume(std::size_t machine) {
    signal_all(machine, SIGCONT);
}

void patroni_cluster::kill_postgres(std::size_t machine) {
    std::ifstream file(dir_of(machine) / "postmaster.pid");
    std::string wanted;
    file >> wanted;  // in the namespace
    for (const pid_t each : members(machine)) {
        std::ifstream status("/proc/" + std::to_string(each) + "/status");
        for (std::string line; std::getline(status, line);) {
            if (!line.starts_with("NSpid:")) continue;
            if (line.substr(line.find_last_of('\t') + 1) == wanted) ::kill(each, SIGKILL);
        }
    }
}

void patroni_cluster::switch_over() {
    const std::size_t from = primary();
    synchronous_standby();
    http_client http(machines_[from].rest_port, {}, 30s);
    const auto answer =
        http.request("POST", "/switchover", {}, "{\"leader\": \"m" + std::to_string(from) + "\"}");
    if (!answer || answer->status != 200) {
        throw std::runtime_error("no switchover: " + (answer ? answer->body : "no response"));
    }
}

std::string patroni_cluster::query(const std::string& sql) {
    return query_postgres(url(), sql);
}

}  // namespace callsign::testing
