#pragma once
// Settings of a Taskwarrior's hooks, which run without options: DATA/callsign.conf in its data
// directory, lines of `name = value`, readable only by its owner, since it has a token.

#include "session.hpp"

#include <filesystem>
#include <string>

namespace callsign::cli {

struct key_settings {
    std::string url;
    std::string token;
    std::string ca_file;    // additional CA certificates for the URL; PEM, absolute
    bool insecure = false;  // the token may be sent unencrypted
    bool project = true;    // send a task's project, which chooses its series
    std::string attribute = "key";
    std::string timeout = "1s";  // of a hook
};

std::filesystem::path settings_file(const std::filesystem::path& taskwarrior_data);
// Returns defaults if there is no file. Throws failure for an invalid one.
key_settings read_key_settings(const std::filesystem::path& taskwarrior_data);
// Throws failure.
void write_key_settings(const std::filesystem::path& taskwarrior_data,
                        const key_settings& settings);

// Throws failure unless Taskwarrior accepts the name for a UDA.
void check_attribute(const std::string& attribute);

// The server that assigns keys.
struct key_server {
    server_url url;
    std::string token;
};

// From the file, else the environment; options override both. A token is sent only to the URL that
// it was given with: the environment may be for another server's operator. Throws failure.
key_server find_key_server(const session& s, const key_settings& settings);

}  // namespace callsign::cli
