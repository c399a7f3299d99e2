#include "evaluate.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>

namespace callsign::setup {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Permissions of others than a file's user.
constexpr unsigned of_others = 077;
constexpr unsigned of_strangers = 007;  // if its group may read it
constexpr unsigned written_by_others = 022;

// Automatic renewal happens long before this.
constexpr milliseconds expiry_noticed = std::chrono::days{7};
// An owner writes a row every two seconds; clocks of two machines differ by less than the rest.
constexpr milliseconds silence_noticed = 10s;
// Clocks of one network differ by less.
constexpr milliseconds clock_noticed = 1min;
constexpr std::uintmax_t mebibyte = std::uintmax_t{1} << 20;
// Below these the next WAL, or the next migration, may not fit.
constexpr std::uintmax_t free_bytes_min = 64 * mebibyte;
constexpr std::uintmax_t free_inodes_min = 1000;
// The store's files, and connections that are rejected because there are too many.
constexpr std::uintmax_t files_beside_connections = 160;

// The findings of one check, line by line.
class check {
  public:
    check(std::vector<diagnosis>& all, std::string name) : all_(all), name_(std::move(name)) {}

    void ok(std::string found) { say(verdict::ok, std::move(found), ""); }
    void warn(std::string found, std::string advice) {
        say(verdict::warning, std::move(found), std::move(advice));
    }
    void error(std::string found, std::string advice) {
        say(verdict::error, std::move(found), std::move(advice));
    }
    void skip(std::string found, std::string advice) {
        say(verdict::skipped, std::move(found), std::move(advice));
    }
    bool has_said() const noexcept { return said_; }

  private:
    void say(verdict v, std::string found, std::string advice) {
        said_ = true;
        all_.push_back({name_, v, std::move(found), std::move(advice)});
    }

    std::vector<diagnosis>& all_;
    std::string name_;
    bool said_ = false;
};

std::string bytes_text(std::uintmax_t bytes) {
    constexpr std::uintmax_t gibibyte = 1024 * mebibyte;
    if (bytes >= gibibyte) return std::to_string(bytes / gibibyte) + " GiB";
    if (bytes >= mebibyte) return std::to_string(bytes / mebibyte) + " MiB";
    return std::to_string(bytes / 1024) + " KiB";
}

// Uses the largest unit of which there are two.
std::string span_text(milliseconds span) {
    if (span >= std::chrono::days{2}) return std::to_string(span / std::chrono::days{1}) + " days";
    if (span >= 2h) return std::to_string(span / 1h) + " hours";
    if (span >= 2min) return std::to_string(span / 1min) + " minutes";
    return std::to_string(span / 1s) + " seconds";
}

std::string mode_text(unsigned mode) {
    std::string digits;
    for (int shift = 6; shift >= 0; shift -= 3) {
        digits += static_cast<char>('0' + (mode >> shift & 7u));
    }
    return digits;
}

bool is_of_master_key(const config_fault& fault) {
    return fault.where == "CALLSIGN_MASTER_KEY" ||
           fault.text.starts_with("secrets.master_key_file");
}

bool is_of_tls(const config_fault& fault) {
    return fault.text.starts_with("tls.certificate: ") || fault.text.starts_with("tls.key: ");
}

// ---- the configuration ----

void judge_config(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "config");
    for (const config_fault& fault : f.config_faults) {
        if (is_of_master_key(fault) || is_of_tls(fault)) continue;
        c.error(fault.where + ": " + fault.text, "fix it, then run callsignd --check-config");
    }
    if (c.has_said()) return;
    if (f.config_file) return c.ok(f.config_file->string());
    if (!f.packaged_config.empty()) {
        return c.skip("no configuration file given, and the service uses one",
                      "callsign doctor --config " + f.packaged_config.string());
    }
    c.ok("no configuration file: defaults and environment variables");
}

void judge_environment(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "environment");
    for (const unknown_name& each : f.unknown_names) {
        c.warn(each.name + " is not a setting and is ignored",
               each.nearest.empty() ? "unset " + each.name : "rename it to " + each.nearest);
    }
    if (!c.has_said()) c.ok("no unknown variables with the prefix CALLSIGN_");
}

// ---- the disk ----

std::string as_its_user(const file_facts& file) {
    return "sudo -u " + file.owner_name + " callsign doctor ...";
}

