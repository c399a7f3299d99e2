#pragma once
// Facts of `callsign doctor`: collected by collect.cpp, evaluated by evaluate.cpp.

#include "../config.hpp"
#include "../environment_names.hpp"

#include <callsign/ports/doctor.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace callsign::setup {

// A file or a directory, as the current user sees it.
struct file_facts {
    std::filesystem::path path{};
    bool exists = false;
    bool is_directory = false;
    unsigned owner = 0;
    std::string owner_name{};
    unsigned mode = 0;  // permissions
    bool readable = false;
    bool writable = false;
    bool is_for_group = false;  // a group may read this secret, as Debian's ssl-cert
    std::string trouble{};      // why the above is unknown; empty: known, or no such file
};

struct disk_facts {
    std::filesystem::path at{};
    std::string trouble{};
    std::uintmax_t free_bytes = 0;
    std::uintmax_t disk_bytes = 0;
    std::uintmax_t free_inodes = 0;
    std::uintmax_t inodes = 0;  // 0: the file system does not count them
    std::uintmax_t database_bytes = 0;
    std::uintmax_t log_bytes = 0;
};

struct open_file_facts {
    std::uintmax_t hard = 0;
    bool of_server = false;  // the running server's; otherwise that of this user's processes
    std::string trouble{};
};

struct master_key_facts {
    bool is_given = false;
    // Whether the key decrypts the store's secrets; nullopt: none, or unreadable.
    std::optional<bool> opens_store{};
    bool store_needs_it = false;
    std::size_t former = 0;  // former keys that are still given
};

struct certificate_facts {
    bool is_given = false;
    std::optional<time_point> expires{};
    std::string public_host{};  // in server.public_url; empty: not set
    bool fits_host = true;
};

// A Patroni on one of the database's hosts.
struct patroni_facts {
    std::string host{};
    std::string version{};
    // synchronous_mode and synchronous_mode_strict of the cluster.
    bool is_synchronous = false;
    bool is_strict = false;
};

struct backup_facts {
    std::filesystem::path directory{};  // empty: no scheduled backups
    milliseconds every{};
    std::optional<time_point> newest{};
    std::string trouble{};
};

struct port_facts {
    std::string listen{};
    bool is_loopback = true;
    bool speaks_tls = false;
    bool is_behind_tls = false;  // server.public_url has https
    std::string trouble{};       // why nothing can listen there now; empty: something could
    bool is_taken = false;
    bool is_rejected = false;  // not permitted to this user
};

struct facts {
    time_point now{};
    unsigned user = 0;
    std::string user_name{};

    std::optional<std::filesystem::path> config_file{};
    std::filesystem::path packaged_config{};  // exists, but was not given; empty: does not exist
    std::vector<config_fault> config_faults{};
    std::vector<unknown_name> unknown_names{};

    file_facts data_dir{};
    std::vector<file_facts> data_files{};
    std::vector<file_facts> secret_files{};
    disk_facts disk{};
    std::optional<bool> clock_is_synchronised{};
    sqlite_release sqlite{};
    store_state store{};                       // in the directory, or the rows in the database
    std::optional<database_state> database{};  // none: the store is in the directory
    std::size_t patroni_port = 0;
    std::vector<patroni_facts> patroni{};  // that responded
    open_file_facts open_files{};
    std::size_t connections_max = 0;
    master_key_facts master_key{};
    certificate_facts certificate{};
    backup_facts backups{};
    port_facts port{};

    bool is_running = false;  // a server uses the directory
    std::optional<server_report> server{};
    milliseconds window{};  // as configured; the maximum if automatic
    milliseconds interval{};
};

}  // namespace callsign::setup
