// Goal: each problem gets a finding with the right verdict and advice. Method: the facts of a
// healthy server, with one of them changed.

#include "main/setup/doctor/evaluate.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign::setup {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr time_point now{std::chrono::seconds{1'795'000'000}};  // November 2026
constexpr unsigned service = 990;

file_facts owned(const char* path, unsigned mode) {
    return {.path = path,
            .exists = true,
            .owner = service,
            .owner_name = "callsign",
            .mode = mode,
            .readable = true,
            .writable = true};
}

facts healthy() {
    facts f;
    f.now = now;
    f.user = service;
    f.user_name = "callsign";
    f.config_file = "/etc/callsign/callsign.toml";
    f.data_dir = owned("/data", 0700);
    f.data_dir.is_directory = true;
    f.data_files = {owned("/data/callsign.sqlite3", 0600)};
    f.secret_files = {owned("/data/admin.token", 0600), owned("/etc/callsign/master.key", 0400)};
    f.disk = {.at = "/data",
              .free_bytes = 50ull << 30,
              .disk_bytes = 100ull << 30,
              .free_inodes = 1'000'000,
              .inodes = 2'000'000,
              .database_bytes = 1ull << 30};
    f.clock_is_synchronised = true;
    f.sqlite = {"3.40.1", true};
    f.store.exists = f.store.is_database = f.store.is_wal = true;
    f.store.schema = f.store.schema_known = 15;
    f.store.last_moment = now - 1h;
    f.open_files = {.hard = 524'288};
    f.connections_max = 2048;
    f.master_key = {.is_given = true, .opens_store = true, .store_needs_it = true};
    f.backups = {.directory = "/backups", .every = 24h, .newest = now - 3h};
    f.port.listen = "127.0.0.1:8080";
    f.window = 10min;
    f.interval = 30s;
    f.server = server_report{.error = "no server runs on /data"};
    return f;
}

facts running() {
    facts f = healthy();
    f.is_running = true;
    f.server = server_report{.window = 10min, .interval = 30s, .last_sweep = now - 10s};
    return f;
}

// "error schema: found: advice" of each finding that is not ok, except that no server runs.
std::string bad_lines(const facts& f) {
    std::string text;
    for (const diagnosis& d : evaluate(f)) {
        if (d.verdict == verdict::ok) {
            EXPECT_EQ(d.advice, "") << d.check;
            continue;
        }
        EXPECT_NE(d.advice, "") << d.check << ": every finding has advice";
        const bool absent = d.check == "server" && d.verdict == verdict::skipped;
        if (absent) continue;
        const char* const words[] = {"ok", "warning", "error", "skipped"};
        text += std::string(words[static_cast<int>(d.verdict)]) + " " + d.check + ": " + d.found +
                ": " + d.advice + "\n";
    }
    return text;
}

std::string after(const facts& base, const std::function<void(facts&)>& change) {
    facts f = base;
    change(f);
    return bad_lines(f);
}

TEST(evaluate, finds_nothing_where_all_is_well) {
    EXPECT_EQ(bad_lines(healthy()), "");
    EXPECT_EQ(bad_lines(running()), "");
    EXPECT_GE(evaluate(healthy()).size(), 15u) << "every check has a result";
}

TEST(evaluate, config) {
    EXPECT_THAT(after(healthy(),
                      [](facts& f) {
                          f.config_faults = {{"c.toml:3", "unknown key: reaper.windwo"},
                                             {"--listen", "server.listen: must be ..."}};
                      }),
                ::testing::AllOf(HasSubstr("error config: c.toml:3: unknown key: reaper.windwo"),
                                 HasSubstr("error config: --listen: server.listen")));
    EXPECT_THAT(after(healthy(),
                      [](facts& f) {
                          f.config_file.reset();
                          f.packaged_config = "/etc/callsign/callsign.toml";
                      }),
                HasSubstr("skipped config: no configuration file given"));
}

TEST(evaluate, environment) {
    EXPECT_THAT(after(healthy(),
                      [](facts& f) {
                          f.unknown_names = {{"CALLSIGN_REAPER_WINDWO", "CALLSIGN_REAPER_WINDOW"},
                                             {"CALLSIGN_X", ""}};
                      }),
                ::testing::AllOf(HasSubstr("warning environment: CALLSIGN_REAPER_WINDWO is not a "
                                           "setting and is ignored: rename it to "
                                           "CALLSIGN_REAPER_WINDOW\n"),
                                 HasSubstr("unset CALLSIGN_X\n")));
}

TEST(evaluate, permissions) {
    const auto of_dir = [](const std::function<void(file_facts&)>& change) {
        return after(healthy(), [&](facts& f) { change(f.data_dir); });
    };
    EXPECT_THAT(of_dir([](file_facts& d) { d.mode = 0777; }),
                HasSubstr("error permissions: /data is writable by others (mode 777): chmod 700"));
    EXPECT_THAT(of_dir([](file_facts& d) { d.exists = false; }),
                HasSubstr("error permissions: /data does not exist"));
    EXPECT_THAT(of_dir([](file_facts& d) { d.is_directory = false; }),
                HasSubstr("error permissions: /data is not a directory"));
    EXPECT_THAT(of_dir([](file_facts& d) { d.trouble = "Permission denied: ..."; }),
                HasSubstr("error permissions: /data: Permission denied"));
    EXPECT_THAT(of_dir([](file_facts& d) { d.writable = false; }),
                HasSubstr("error permissions: /data is not writable by its owner callsign"));
    EXPECT_THAT(after(healthy(),
                      [](facts& f) {
                          f.user = 1000;
                          f.user_name = "ben";
                          f.data_dir.writable = false;
                      }),
                HasSubstr("skipped permissions: /data belongs to callsign, and ben cannot write"));
    EXPECT_THAT(
        after(healthy(),
              [](facts& f) {
                  f.data_files[0].owner = 0;
                  f.data_files[0].owner_name = "root";
              }),
        HasSubstr("error permissions: /data/callsign.sqlite3 belongs to root, the directory "
                  "to callsign: chown callsign /data/callsign.sqlite3"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.data_files[0].writable = false; }),
                HasSubstr("error permissions: /data/callsign.sqlite3 is not writable"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.data_files[0].mode = 0666; }),
                HasSubstr("chmod 600 /data/callsign.sqlite3"));
}