void judge_data_dir(const facts& f, check& c) {
    const file_facts& dir = f.data_dir;
    const std::string path = dir.path.string();
    if (!dir.trouble.empty()) return c.error(path, dir.trouble);
    if (!dir.exists) {
        return c.error(path + " does not exist",
                       "start callsignd, which creates it, or give another one with --data-dir");
    }
    if (!dir.is_directory)
        return c.error(path + " is not a directory", "give another one with --data-dir");
    if ((dir.mode & written_by_others) != 0) {
        c.error(path + " is writable by others (mode " + mode_text(dir.mode) + ")",
                "chmod 700 " + path);
    }
    if (dir.readable && dir.writable) return;
    if (dir.owner == f.user) {
        return c.error(path + " is not writable by its owner " + f.user_name, "chmod 700 " + path);
    }
    c.skip(path + " belongs to " + dir.owner_name + ", and " + f.user_name + " cannot write it",
           as_its_user(dir));
}

// A server that runs as the directory's user could not use a file of another user's.
void judge_owner(const facts& f, const file_facts& file, check& c) {
    if (!file.exists || !f.data_dir.exists || file.owner == f.data_dir.owner) return;
    if (f.data_dir.owner == 0) return;
    c.error(file.path.string() + " belongs to " + file.owner_name + ", the directory to " +
                f.data_dir.owner_name,
            "chown " + f.data_dir.owner_name + " " + file.path.string());
}

void judge_permissions(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "permissions");
    judge_data_dir(f, c);
    for (const file_facts& file : f.data_files) {
        judge_owner(f, file, c);
        if (!file.exists || f.data_dir.owner != f.user) continue;
        if (!file.readable || !file.writable) {
            c.error(file.path.string() + " is not writable by the server",
                    "chmod u+rw " + file.path.string());
        }
        if ((file.mode & written_by_others) != 0) {
            c.error(
                file.path.string() + " is writable by others (mode " + mode_text(file.mode) + ")",
                "chmod 600 " + file.path.string());
        }
    }
    for (const file_facts& file : f.secret_files) {
        if (!file.trouble.empty()) c.error(file.path.string(), file.trouble);
        if (!file.exists) continue;
        const unsigned open_to = file.mode & (file.is_for_group ? of_strangers : of_others);
        if (open_to != 0) {
            c.error(file.path.string() + " is a secret readable by others (mode " +
                        mode_text(file.mode) + ")",
                    "chmod 600 " + file.path.string());
        }
        if (!file.readable && file.owner != f.user) {
            c.skip(file.path.string() + " belongs to " + file.owner_name + ", and " + f.user_name +
                       " cannot read it",
                   as_its_user(file));
        }
    }
    if (!c.has_said()) {
        c.ok(f.data_dir.path.string() + " belongs to " + f.data_dir.owner_name +
             "; other users cannot read its secrets");
    }
}

void judge_disk(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "disk");
    const disk_facts& d = f.disk;
    if (!d.trouble.empty()) return c.skip("cannot be checked", d.trouble);
    const std::uintmax_t store = d.database_bytes + d.log_bytes;
    const std::string free = bytes_text(d.free_bytes) + " free of " + bytes_text(d.disk_bytes) +
                             ", store size " + bytes_text(store);
    const std::string room = "free space on the disk of " + d.at.string();
    if (d.free_bytes < free_bytes_min / 4) {
        c.error(free + ": writes fail or will fail soon", room);
    } else if (d.free_bytes < free_bytes_min) {
        c.warn(free + ": almost full", room);
    } else if (d.free_bytes < store) {
        c.warn(free + ": not enough free space for a backup",
               room + ", or write backups to another disk");
    }
    if (d.inodes > 0 && d.free_inodes < free_inodes_min) {
        c.warn(std::to_string(d.free_inodes) + " free inodes left",
               "delete unneeded small files there (df -i " + d.at.string() + ")");
    }
    if (!c.has_said()) c.ok(free);
}

// ---- time ----

