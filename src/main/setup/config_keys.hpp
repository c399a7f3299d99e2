#pragma once
// The table of configuration keys: name, allowed values, and the member that each sets. Defaults
// are those of the options structs.

#include "config.hpp"

#include <callsign/net/address.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace callsign::setup {

inline constexpr std::int64_t KiB = 1024;
inline constexpr std::int64_t MiB = 1024 * KiB;
inline constexpr std::int64_t GiB = 1024 * MiB;

// A whole number.
struct count_key {
    std::variant<std::size_t& (*)(config&), std::int64_t& (*)(config&)> target;
    std::int64_t min = 0;
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
    // The number counts bytes, and may be written as "64KiB", "16MiB" or "1GiB".
    bool bytes = false;
};

// "250ms", "30s", "10m", "24h", "7d".
struct duration_key {
    milliseconds& (*target)(config&);
    milliseconds min{0};
    milliseconds max{0};
};

// A duration, or a word that lets the server choose.
struct chosen_duration_key {
    std::optional<milliseconds>& (*target)(config&);  // none: the word
    milliseconds min{0};
    milliseconds max{0};
    std::string_view word;
};

// A number that need not be whole.
struct ratio_key {
    double& (*target)(config&);
    double min = 0;
    double max = 1;
    // Both limits are excluded.
    bool open = false;
};

// One of a few words.
struct choice_key {
    std::string& (*target)(config&);
    std::span<const std::string_view> choices;
};

// ADDRESS:PORT.
struct address_key {
    std::string& (*target)(config&);
    // May be empty, which means none.
    bool optional = false;
};

// true or false.
struct flag_key {
    bool& (*target)(config&);
};

// UUIDs: a list in the file, separated by commas in a text.
struct uuids_key {
    std::vector<uuid>& (*target)(config&);
};

// Addresses and address blocks: a list in the file, separated by commas in a text.
struct addresses_key {
    std::vector<net::address_block>& (*target)(config&);
};

// Origins of web pages, or "*": a list in the file, separated by commas in a text.
struct origins_key {
    std::vector<std::string>& (*target)(config&);
};

// The name of a Taskwarrior attribute, or nothing.
struct attribute_key {
    std::string& (*target)(config&);
};

// The URL at which clients reach the server, or nothing.
struct web_address_key {
    std::string& (*target)(config&);
};

// The URL of a PostgreSQL database, or nothing. It may contain a password.
struct database_key {
    std::string& (*target)(config&);
};

struct path_key {
    std::filesystem::path& (*target)(config&);
    // May be empty, which means none.
    bool optional = false;
};

struct config_key {
    std::string_view section;
    std::string_view name;
    std::variant<count_key, duration_key, chosen_duration_key, ratio_key, choice_key, address_key,
                 path_key, flag_key, uuids_key, addresses_key, origins_key, attribute_key,
                 web_address_key, database_key>
        kind;

    // reaper.window
    std::string dotted() const { return std::string(section).append(".").append(name); }
};

std::span<const config_key> config_keys();

}  // namespace callsign::setup