TEST(evaluate, secrets_are_readable_by_their_user_only) {
    for (const unsigned mode : {0604u, 0640u, 0602u}) {
        EXPECT_THAT(
            after(healthy(), [&](facts& f) { f.secret_files[0].mode = mode; }),
            HasSubstr("error permissions: /data/admin.token is a secret readable by others"))
            << mode;
    }
    const auto key = [](unsigned mode) {
        return after(healthy(), [&](facts& f) {
            f.secret_files.push_back(owned("/etc/tls.key", mode));
            f.secret_files.back().is_for_group = true;
        });
    };
    EXPECT_EQ(key(0640), "") << "the mode of Debian's ssl-cert";
    EXPECT_THAT(key(0644), HasSubstr("error permissions: /etc/tls.key is a secret"));
}

TEST(evaluate, disk) {
    const auto free = [](std::uintmax_t bytes) {
        return after(healthy(), [&](facts& f) { f.disk.free_bytes = bytes; });
    };
    EXPECT_THAT(free(1 << 20), HasSubstr("error disk: 1 MiB free of 100 GiB"));
    EXPECT_THAT(free(32 << 20), HasSubstr("warning disk: 32 MiB free"));
    EXPECT_THAT(free(512 << 20), HasSubstr("not enough free space for a backup"));
    EXPECT_EQ(free(2ull << 30), "");
    EXPECT_THAT(after(healthy(), [](facts& f) { f.disk.free_inodes = 12; }),
                HasSubstr("warning disk: 12 free inodes"));
    EXPECT_EQ(after(healthy(), [](facts& f) { f.disk.free_inodes = f.disk.inodes = 0; }), "")
        << "some file systems do not count them";
    EXPECT_THAT(after(healthy(), [](facts& f) { f.disk.trouble = "Permission denied"; }),
                HasSubstr("skipped disk"));
}