void judge_clock(const facts& f, std::vector<diagnosis>& all) {
    constexpr time_point written_before{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
    constexpr time_point unlikely{std::chrono::sys_days{std::chrono::year{2100} / 1 / 1}};
    check c(all, "clock");
    const std::string set = "timedatectl set-ntp true";
    if (f.now < written_before || f.now >= unlikely) {
        c.error("this machine's clock says " + to_rfc3339(f.now) + ", which is impossible", set);
    } else if (f.store.last_moment > f.now + clock_noticed) {
        const std::string repair =
            "; if it is right, stop the server and run callsign repair-clock --data-dir " +
            f.data_dir.path.string();
        c.error("the clock says " + to_rfc3339(f.now) + ", but the store has timestamps up to " +
                    to_rfc3339(f.store.last_moment),
                set + (f.database ? "" : repair));
    }
    if (f.clock_is_synchronised && !*f.clock_is_synchronised) {
        c.warn("clock is not synchronised", set);
    }
    if (!c.has_said()) {
        c.ok(to_rfc3339(f.now) +
             (f.clock_is_synchronised ? ", synchronised" : "; synchronisation unknown"));
    }
}

// ---- the store ----

void judge_sqlite(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "sqlite");
    std::string found = "SQLite " + f.sqlite.version;
    if (f.sqlite.loses_pages) {
        found +=
            " can lose pages when two connections write (the WAL-reset bug, until 3.51.3); "
            "not affected: the server writes with one connection";
    }
    const bool has_rows = f.store.exists && f.store.is_database && f.store.unreadable.empty();
    if (has_rows && f.store.is_own && !f.store.is_wal) {
        c.warn("callsign.sqlite3 is not in WAL mode: another program changed it",
               "start callsignd, which sets it, and do not let other programs write the file");
    }
    if (!c.has_said()) c.ok(found);
}

void judge_schema(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "schema");
    const store_state& s = f.store;
    const std::string file = (f.data_dir.path / "callsign.sqlite3").string();
    const std::string numbers =
        "schema " + std::to_string(s.schema) + ", supported: " + std::to_string(s.schema_known);
    if (!s.unreadable.empty()) return c.error(file + " cannot be read", s.unreadable);
    if (!s.exists) {
        return c.skip("there is no " + file,
                      "start callsignd, which creates it, or give another "
                      "directory with --data-dir");
    }
    const std::string others = "give another directory with --data-dir";
    if (!s.is_database) return c.error(file + " is not a SQLite database or is damaged", others);
    if (!s.is_own) return c.error(file + " is another program's database", others);
    if (s.schema > s.schema_known) {
        return c.error("store schema is newer (" + numbers + ")",
                       "install the newer version again, or restore a backup of this version");
    }
    if (s.schema < s.schema_known) {
        return c.warn("store schema is older (" + numbers + "); the next start migrates it",
                      "back it up first, with the running version: callsign backup DIR");
    }
    if (!s.unread.empty()) {
        return c.skip("rows cannot be read (" + s.unread + ")",
                      "callsign check --data-dir " + f.data_dir.path.string());
    }
    c.ok(numbers);
}

// ---- a database ----

void judge_postgres(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "postgresql");
    const database_state& d = *f.database;
    if (!d.unreached.empty()) {
        return c.error("the database does not respond: " + d.unreached,
                       "check store.url, and that PostgreSQL accepts this host and role");
    }
    const std::string name = "PostgreSQL " + d.version;
    if (!d.is_supported) c.error(name + " is too old", "upgrade it to PostgreSQL 15 or later");
    if (d.is_pooled) {
        c.error("a pooler shares sessions between transactions",
                "connect to PostgreSQL itself, or set the pooler to session mode");
    }
    if (d.loses_at_crash) {
        c.error(name + " runs with fsync or full_page_writes off: a crash loses or damages data",
                "turn them on in postgresql.conf");
    }
    const bool is_replicated = d.standbys > 0 || f.patroni.size() > 1;
    if (is_replicated && d.synchronous.empty() && !d.is_standby) {
        c.warn("commits wait for no standby: a failover can lose acknowledged changes",
               "set synchronous_standby_names, or synchronous_mode in Patroni");
    }
    if (c.has_said()) return;
    c.ok(name + (d.is_standby      ? ", a standby"
                 : d.standbys == 0 ? ", without a standby"
                 : d.standbys == 1
                     ? ", 1 standby, synchronous commits"
                     : ", " + std::to_string(d.standbys) + " standbys, synchronous commits"));
}

// "3.0.2" is before 3.1.
bool wins_late(const std::string& patroni_version) {
    int major = 0, minor = 0;
    std::istringstream text(patroni_version);
    char dot = 0;
    text >> major >> dot >> minor;
    return major < 3 || (major == 3 && minor < 1);
}

