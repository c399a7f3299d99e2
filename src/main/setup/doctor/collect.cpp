// Collects facts by small queries. None creates or changes anything; each reports what it could not
// find out.

#include "../listen_address.hpp"
#include "doctor.hpp"
#include "evaluate.hpp"

#include <callsign/base/describe_file_error.hpp>
#include <callsign/domain/backup.hpp>
#include <callsign/net/certificate.hpp>
#include <callsign/rules/sight.hpp>
#include <callsign/seal/at_rest.hpp>

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

namespace callsign::setup {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

// Installed by the package.
constexpr const char* packaged_config = "/etc/callsign/callsign.toml";

config_source source_of(const doctor_question& q) {
    config_source source;
    source.file = q.config_file;
    source.environment = q.environment;
    if (!q.data_dir.empty()) source.flags.emplace_back("store.data_dir", q.data_dir);
    return source;
}

file_facts look_at(const fs::path& path) {
    file_facts file{.path = path};
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        if (errno != ENOENT && errno != ENOTDIR) file.trouble = describe_file_error(path, errno);
        return file;
    }
    file.exists = true;
    file.is_directory = S_ISDIR(status.st_mode);
    file.owner = status.st_uid;
    file.owner_name = user_name(status.st_uid);
    file.mode = status.st_mode & 0777u;
    file.readable = ::access(path.c_str(), R_OK) == 0;
    file.writable = ::access(path.c_str(), W_OK) == 0;
    return file;
}

// Returns the path, or its nearest existing parent, where a missing directory would be created.
fs::path existing_part_of(fs::path path) {
    std::error_code unknown;
    path = fs::absolute(path, unknown).lexically_normal();
    while (!fs::exists(path, unknown) && path != path.root_path()) path = path.parent_path();
    return path;
}

disk_facts look_at_disk(const fs::path& data_dir) {
    disk_facts disk{.at = existing_part_of(data_dir)};
    struct statvfs found {};
    if (::statvfs(disk.at.c_str(), &found) != 0) {
        disk.trouble = describe_file_error(disk.at, errno);
        return disk;
    }
    disk.free_bytes = std::uintmax_t{found.f_bavail} * found.f_frsize;
    disk.disk_bytes = std::uintmax_t{found.f_blocks} * found.f_frsize;
    disk.free_inodes = found.f_favail;
    disk.inodes = found.f_files;
    const sqlite_space store = space_of(data_dir);
    disk.database_bytes = store.database_bytes;
    disk.log_bytes = store.log_bytes;
    return disk;
}

// Returns nullopt if the kernel does not report it, as in some containers.
std::optional<bool> is_clock_synchronised() {
    timex state{};  // no modes: reads only
    const int answer = ::adjtimex(&state);
    if (answer < 0) return std::nullopt;
    return answer != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

// "Max open files            1024                 524288               files"
open_file_facts limits_of_process(std::int64_t process) {
    open_file_facts found{.of_server = true};
    std::ifstream limits("/proc/" + std::to_string(process) + "/limits");
    for (std::string line; std::getline(limits, line);) {
        constexpr std::string_view name = "Max open files";
        if (!line.starts_with(name)) continue;
        std::istringstream words(line.substr(name.size()));
        std::string soft;
        words >> soft >> found.hard;
        if (words) return found;
    }
    found.trouble = "the limits of process " + std::to_string(process) +
                    " cannot be read: run this as its user";
    return found;
}

open_file_facts look_at_limits(std::int64_t server) {
    if (server > 0) {
        open_file_facts of_server = limits_of_process(server);
        if (of_server.trouble.empty()) return of_server;
    }
    open_file_facts own;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) own.trouble = "ulimit -Hn says it";
    own.hard = limit.rlim_max;
    return own;
}

master_key_facts look_at_master_key(const config& c, const store_state& store) {
    master_key_facts found;
    found.is_given = c.secrets.master_key != nullptr;
    if (found.is_given) found.former = c.secrets.master_key->former();
    if (!store.device) return found;
    found.store_needs_it = true;
    if (!found.is_given) return found;
    const seal::belongs_to owner{seal::purpose::device_key, store.device->account,
                                 store.device->client_id};
    const auto opened = c.secrets.master_key->open(owner, store.device->sealed_key);
    found.opens_store = std::holds_alternative<seal::secret_bytes>(opened);
    return found;
}

// Returns "::1" for "https://[::1]:8443/base".
std::string host_of(std::string_view url) {
    const auto begin = url.find("://");
    if (begin == url.npos) return {};
    url.remove_prefix(begin + 3);
    url = url.substr(0, url.find('/'));
    if (url.starts_with('[')) return std::string(url.substr(1, url.find(']') - 1));
    return std::string(url.substr(0, url.find(':')));
}

certificate_facts look_at_certificate(const config& c) {
    certificate_facts found;
    found.is_given = !c.tls.certificate.empty();
    if (!found.is_given || !c.http.tls) return found;
    found.expires = c.tls.expires;
    found.public_host = host_of(c.api.public_url);
    found.fits_host =
        found.public_host.empty() || net::is_for_host(c.tls.certificate, found.public_host);
    return found;
}