TEST(evaluate, clock) {
    EXPECT_THAT(after(healthy(), [](facts& f) { f.now = time_point{}; }),
                HasSubstr("error clock: this machine's clock says 1970-01-01"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.store.last_moment = now + 2h; }),
                ::testing::AllOf(HasSubstr("error clock: the clock says 2026-11"),
                                 HasSubstr("callsign repair-clock --data-dir /data")));
    EXPECT_EQ(after(healthy(), [](facts& f) { f.store.last_moment = now + 59s; }), "");
    EXPECT_THAT(after(healthy(), [](facts& f) { f.clock_is_synchronised = false; }),
                HasSubstr("warning clock: clock is not synchronised: timedatectl"));
    EXPECT_EQ(after(healthy(), [](facts& f) { f.clock_is_synchronised.reset(); }), "");
}

TEST(evaluate, sqlite_and_schema) {
    EXPECT_THAT(after(healthy(), [](facts& f) { f.store.is_wal = false; }),
                HasSubstr("warning sqlite: callsign.sqlite3 is not in WAL mode"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.store.schema = 16; }),
                HasSubstr("error schema: store schema is newer (schema 16, "
                          "supported: 15)"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.store.schema = 9; }),
                HasSubstr("warning schema: store schema is older (schema 9"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.store.is_database = false; }),
                HasSubstr("error schema: /data/callsign.sqlite3 is not a SQLite database"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.store.is_own = false; }),
                HasSubstr("error schema: /data/callsign.sqlite3 is another program's"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.store.unreadable = "Permission denied"; }),
                HasSubstr("error schema: /data/callsign.sqlite3 cannot be read: Permission"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.store.unread = "damaged"; }),
                HasSubstr("skipped schema: rows cannot be read (damaged): callsign check"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.store = {}; }),
                HasSubstr("skipped schema: there is no /data/callsign.sqlite3"));
    const auto all = evaluate(healthy());
    const auto sqlite = std::find_if(all.begin(), all.end(),
                                     [](const diagnosis& d) { return d.check == "sqlite"; });
    EXPECT_THAT(sqlite->found, HasSubstr("3.40.1 can lose pages"));
}

TEST(evaluate, open_files) {
    EXPECT_THAT(after(healthy(), [](facts& f) { f.open_files.hard = 1024; }),
                HasSubstr("warning open files: limit 1024, http.connections_max is 2048"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.open_files.trouble = "run it as its user"; }),
                HasSubstr("skipped open files"));
}

TEST(evaluate, master_key) {
    EXPECT_THAT(after(healthy(), [](facts& f) { f.master_key.opens_store = false; }),
                HasSubstr("error master key: master key does not match"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.master_key = {.store_needs_it = true}; }),
                HasSubstr("error master key: no master key, and devices"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.master_key.former = 2; }),
                HasSubstr("warning master key: former keys still in the file: 2"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.master_key = {}; }),
                HasSubstr("skipped master key: no master key; only devices"));
    const std::string faulty = after(healthy(), [](facts& f) {
        f.config_faults = {
            {"c.toml:2", "secrets.master_key_file: The master key's file cannot be read."}};
        f.master_key = {};
    });
    EXPECT_THAT(faulty, HasSubstr("error master key: c.toml:2: secrets.master_key_file"));
    EXPECT_THAT(faulty, ::testing::Not(HasSubstr("error config")))
        << "no second finding for the same problem";
}