void judge_patroni(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "patroni");
    if (f.patroni_port == 0) return c.ok("not used (store.patroni_port is 0)");
    if (f.patroni.empty()) {
        return c.skip(
            "no Patroni responds on port " + std::to_string(f.patroni_port),
            "set store.patroni_port to the port of its REST API, or to 0 without Patroni");
    }
    std::string found;
    for (const patroni_facts& each : f.patroni) {
        found += (found.empty() ? "" : ", ") + each.version + " on " + each.host;
        if (wins_late(each.version)) {
            c.warn(
                "Patroni " + each.version + " on " + each.host +
                    " loses acknowledged commits if it uses etcd3: and a leader pauses longer "
                    "than its TTL",
                "use etcd: in its configuration (etcd --enable-v2=true), or Patroni 3.1 or later");
        }
    }
    const patroni_facts& any = f.patroni.front();
    if (!any.is_synchronous) {
        c.warn("synchronous_mode is off: a failover can lose acknowledged changes",
               "patronictl edit-config -s synchronous_mode=true -s synchronous_mode_strict=true");
    } else if (!any.is_strict) {
        c.warn("synchronous_mode_strict is off: without a standby commits are asynchronous",
               "patronictl edit-config -s synchronous_mode_strict=true");
    }
    if (!c.has_said()) c.ok(found + ", strictly synchronous");
}

void judge_batch_log(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "batch log");
    const database_state& d = *f.database;
    if (!d.last) {
        return c.skip("there is no store" + std::string(d.unreached.empty() ? "" : " to be seen"),
                      "start callsignd, which creates it");
    }
    if (d.last->lost_through > 0) {
        c.error("the database has lost batches up to " + std::to_string(d.last->lost_through) +
                    ", and no server has held the series yet",
                "start callsignd, then resume each series: callsign series resume PREFIX --account "
                "NAME --at N");
    }
    if (d.last->kind == log_kind::moving) {
        c.warn("a move of the store is in progress or unfinished",
               "run the same callsign move again");
    } else if (d.last->kind == log_kind::moved) {
        c.warn("the store was moved from this database to another place",
               "set store.url to that place");
    }
    const milliseconds age = std::max(f.now - d.last_at, 0ms);
    const std::string row = "row " + std::to_string(d.last->n) + " was written " + span_text(age) +
                            " ago by " + d.server;
    const bool is_ended = d.last->kind == log_kind::release;
    if (!c.has_said() && (is_ended || age > silence_noticed)) {
        c.warn("no server owns the store: " + row, "start callsignd");
    }
    if (!c.has_said()) {
        c.ok(row + "; takeovers in the last " + std::to_string(d.log_rows) +
             " rows: " + std::to_string(d.takeovers));
    }
}

void judge_database_schema(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "schema");
    const database_state& d = *f.database;
    const std::string numbers =
        "schema " + std::to_string(d.schema) + ", supported: " + std::to_string(d.schema_known);
    if (d.schema == 0) {
        return c.skip("there is no store in the database", "start callsignd, which creates it");
    }
    if (d.schema > d.schema_known) {
        return c.error("store schema is newer (" + numbers + ")",
                       "install the newer version again");
    }
    if (d.schema < d.schema_known) {
        return c.warn("store schema is older (" + numbers + "); the next start migrates it",
                      "back up the database first");
    }
    if (!d.unread.empty()) {
        return c.skip("rows cannot be read (" + d.unread + ")", "callsign check --store URL");
    }
    c.ok(numbers);
}

// ---- the process ----

void judge_open_files(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "open files");
    const open_file_facts& o = f.open_files;
    const std::string raise =
        "raise the limit (LimitNOFILE= in the unit, ulimit -Hn) or lower http.connections_max";
    if (!o.trouble.empty()) return c.skip("limit unknown", o.trouble);
    const std::uintmax_t needed = f.connections_max + files_beside_connections;
    const std::string found = "limit " + std::to_string(o.hard) +
                              (o.of_server ? " for the server" : "") +
                              ", http.connections_max is " + std::to_string(f.connections_max);
    // The server raises its own limit up to this one.
    if (o.hard < needed) return c.warn(found + ": the server accepts fewer connections", raise);
    c.ok(found);
}