backup_facts look_at_backups(const config& c) {
    backup_facts found{.directory = c.backup.directory, .every = c.backup.every};
    if (found.directory.empty()) return found;
    if (const file_facts dir = look_at(found.directory); !dir.exists || !dir.readable) {
        // The error that making a backup there would have.
        found.trouble = dir.trouble.empty()
                            ? describe_file_error(found.directory / "backup",
                                                  dir.exists ? EACCES : ENOENT, file_use::making)
                            : dir.trouble;
        return found;
    }
    try {
        const auto all = list_backups(found.directory);
        if (!all.empty()) found.newest = time_of_backup(all.back().filename().string());
    } catch (const std::exception& e) {
        found.trouble = e.what();
    }
    return found;
}

// Returns none if no Patroni responds.
std::optional<patroni_facts> look_at_patroni(const doctor_question& q, const std::string& host,
                                             std::size_t port) {
    try {
        const auto about = json::parse(q.ask_patroni(host, port, "/patroni"));
        const auto config = json::parse(q.ask_patroni(host, port, "/config"));
        const auto is_set = [&](const char* name) {
            const json::value* const value = config.as_object().if_contains(name);
            return value && value->is_bool() && value->as_bool();
        };
        return patroni_facts{host, std::string(about.at("patroni").at("version").as_string()),
                             is_set("synchronous_mode"), is_set("synchronous_mode_strict")};
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

void look_at_database(const doctor_question& q, const config& c, facts& f) {
    f.database = inspect_postgres(
        c.postgres, [&](read_tx& tx) { return rules::look_at(tx, q.now - incomplete_after); });
    const database_state& its = *f.database;
    f.store = {};
    static_cast<store_sight&>(f.store) = its.rows;
    f.store.exists = its.schema > 0;
    f.store.unread = its.unreached.empty() ? its.unread : its.unreached;
    f.patroni_port = c.patroni_port;
    if (!q.ask_patroni || c.patroni_port == 0) return;
    for (const std::string& host : its.hosts) {
        if (auto one = look_at_patroni(q, host, c.patroni_port)) f.patroni.push_back(*one);
    }
}

// Tests whether something could listen there, without accepting connections.
void try_port(port_facts& port, const boost::asio::ip::tcp::endpoint& at) {
    if (at.port() == 0) return;
    const int fd = ::socket(at.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        port.trouble = std::generic_category().message(errno);
        return;
    }
    const int yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const bool is_free = ::bind(fd, at.data(), static_cast<socklen_t>(at.size())) == 0;
    const int error = errno;
    ::close(fd);
    if (is_free) return;
    port.trouble = std::generic_category().message(error);
    port.is_taken = error == EADDRINUSE;
    port.is_rejected = error == EACCES;
}

port_facts look_at_port(const config& c, bool is_running) {
    port_facts port{.listen = c.server.listen};
    const auto at = to_endpoint(c.server.listen);
    port.is_loopback = at.address().is_loopback();
    port.speaks_tls = !c.tls.certificate.empty();
    port.is_behind_tls = c.api.public_url.starts_with("https://");
    if (!is_running) try_port(port, at);
    return port;
}

void look_at_files(const config& c, facts& f) {
    const fs::path& dir = c.store.data_dir;
    f.data_dir = look_at(dir);
    for (const char* name : {"callsign.sqlite3", "callsign.sqlite3-wal", "callsign.sqlite3-shm",
                             "callsign.lock", "callsign.reserve", "admin.token"}) {
        f.data_files.push_back(look_at(dir / name));
    }
    f.secret_files.push_back(look_at(dir / "admin.token"));
    if (!c.secrets.master_key_file.empty()) {
        f.secret_files.push_back(look_at(c.secrets.master_key_file));
    }
    if (!c.tls.key.empty()) {
        f.secret_files.push_back(look_at(c.tls.key));
        f.secret_files.back().is_for_group = true;
    }
}

}  // namespace

facts collect(const doctor_question& q) {
    facts f;
    f.now = q.now;
    f.user = ::geteuid();
    f.user_name = user_name(f.user);
    const config_reading reading = read_config(source_of(q));
    const config& c = reading.read;
    f.config_file = q.config_file;
    f.config_faults = reading.faults;
    std::error_code unknown;
    if (fs::exists(packaged_config, unknown)) f.packaged_config = packaged_config;
    f.unknown_names = unknown_names(q.variables);

    look_at_files(c, f);
    f.disk = look_at_disk(c.store.data_dir);
    f.clock_is_synchronised = is_clock_synchronised();
    f.sqlite = sqlite_in_use();
    if (c.postgres.url.empty()) {
        f.store = inspect_store(c.store.data_dir, [&](read_tx& tx) {
            return rules::look_at(tx, q.now - incomplete_after);
        });
    } else {
        look_at_database(q, c, f);
    }
    f.is_running = f.store.holder != 0;
    f.open_files = look_at_limits(f.store.holder);
    f.connections_max = c.http.connections_max;
    f.master_key = look_at_master_key(c, f.store);
    f.certificate = look_at_certificate(c);
    f.backups = look_at_backups(c);
    f.window = c.reaper.window.value_or(c.reaper.automatic.window_max);
    f.interval = c.reaper.interval;
    if (q.ask) {
        const bool is_read = f.store.exists && f.store.unread.empty();
        f.server = q.ask(c.store.data_dir, !is_read);
        f.is_running = f.is_running || f.server->error.empty() || f.server->is_alive;
    }
    f.port = look_at_port(c, f.is_running);
    return f;
}

std::vector<diagnosis> examine(const doctor_question& question) {
    try {
        return evaluate(collect(question));
    } catch (const std::exception& e) {
        return {{"doctor", verdict::error, std::string("the checks cannot be made: ") + e.what(),
                 "report it"}};
    }
}

}  // namespace callsign::setup