TEST(evaluate, tls) {
    const auto expires = [](milliseconds in) {
        return after(healthy(),
                     [&](facts& f) { f.certificate = {.is_given = true, .expires = now + in}; });
    };
    EXPECT_EQ(expires(30 * 24h), "");
    EXPECT_THAT(expires(5 * 24h), HasSubstr("warning tls: the certificate expires in 5 days"));
    EXPECT_THAT(expires(-3 * 24h), HasSubstr("error tls: the certificate expired 3 days ago"));
    EXPECT_THAT(after(healthy(),
                      [](facts& f) {
                          f.certificate = {.is_given = true,
                                           .expires = now + 60 * 24h,
                                           .public_host = "tasks.example.org",
                                           .fits_host = false};
                      }),
                HasSubstr("error tls: the certificate is not valid for tasks.example.org"));
    EXPECT_THAT(after(healthy(),
                      [](facts& f) {
                          f.config_faults = {{"c.toml:2",
                                              "tls.key: /k is not the key of the "
                                              "certificate"}};
                      }),
                HasSubstr("error tls: c.toml:2: tls.key: /k is not the key"));
}

TEST(evaluate, port) {
    const auto of_port = [](const facts& base, const std::function<void(port_facts&)>& change) {
        return after(base, [&](facts& f) { change(f.port); });
    };
    const auto taken = [](port_facts& p) {
        p.is_taken = true;
        p.trouble = "Address already in use";
    };
    EXPECT_THAT(of_port(healthy(), taken),
                HasSubstr("error port: another program listens on 127.0.0.1:8080"));
    EXPECT_EQ(of_port(running(), taken), "") << "the server itself has the port";
    EXPECT_THAT(of_port(healthy(),
                        [](port_facts& p) {
                            p.is_rejected = true;
                            p.trouble = "Permission denied";
                        }),
                HasSubstr("warning port: 127.0.0.1:8080 cannot be used by callsign"));
    EXPECT_THAT(of_port(healthy(), [](port_facts& p) { p.trouble = "Cannot assign"; }),
                HasSubstr("error port: cannot listen on 127.0.0.1:8080: Cannot assign"));
    const auto in_clear = [](port_facts& p) { p.is_loopback = false; };
    EXPECT_THAT(of_port(running(), in_clear),
                HasSubstr("warning port: 127.0.0.1:8080 accepts unencrypted"));
    EXPECT_EQ(of_port(running(),
                      [&](port_facts& p) {
                          in_clear(p);
                          p.speaks_tls = true;
                      }),
              "");
    EXPECT_EQ(of_port(running(),
                      [&](port_facts& p) {
                          in_clear(p);
                          p.is_behind_tls = true;
                      }),
              "");
}

TEST(evaluate, a_server_that_does_not_respond) {
    EXPECT_THAT(after(running(), [](facts& f) { f.server->error = "no answer within 10s"; }),
                HasSubstr("error server: server does not respond: no answer within 10s"));
}

TEST(evaluate, a_server_that_rejects_writes) {
    EXPECT_THAT(after(running(), [](facts& f) { f.server->not_ready = "Store is damaged"; }),
                HasSubstr("error server: server rejects writes: Store is damaged"));
}

facts with_database() {
    facts f = running();
    f.backups = {};
    f.store = {};
    f.store.exists = true;
    f.patroni_port = 8008;
    f.database = database_state{.hosts = {"db1", "db2"},
                                .version = "15.20",
                                .is_supported = true,
                                .standbys = 2,
                                .synchronous = "*",
                                .schema = 1,
                                .schema_known = 1,
                                .last = log_row{.n = 40, .kind = log_kind::heartbeat},
                                .server = "a 10.0.0.1:8080",
                                .last_at = now - 1s,
                                .log_rows = 40,
                                .takeovers = 2};
    f.patroni = {{"db1", "3.3.0", true, true}, {"db2", "3.3.0", true, true}};
    return f;
}

std::string of_database(const std::function<void(database_state&)>& change) {
    return after(with_database(), [&](facts& f) { change(*f.database); });
}