void judge_master_key(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "master key");
    for (const config_fault& fault : f.config_faults) {
        if (!is_of_master_key(fault)) continue;
        c.error(fault.where + ": " + fault.text,
                "restore the file, readable by the server's user only; callsign "
                "master-key new FILE creates a new key, which cannot decrypt existing data");
    }
    const master_key_facts& k = f.master_key;
    if (c.has_said()) return;
    if (k.opens_store && !*k.opens_store) {
        return c.error("master key does not match the store", "restore its key file from the copy");
    }
    if (!k.is_given && k.store_needs_it) {
        return c.error("no master key, and devices of this store need it",
                       "set secrets.master_key_file to its file");
    }
    if (!k.is_given) {
        return c.skip("no master key; only devices and webhooks need one",
                      "callsign master-key new FILE, then secrets.master_key_file = \"FILE\"");
    }
    if (k.former > 0) {
        return c.warn("former keys still in the file: " + std::to_string(k.former),
                      "restart the server, then run callsign master-key drop-former FILE");
    }
    c.ok(k.opens_store ? "matches the store" : "present; nothing is encrypted with it yet");
}

void judge_certificate(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "tls");
    for (const config_fault& fault : f.config_faults) {
        if (is_of_tls(fault)) c.error(fault.where + ": " + fault.text, "fix it, then send SIGHUP");
    }
    const certificate_facts& t = f.certificate;
    if (c.has_said()) return;
    if (!t.is_given || !t.expires) return c.ok("not used: the server uses plain HTTP");
    const std::string renew = "renew the certificate, then send SIGHUP (systemctl reload callsign)";
    const milliseconds left = *t.expires - f.now;
    if (left <= 0ms) {
        c.error("the certificate expired " + span_text(-left) + " ago", renew);
    } else if (left <= expiry_noticed) {
        c.warn("the certificate expires in " + span_text(left), renew);
    }
    if (!t.fits_host) {
        c.error(
            "the certificate is not valid for " + t.public_host + " (server.public_url)",
            "get a certificate for that name, or set server.public_url to the certificate's name");
    }
    if (!c.has_said()) c.ok("the certificate expires in " + span_text(left));
}

// ---- the running server ----

std::string not_asked(const facts& f) {
    return f.is_running ? f.server ? f.server->error : "the server was not asked"
                        : "no server runs";
}

void judge_slots(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "oldest slot");
    const bool is_asked = f.server && f.server->error.empty();
    if (!is_asked && (!f.store.exists || !f.store.unread.empty() || !f.store.is_own)) {
        return c.skip("slots cannot be checked (" + not_asked(f) + ")",
                      "callsign slots list --state pending, when a server runs");
    }
    const auto oldest = is_asked ? f.server->oldest_pending : f.store.oldest_pending;
    const milliseconds window = is_asked ? f.server->window : f.window;
    const milliseconds interval = is_asked ? f.server->interval : f.interval;
    if (!oldest) return c.ok("no slot is pending");
    const milliseconds age = f.now - *oldest;
    const std::string found =
        "the oldest pending slot is " + span_text(std::max(age, 0ms)) + " old";
    if (age <= window + 3 * interval) return c.ok(found);
    if (!is_asked) {
        return c.warn(found + ", and no server is running",
                      "start callsignd: its reaper settles the slot after the window");
    }
    c.warn(found + ", the window is " + span_text(window) +
               (f.server->last_sweep ? ", the last sweep was " + to_rfc3339(*f.server->last_sweep)
                                     : ", no sweep yet"),
           "run callsign reaper sweep, then callsign reaper status");
}

void judge_held(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "held series");
    const bool is_asked = f.server && f.server->error.empty();
    const bool is_read = f.store.exists && f.store.is_own && f.store.unread.empty();
    if (!is_read && !is_asked) {
        return c.skip("series cannot be checked (" + not_asked(f) + ")",
                      "callsign series list ACCOUNT, when a server runs");
    }
    for (const held_series& each : is_read ? f.store.held : f.server->held) {
        c.warn("series " + each.prefix + " of account " + each.account + " is held since a restore",
               "callsign series resume " + each.prefix + " --account " + each.account + " --at N");
    }
    if (is_read && f.store.held_count > static_cast<std::int64_t>(f.store.held.size())) {
        c.warn(std::to_string(f.store.held_count) + " series are held; these are the first",
               "callsign series list ACCOUNT");
    }
    if (!c.has_said()) c.ok("no series is held");
}

