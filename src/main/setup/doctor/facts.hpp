#pragma once
// What `callsign doctor` has found out, before anybody says what it means. Gathered by gather.cpp,
// judged by judge.cpp.

#include "../config.hpp"
#include "../environment_names.hpp"

#include <callsign/ports/doctor.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace callsign::setup {

// A file or a directory, as this user sees it.
struct file_facts {
    std::filesystem::path path{};
    bool exists = false;
    bool is_directory = false;
    unsigned owner = 0;
    std::string owner_name{};
    unsigned mode = 0;  // its permissions
    bool readable = false;
    bool writable = false;
    bool is_for_group = false;  // a secret that a group may well have, as Debian's ssl-cert
    std::string trouble{};      // why nothing of that is known; empty: it is, or it does not exist
};

struct disk_facts {
    std::filesystem::path at{};
    std::string trouble{};
    std::uintmax_t free_bytes = 0;
    std::uintmax_t disk_bytes = 0;
    std::uintmax_t free_inodes = 0;
    std::uintmax_t inodes = 0;  // 0: it does not count them
    std::uintmax_t database_bytes = 0;
    std::uintmax_t log_bytes = 0;
};

struct open_file_facts {
    std::uintmax_t hard = 0;
    bool of_server = false;  // of the one that runs; or else of this user's processes
    std::string trouble{};
};

struct master_key_facts {
    bool is_given = false;
    // Whether what the store holds opens with it; nullopt: it holds nothing, or nobody could look.
    std::optional<bool> opens_store{};
    bool store_needs_it = false;
    std::size_t former = 0;  // keys in force before it, that are still given
};

struct certificate_facts {
    bool is_given = false;
    std::optional<time_point> expires{};
    std::string public_host{};  // of server.public_url; empty: none is said
    bool fits_host = true;
};

struct backup_facts {
    std::filesystem::path directory{};  // empty: none are made unasked
    milliseconds every{};
    std::optional<time_point> newest{};
    std::string trouble{};
};

struct port_facts {
    std::string listen{};
    bool is_loopback = true;
    bool speaks_tls = false;
    bool is_behind_tls = false;  // server.public_url says https
    std::string trouble{};       // why nobody could listen there now; empty: one could
    bool is_taken = false;
    bool is_refused = false;  // for this user
};

struct facts {
    time_point now{};
    unsigned user = 0;
    std::string user_name{};

    std::optional<std::filesystem::path> config_file{};
    std::filesystem::path packaged_config{};  // there, but nobody said it; empty: it is not there
    std::vector<config_fault> config_faults{};
    std::vector<unknown_name> unknown_names{};

    file_facts data_dir{};
    std::vector<file_facts> data_files{};
    std::vector<file_facts> secret_files{};
    disk_facts disk{};
    std::optional<bool> clock_is_synchronised{};
    sqlite_release sqlite{};
    sqlite_look store{};
    open_file_facts open_files{};
    std::size_t connections_max = 0;
    master_key_facts master_key{};
    certificate_facts certificate{};
    backup_facts backups{};
    port_facts port{};

    bool is_running = false;  // a server has the directory
    std::optional<server_word> server{};
    milliseconds window{};  // as it is configured: the longest that it may be
    milliseconds interval{};
};

}  // namespace callsign::setup