TEST(evaluate, a_database) {
    EXPECT_EQ(bad_lines(with_database()), "");
    EXPECT_THAT(of_database([](database_state& d) { d.unreached = "connection refused"; }),
                HasSubstr("error postgresql: the database does not respond: connection refused"));
    EXPECT_THAT(of_database([](database_state& d) { d.is_supported = false; }),
                HasSubstr("error postgresql: PostgreSQL 15.20 is too old"));
    EXPECT_THAT(of_database([](database_state& d) { d.is_pooled = true; }),
                HasSubstr("error postgresql: a pooler shares sessions"));
    EXPECT_THAT(of_database([](database_state& d) { d.loses_at_crash = true; }),
                HasSubstr("error postgresql: PostgreSQL 15.20 runs with fsync"));
    EXPECT_THAT(of_database([](database_state& d) { d.synchronous = ""; }),
                HasSubstr("warning postgresql: commits wait for no standby"));
    EXPECT_EQ(of_database([](database_state& d) {
                  d.synchronous = "";
                  d.is_standby = true;
              }),
              "");
    EXPECT_EQ(after(with_database(),
                    [](facts& f) {
                        f.database->synchronous = "";
                        f.database->standbys = 0;
                        f.patroni_port = 0;
                        f.patroni.clear();
                    }),
              "")
        << "one PostgreSQL is as one SQLite";
    EXPECT_THAT(of_database([](database_state& d) { d.schema = 2; }),
                HasSubstr("error schema: store schema is newer"));
    EXPECT_THAT(of_database([](database_state& d) { d.schema_known = 2; }),
                HasSubstr("warning schema: store schema is older"));
    EXPECT_THAT(of_database([](database_state& d) { d.unread = "damage"; }),
                HasSubstr("skipped schema: rows cannot be read (damage)"));
    EXPECT_THAT(of_database([](database_state& d) {
                    d.schema = 0;
                    d.last.reset();
                }),
                HasSubstr("skipped batch log: there is no store"));
}

TEST(evaluate, patroni) {
    const auto of_patroni = [](const std::function<void(std::vector<patroni_facts>&)>& change) {
        return after(with_database(), [&](facts& f) { change(f.patroni); });
    };
    for (const char* version : {"3.0.2", "3.0.4", "2.1.7"}) {
        EXPECT_THAT(of_patroni([&](std::vector<patroni_facts>& p) { p[1].version = version; }),
                    HasSubstr("warning patroni: Patroni " + std::string(version) +
                              " on db2 loses acknowledged commits if it uses etcd3:"));
    }
    for (const char* version : {"3.1.0", "3.10.1", "4.0.0"}) {
        EXPECT_EQ(of_patroni([&](std::vector<patroni_facts>& p) { p[1].version = version; }), "");
    }
    EXPECT_THAT(of_patroni([](std::vector<patroni_facts>& p) { p.clear(); }),
                HasSubstr("skipped patroni: no Patroni responds on port 8008"));
    EXPECT_THAT(of_patroni([](std::vector<patroni_facts>& p) { p[0].is_strict = false; }),
                HasSubstr("warning patroni: synchronous_mode_strict is off"));
    EXPECT_THAT(of_patroni([](std::vector<patroni_facts>& p) { p[0].is_synchronous = false; }),
                HasSubstr("warning patroni: synchronous_mode is off"));
}

TEST(evaluate, the_batch_log) {
    EXPECT_THAT(
        of_database([](database_state& d) { d.last_at = now - 11s; }),
        HasSubstr("warning batch log: no server owns the store: row 40 was written 11 seconds ago "
                  "by a 10.0.0.1:8080"));
    EXPECT_EQ(of_database([](database_state& d) { d.last_at = now - 9s; }), "");
    EXPECT_EQ(of_database([](database_state& d) { d.last_at = now + 1h; }), "");
    EXPECT_THAT(of_database([](database_state& d) { d.last->kind = log_kind::release; }),
                HasSubstr("warning batch log: no server owns the store"));
    EXPECT_THAT(of_database([](database_state& d) { d.last->kind = log_kind::moving; }),
                HasSubstr("warning batch log: a move of the store"));
    EXPECT_THAT(of_database([](database_state& d) { d.last->kind = log_kind::moved; }),
                HasSubstr("warning batch log: the store was moved"));
    EXPECT_THAT(of_database([](database_state& d) { d.last->lost_through = 39; }),
                HasSubstr("error batch log: the database has lost batches up to 39"));
    EXPECT_EQ(after(with_database(),
                    [](facts& f) {
                        f.server->error = "503";
                        f.server->is_alive = true;
                    }),
              "")
        << "it stands by";
}

