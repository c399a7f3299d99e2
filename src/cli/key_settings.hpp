#pragma once
// What the hooks of a Taskwarrior go by, as they run without options: DATA/callsign.conf in its
// data directory, lines of `name = value`, for its owner alone as there is a token in it.

#include "session.hpp"

#include <filesystem>
#include <string>

namespace callsign::cli {

struct key_settings {
    std::string url;
    std::string token;
    std::string ca_file;    // who may vouch for the URL's server; PEM, absolute
    bool insecure = false;  // the token may go to the URL in clear
    bool project = true;    // the server is told the project of a task, for its series
    std::string attribute = "key";
    std::string timeout = "1s";  // of a hook
};

std::filesystem::path settings_file(const std::filesystem::path& taskwarrior_data);
// Its own defaults if there is no file. Throws failure for one that is not understood.
key_settings read_key_settings(const std::filesystem::path& taskwarrior_data);
// Throws failure.
void write_key_settings(const std::filesystem::path& taskwarrior_data,
                        const key_settings& settings);

// Throws failure unless it is one that Taskwarrior takes for a user's.
void check_attribute(const std::string& attribute);

// Who is asked for keys.
struct key_server {
    server_url url;
    std::string token;
};

// The file, else the environment; options before both. A token goes to the URL it was given with
// and to no other: the environment may be that of an operator of another server. Throws failure.
key_server find_key_server(const session& s, const key_settings& settings);

}  // namespace callsign::cli