void judge_incomplete(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "incomplete tasks");
    const bool is_read = f.store.exists && f.store.is_own && f.store.unread.empty();
    if (!is_read) {
        return c.skip("tasks cannot be checked", "callsign check, when the store can be read");
    }
    for (const incomplete_task& each : f.store.incomplete) {
        c.warn(each.key + " of " + each.account + " (" + to_string(each.uuid) +
                   ") lacks a description or a status",
               "import the task export of the device that created it: docs/operations.md, "
               "Incomplete tasks");
    }
    const std::int64_t more =
        f.store.incomplete_count - static_cast<std::int64_t>(f.store.incomplete.size());
    if (more > 0) {
        c.warn("and " + std::to_string(more) + " more incomplete tasks",
               "callsign check lists up to " + std::to_string(check_report::incomplete_max));
    }
    if (!c.has_said()) c.ok("every task has a description and a status");
}

void judge_backups(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "backups");
    const backup_facts& b = f.backups;
    if (f.database) return c.ok("made by PostgreSQL's own tools, if at all: docs/nodes.md");
    if (b.directory.empty()) {
        return c.warn("scheduled backups disabled",
                      "set backup.directory and backup.every, or run callsign backup DIR daily");
    }
    const std::string dir = b.directory.string();
    if (!b.trouble.empty()) return c.error(dir + " cannot be read", b.trouble);
    // A backup is made when it is due, and takes time.
    const milliseconds late = 2 * b.every;
    if (!b.newest) {
        return c.warn("no backup in " + dir,
                      f.is_running ? "the server creates one at once: if none appears, see its log"
                                   : "start callsignd, which creates one at once");
    }
    const milliseconds age = f.now - *b.newest;
    const std::string found =
        "newest backup in " + dir + " is " + span_text(std::max(age, 0ms)) + " old";
    if (age > late) {
        return c.error(found + ", and backup.every is " + span_text(b.every),
                       f.is_running ? "see the server log (backup failed)" : "start callsignd");
    }
    c.ok(found);
}

void judge_port(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "port");
    const port_facts& p = f.port;
    if (!p.is_loopback && !p.speaks_tls && !p.is_behind_tls) {
        c.warn(p.listen + " accepts unencrypted connections from other hosts",
               "set tls.certificate and tls.key, or server.public_url to the https address of the "
               "proxy");
    }
    if (!f.is_running && p.is_taken) {
        c.error("another program listens on " + p.listen,
                "stop it (ss -ltnp shows which), or choose another server.listen");
    } else if (!f.is_running && p.is_rejected) {
        c.warn(p.listen + " cannot be used by " + f.user_name,
               "grant the service the capability (AmbientCapabilities=CAP_NET_BIND_SERVICE)");
    } else if (!f.is_running && !p.trouble.empty()) {
        c.error("cannot listen on " + p.listen + ": " + p.trouble, "choose another server.listen");
    }
    if (!c.has_said()) c.ok(f.is_running ? "a server is running" : p.listen + ", free");
}

void judge_server(const facts& f, std::vector<diagnosis>& all) {
    check c(all, "server");
    if (f.server && !f.server->not_ready.empty()) {
        return c.error("server rejects writes: " + f.server->not_ready,
                       "the server log names the location; callsign check lists all damage");
    }
    const bool stands_by = f.server && f.server->is_alive && f.database && f.database->last;
    if (stands_by) return c.ok("server stands by: " + f.server->error);
    if (f.server && !f.server->error.empty() && f.is_running) {
        return c.error("server does not respond: " + f.server->error,
                       "see the server log; give its address with --url");
    }
    if (f.server && f.server->error.empty()) return c.ok("server responds");
    c.skip("no server runs on " + f.data_dir.path.string(),
           "checks of a running server were skipped");
}

}  // namespace

std::vector<diagnosis> evaluate(const facts& f) {
    std::vector<diagnosis> all;
    judge_config(f, all);
    judge_environment(f, all);
    judge_permissions(f, all);
    judge_disk(f, all);
    judge_clock(f, all);
    if (f.database) {
        judge_postgres(f, all);
        judge_patroni(f, all);
        judge_batch_log(f, all);
        judge_database_schema(f, all);
    } else {
        judge_sqlite(f, all);
        judge_schema(f, all);
    }
    judge_open_files(f, all);
    judge_master_key(f, all);
    judge_certificate(f, all);
    judge_port(f, all);
    judge_server(f, all);
    judge_slots(f, all);
    judge_held(f, all);
    judge_incomplete(f, all);
    judge_backups(f, all);
    return all;
}

}  // namespace callsign::setup