TEST(evaluate, the_oldest_slot) {
    EXPECT_EQ(after(running(), [](facts& f) { f.server->oldest_pending = now - 11min; }), "")
        << "sweeps run periodically";
    EXPECT_THAT(after(running(), [](facts& f) { f.server->oldest_pending = now - 12min; }),
                ::testing::AllOf(HasSubstr("warning oldest slot: the oldest pending slot is 12 "
                                           "minutes old, the window is 10 minutes"),
                                 HasSubstr("callsign reaper sweep")));
    // No server runs on this store.
    EXPECT_THAT(after(healthy(), [](facts& f) { f.store.oldest_pending = now - 2h; }),
                HasSubstr("no server is running: start callsignd"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.store.unread = "damaged"; }),
                HasSubstr("skipped oldest slot: slots cannot be checked (no server runs)"));
}

TEST(evaluate, held_series) {
    const auto held = [](facts& f) {
        f.store.held = {{"ada", "SYN"}};
        f.store.held_count = 1;
    };
    EXPECT_EQ(
        after(healthy(), held),
        "warning held series: series SYN of account ada is held since a restore: callsign series "
        "resume SYN --account ada --at N\n");
    EXPECT_THAT(after(healthy(),
                      [&](facts& f) {
                          held(f);
                          f.store.held_count = 40;
                      }),
                HasSubstr("40 series are held; these are the first"));
    EXPECT_THAT(after(running(),
                      [](facts& f) {
                          f.store = {};
                          f.server->held = {{"ben", "INC"}};
                      }),
                HasSubstr("series INC of account ben is held"));
}

TEST(evaluate, incomplete_tasks) {
    const auto incomplete = [](facts& f) {
        f.store.incomplete = {
            {"ada", "SYN-7", *parse_uuid("11111111-2222-4333-8444-555555555555")}};
        f.store.incomplete_count = 1;
    };
    EXPECT_EQ(after(healthy(), incomplete),
              "warning incomplete tasks: SYN-7 of ada (11111111-2222-4333-8444-555555555555) lacks "
              "a description or a status: import the task export of the device that created it: "
              "docs/operations.md, Incomplete tasks\n");
    EXPECT_THAT(after(healthy(),
                      [&](facts& f) {
                          incomplete(f);
                          f.store.incomplete_count = 40;
                      }),
                HasSubstr("and 39 more incomplete tasks: callsign check lists up to 100\n"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.store.unread = "damaged"; }),
                HasSubstr("skipped incomplete tasks: tasks cannot be checked"));
}

TEST(evaluate, backups) {
    EXPECT_THAT(after(healthy(), [](facts& f) { f.backups.newest = now - 49h; }),
                HasSubstr("error backups: newest backup in /backups is 2 days old, and "
                          "backup.every is 24 hours"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.backups.newest.reset(); }),
                HasSubstr("warning backups: no backup in /backups: start callsignd"));
    EXPECT_THAT(
        after(healthy(),
              [](facts& f) {
                  f.backups.newest.reset();
                  f.is_running = true;
              }),
        HasSubstr("warning backups: no backup in /backups: the server creates one at once"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.backups = {}; }),
                HasSubstr("warning backups: scheduled backups disabled"));
    EXPECT_THAT(after(healthy(), [](facts& f) { f.backups.trouble = "No such directory"; }),
                HasSubstr("error backups: /backups cannot be read"));
}

}  // namespace
}  // namespace callsign::setup
