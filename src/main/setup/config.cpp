#include "config_keys.hpp"

#include <callsign/seal/master_key.hpp>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <toml++/toml.h>

namespace callsign::setup {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t KiB = 1024;
constexpr std::int64_t MiB = 1024 * KiB;
constexpr std::int64_t GiB = 1024 * MiB;
constexpr milliseconds day = 24h;

constexpr std::array<std::string_view, 4> levels{"debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 2> formats{"text", "json"};

// Where a key lands. NOLINTBEGIN(bugprone-macro-parentheses): a member's name cannot have them.
#define CALLSIGN_AT(member)   \
    [](config & c) -> auto& { \
        return c.member;      \
    }
// NOLINTEND(bugprone-macro-parentheses)

count_key count(std::size_t& (*target)(config&), std::int64_t min, std::int64_t max) {
    return {target, min, max, false};
}
count_key count(std::int64_t& (*target)(config&), std::int64_t min, std::int64_t max) {
    return {target, min, max, false};
}
count_key bytes(std::size_t& (*target)(config&), std::int64_t min, std::int64_t max) {
    return {target, min, max, true};
}

const std::array keys{
    config_key{"server", "listen", address_key{CALLSIGN_AT(server.listen)}},
    config_key{"server", "drain_timeout",
               duration_key{CALLSIGN_AT(server.drain_timeout), 0ms, 1h, {}}},
    config_key{"server", "trusted_proxies", addresses_key{CALLSIGN_AT(http.trusted_proxies)}},

    config_key{"http", "header_bytes_max",
               bytes(CALLSIGN_AT(http.header_bytes_max), 1 * KiB, 1 * MiB)},
    config_key{"http", "body_bytes_max",
               bytes(CALLSIGN_AT(http.body_bytes_max), 1 * KiB, 64 * MiB)},
    config_key{"http", "bodies_bytes_max",
               bytes(CALLSIGN_AT(http.bodies_bytes_max), 1 * MiB, 64 * GiB)},
    config_key{"http", "account_bodies_bytes_max",
               bytes(CALLSIGN_AT(http.account_bodies_bytes_max), 1 * MiB, 64 * GiB)},
    config_key{"http", "connections_max", count(CALLSIGN_AT(http.connections_max), 1, 1'000'000)},
    config_key{"http", "connections_per_address_max",
               count(CALLSIGN_AT(http.connections_per_address_max), 1, 1'000'000)},
    config_key{"http", "idle_timeout", duration_key{CALLSIGN_AT(http.idle_timeout), 10ms, day, {}}},
    config_key{"http", "header_timeout",
               duration_key{CALLSIGN_AT(http.header_timeout), 10ms, 1h, {}}},
    config_key{"http", "body_rate_min", bytes(CALLSIGN_AT(http.body_rate_min), 0, 1 * GiB)},
    config_key{"http", "body_timeout", duration_key{CALLSIGN_AT(http.body_timeout), 10ms, 1h, {}}},
    config_key{"http", "write_timeout",
               duration_key{CALLSIGN_AT(http.write_timeout), 10ms, 1h, {}}},

    config_key{"engine", "queue_depth_max",
               count(CALLSIGN_AT(engine.queue_depth_max), 1, 1'000'000)},
    config_key{"engine", "queue_bytes_max",
               bytes(CALLSIGN_AT(engine.queue_bytes_max), 1 * KiB, 1 * GiB)},
    config_key{"engine", "account_depth_max",
               count(CALLSIGN_AT(engine.account_depth_max), 1, 1'000'000)},
    config_key{"engine", "account_bytes_max",
               bytes(CALLSIGN_AT(engine.account_bytes_max), 1 * KiB, 1 * GiB)},
    config_key{"engine", "account_readers_max",
               count(CALLSIGN_AT(engine.account_readers_max), 1, 64)},
    config_key{"engine", "batch_commands_max",
               count(CALLSIGN_AT(engine.batch_commands_max), 1, 100'000)},
    config_key{"engine", "batch_bytes_max",
               bytes(CALLSIGN_AT(engine.batch_bytes_max), 1 * KiB, 1 * GiB)},
    config_key{"engine", "batch_operations_max",
               count(CALLSIGN_AT(engine.batch_operations_max), 1, 1'000'000)},
    config_key{"engine", "request_deadline",
               duration_key{CALLSIGN_AT(engine.request_deadline), 10ms, 10min, {}}},
    config_key{"engine", "trust_clock_after",
               duration_key{CALLSIGN_AT(engine.trust_clock_after), 0ms, 30 * day, {}}},

    config_key{"store", "data_dir", path_key{CALLSIGN_AT(store.data_dir), false}},
    config_key{"store", "readers", count(CALLSIGN_AT(store.readers), 1, 64)},
    config_key{"store", "cache_bytes", bytes(CALLSIGN_AT(store.cache_bytes), 1 * MiB, 64 * GiB)},
    config_key{"store", "wal_pages_max", count(CALLSIGN_AT(store.wal_pages_max), 16, 10'000'000)},
    config_key{"store", "moved_pages_max",
               count(CALLSIGN_AT(store.moved_pages_max), 16, 10'000'000)},
    config_key{"store", "recent_keys_max",
               count(CALLSIGN_AT(store.recent_keys_max), 1, 10'000'000)},
    config_key{"store", "key_filter_bytes_max",
               bytes(CALLSIGN_AT(store.key_filter_bytes_max), 0, 16 * GiB)},

    config_key{"reaper", "interval", duration_key{CALLSIGN_AT(reaper.interval), 10ms, day, {}}},
    config_key{"reaper", "window", duration_key{CALLSIGN_AT(reaper.window), 1ms, 30 * day, "auto"}},
    config_key{"reaper", "batch", count(CALLSIGN_AT(reaper.batch), 1, 100'000)},
    config_key{"reaper", "retention",
               duration_key{CALLSIGN_AT(reaper.retention), 1ms, 3650 * day, {}}},

    config_key{"sync", "segment_bytes_max",
               bytes(CALLSIGN_AT(sync.segment_bytes_max), 1 * KiB, 512 * MiB)},
    config_key{"sync", "snapshot_bytes_max",
               bytes(CALLSIGN_AT(sync.snapshot_bytes_max), 1 * KiB, 512 * MiB)},
    config_key{"sync", "snapshot_days", count(CALLSIGN_AT(sync.snapshots.days), 1, 36'500)},
    config_key{"sync", "snapshot_versions",
               count(CALLSIGN_AT(sync.snapshots.versions), 1, 1'000'000'000)},
    config_key{"sync", "open_registration", flag_key{CALLSIGN_AT(sync.open_registration)}},
    config_key{"sync", "registrations_per_hour",
               count(CALLSIGN_AT(sync.registrations_per_hour), 1, 1'000'000)},
    config_key{"sync", "allow_client_ids", uuids_key{CALLSIGN_AT(sync.allow_client_ids)}},
    config_key{"sync", "turnstile", duration_key{CALLSIGN_AT(sync.turnstile), 0ms, 5s, {}}},
    config_key{"sync", "key_attribute", attribute_key{CALLSIGN_AT(sync.key_attribute)}},

    config_key{"secrets", "master_key_file", path_key{CALLSIGN_AT(secrets.master_key_file), true}},

    config_key{"log", "level", choice_key{CALLSIGN_AT(log.level), levels}},
    config_key{"log", "format", choice_key{CALLSIGN_AT(log.format), formats}},
};

#undef CALLSIGN_AT

// ---- one value, as text or as a number ----

// What is wrong with it; empty: nothing, and it is set.
using complaint = std::string;

std::string in_quotes(std::string_view text) {
    return std::string("\"").append(text).append("\"");
}

template <class Item>
std::string list_text(const std::vector<Item>& all) {
    std::string list;
    for (const Item& item : all) list += (list.empty() ? "" : ", ") + in_quotes(to_string(item));
    return "[" + list + "]";
}

std::string count_text(const count_key& kind, std::int64_t value) {
    if (kind.bytes && value != 0) {
        if (value % GiB == 0) return in_quotes(std::to_string(value / GiB) + "GiB");
        if (value % MiB == 0) return in_quotes(std::to_string(value / MiB) + "MiB");
        if (value % KiB == 0) return in_quotes(std::to_string(value / KiB) + "KiB");
    }
    return std::to_string(value);
}

std::optional<std::int64_t> parse_count(std::string_view text, bool bytes) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || value < 0) return std::nullopt;
    const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
    if (unit.empty()) return value;
    const std::int64_t scale = unit == "KiB" ? KiB : unit == "MiB" ? MiB : unit == "GiB" ? GiB : 0;
    if (!bytes || scale == 0 || value > std::numeric_limits<std::int64_t>::max() / scale) {
        return std::nullopt;
    }
    return value * scale;
}

complaint set_number(const count_key& kind, std::int64_t value, config& into) {
    if (value < kind.min || value > kind.max) {
        return "must be from " + count_text(kind, kind.min) + " to " + count_text(kind, kind.max) +
               ", not " + std::to_string(value);
    }
    std::visit(
        [&](auto target) {
            auto& place = target(into);
            place = static_cast<std::remove_reference_t<decltype(place)>>(value);
        },
        kind.target);
    return {};
}

complaint set_text(const count_key& kind, std::string_view text, config& into) {
    const auto value = parse_count(text, kind.bytes);
    if (value) return set_number(kind, *value, into);
    if (kind.bytes)
        return "must be a number of bytes such as 65536 or \"64KiB\", not " + in_quotes(text);
    return "must be a whole number, not " + in_quotes(text);
}

complaint set_text(const duration_key& kind, std::string_view text, config& into) {
    if (!kind.reserved.empty() && text == kind.reserved) {
        return "cannot be " + in_quotes(text) +
               " in this version: a duration is needed, such as \"10m\"";
    }
    const auto span = parse_duration(text);
    if (!span)
        return "must be a duration such as \"250ms\", \"30s\" or \"7d\", not " + in_quotes(text);
    if (*span < kind.min || *span > kind.max) {
        return "must be from " + in_quotes(to_duration_text(kind.min)) + " to " +
               in_quotes(to_duration_text(kind.max)) + ", not " + in_quotes(text);
    }
    kind.target(into) = *span;
    return {};
}

complaint set_text(const choice_key& kind, std::string_view text, config& into) {
    if (std::find(kind.choices.begin(), kind.choices.end(), text) != kind.choices.end()) {
        kind.target(into) = text;
        return {};
    }
    std::string all;
    for (const std::string_view choice : kind.choices) {
        if (!all.empty()) all += choice == kind.choices.back() ? " or " : ", ";
        all += in_quotes(choice);
    }
    return "must be " + all + ", not " + in_quotes(text);
}

complaint set_text(const address_key& kind, std::string_view text, config& into) {
    const auto colon = text.rfind(':');
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    boost::system::error_code not_an_address;
    boost::asio::ip::make_address(std::string(host), not_an_address);
    const auto port =
        colon == text.npos ? std::nullopt : parse_count(text.substr(colon + 1), false);
    if (not_an_address || !port || *port > 65'535) {
        return "must be ADDRESS:PORT such as \"127.0.0.1:8080\" or \"[::1]:8080\", not " +
               in_quotes(text);
    }
    kind.target(into) = text;
    return {};
}

complaint set_text(const path_key& kind, std::string_view text, config& into) {
    if (text.empty() && !kind.optional) return "must not be empty";
    kind.target(into) = std::filesystem::path(text);
    return {};
}

// Taskwarrior's rules for a UDA's name, and those it has attributes of its own for.
complaint set_text(const attribute_key& kind, std::string_view text, config& into) {
    constexpr std::array<std::string_view, 26> taken{
        "annotations", "depends", "description", "due",      "end",    "entry",    "id",
        "imask",       "last",    "mask",        "modified", "parent", "priority", "project",
        "recur",       "rtype",   "scheduled",   "start",    "status", "tags",     "template",
        "until",       "urgency", "uuid",        "wait",     "limit"};
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    const bool named =
        text.empty() || (text.size() <= 64 && is_lower(text.front()) &&
                         std::all_of(text.begin(), text.end(), [&](char c) {
                             return is_lower(c) || (c >= '0' && c <= '9') || c == '_';
                         }));
    if (!named) {
        return "must be a lower-case letter and up to 63 more of a-z, 0-9 and _, or empty, not " +
               in_quotes(text);
    }
    if (std::find(taken.begin(), taken.end(), text) != taken.end() || text.starts_with("tag_") ||
        text.starts_with("dep_") || text.starts_with("annotation_")) {
        return "must be an attribute that Taskwarrior has no use for, not " + in_quotes(text);
    }
    kind.target(into) = text;
    return {};
}

complaint set_text(const flag_key& kind, std::string_view text, config& into) {
    if (text != "true" && text != "false") return "must be true or false, not " + in_quotes(text);
    kind.target(into) = text == "true";
    return {};
}

// What `parse` makes of each entry of a list with commas. Client ids are what clients prove
// themselves with, so a faulty entry is not repeated.
template <class Item, class Parse>
complaint set_entries(std::string_view text, const char* not_one, Parse parse,
                      std::vector<Item>& into) {
    std::vector<Item> all;
    while (!text.empty()) {
        const auto comma = text.find(',');
        std::string_view one = text.substr(0, comma);
        text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
        while (one.starts_with(' ')) one.remove_prefix(1);
        while (one.ends_with(' ')) one.remove_suffix(1);
        const std::optional<Item> item = parse(one);
        if (!item) return "entry " + std::to_string(all.size() + 1) + " is " + not_one;
        all.push_back(*item);
    }
    into = std::move(all);
    return {};
}

complaint set_text(const uuids_key& kind, std::string_view text, config& into) {
    return set_entries(text, "not a UUID", parse_uuid, kind.target(into));
}

complaint set_text(const addresses_key& kind, std::string_view text, config& into) {
    return set_entries(text, "no address and no block of them", net::parse_address_block,
                       kind.target(into));
}

template <class Key>
complaint set_list(const Key& kind, const toml::node& node, const std::string& what, config& into) {
    if (!node.is_array()) return "must be a list of " + what + ": []";
    std::string joined;
    for (const toml::node& entry : *node.as_array()) {
        const auto* const text = entry.as_string();
        if (!text) return "must be a list of " + what + " in quotes";
        joined += (joined.empty() ? "" : ",") + text->get();
    }
    return set_text(kind, joined, into);
}

complaint set_text(const config_key& key, std::string_view text, config& into) {
    return std::visit([&](const auto& kind) { return set_text(kind, text, into); }, key.kind);
}

complaint set_node(const config_key& key, const toml::node& node, config& into) {
    if (const auto* const flag = std::get_if<flag_key>(&key.kind)) {
        if (!node.is_boolean()) return "must be true or false";
        flag->target(into) = node.as_boolean()->get();
        return {};
    }
    if (const auto* const uuids = std::get_if<uuids_key>(&key.kind)) {
        return set_list(*uuids, node, "UUIDs", into);
    }
    if (const auto* const blocks = std::get_if<addresses_key>(&key.kind)) {
        return set_list(*blocks, node, "addresses", into);
    }
    const auto* const kind = std::get_if<count_key>(&key.kind);
    if (const auto* const number = node.as_integer(); kind && number) {
        return set_number(*kind, number->get(), into);
    }
    if (const auto* const text = node.as_string(); text && (!kind || kind->bytes)) {
        return set_text(key, text->get(), into);
    }
    if (std::holds_alternative<duration_key>(key.kind)) {
        return "must be a duration with its unit, in quotes: \"250ms\", \"30s\" or \"7d\"";
    }
    return kind ? "must be a whole number" : "must be a text in quotes";
}

// ---- the three sources ----

class loader {
  public:
    explicit loader(const config_source& source) : source_(source) {}

    std::variant<config, std::vector<config_fault>> run() {
        if (source_.file) read_file(*source_.file);
        if (source_.environment) read_environment();
        read_flags();
        cross_check();
        find_master_key();
        if (!faults_.empty()) return std::move(faults_);
        return std::move(config_);
    }

  private:
    void read_file(const std::filesystem::path& path) {
        std::ifstream in(path, std::ios::binary);
        std::string text;
        for (char c = 0; in.get(c);) text += c;
        if (!in.is_open() || in.bad()) {
            faults_.push_back({path.string(), std::string("cannot be read: ") + strerror(errno)});
            return;
        }
        try {
            read_tables(toml::parse(text), path.string());
        } catch (const toml::parse_error& e) {
            faults_.push_back({path.string() + ":" + std::to_string(e.source().begin.line),
                               "is not TOML: " + std::string(e.description())});
        }
    }

    // toml++ keeps tables sorted by name; people read a list of faults from the top of the file.
    void read_tables(const toml::table& root, const std::string& file) {
        std::multimap<toml::source_index, std::function<void(const std::string&)>> by_line;
        for (const auto& [section, node] : root) {
            const std::string_view outer = section.str();
            const toml::table* const table = node.as_table();
            if (!table || !is_section(outer)) {
                by_line.emplace(node.source().begin.line, [this, outer](const std::string& where) {
                    faults_.push_back({where, "unknown section or key: " + std::string(outer)});
                });
                continue;
            }
            for (const auto& [name, value] : *table) {
                const std::string_view inner = name.str();
                by_line.emplace(value.source().begin.line,
                                [this, outer, inner, &value = value](const std::string& where) {
                                    read_node(outer, inner, value, where);
                                });
            }
        }
        for (const auto& [line, read] : by_line) read(file + ":" + std::to_string(line));
    }

    void read_node(std::string_view section, std::string_view name, const toml::node& value,
                   const std::string& where) {
        const config_key* const key = find(section, name);
        if (key) return note(*key, where, set_node(*key, value, config_));
        faults_.push_back({where, "unknown key: " + std::string(section).append(".").append(name)});
    }

    // An empty variable counts as not set: that is what `NAME=` means in most places that pass
    // an environment on.
    void read_environment() {
        for (const config_key& key : keys) {
            std::string name = "CALLSIGN_" + key.dotted();
            for (char& c : name)
                c = c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            const char* const value = source_.environment(name.c_str());
            if (value && *value) note(key, name, set_text(key, value, config_));
        }
    }

    void read_flags() {
        for (const auto& [dotted, value] : source_.flags) {
            const auto dot = dotted.find('.');
            const std::string_view name = std::string_view(dotted).substr(dot + 1);
            std::string flag = "--" + std::string(name);
            std::replace(flag.begin(), flag.end(), '_', '-');
            const config_key* const key = find(std::string_view(dotted).substr(0, dot), name);
            if (key) {
                note(*key, flag, set_text(*key, value, config_));
            } else {
                faults_.push_back({flag, "unknown key: " + dotted});
            }
        }
    }

    // What no key can say alone. Skipped where one of the two is faulty already.
    void cross_check() {
        require(
            "reaper.retention", "reaper.window", config_.reaper.retention > config_.reaper.window,
            "must be longer than reaper.window: a slot that is forgotten before it can be failed "
            "would let a retry make a second task");
        require("engine.account_depth_max", "engine.queue_depth_max",
                config_.engine.account_depth_max <= config_.engine.queue_depth_max,
                "must be at most engine.queue_depth_max: it is one account's part of it");
        require("http.account_bodies_bytes_max", "http.bodies_bytes_max",
                config_.http.account_bodies_bytes_max <= config_.http.bodies_bytes_max,
                "must be at most http.bodies_bytes_max: it is one account's part of it");
        const std::size_t body_max = config_.http.account_bodies_bytes_max;
        require("sync.segment_bytes_max", "http.account_bodies_bytes_max",
                config_.sync.segment_bytes_max <= body_max,
                "must be at most http.account_bodies_bytes_max: there would never be room for one");
        require("sync.snapshot_bytes_max", "http.account_bodies_bytes_max",
                config_.sync.snapshot_bytes_max <= body_max,
                "must be at most http.account_bodies_bytes_max: there would never be room for one");
        require("engine.account_bytes_max", "engine.queue_bytes_max",
                config_.engine.account_bytes_max <= config_.engine.queue_bytes_max,
                "must be at most engine.queue_bytes_max: it is one account's part of it");
        require("server.drain_timeout", "engine.request_deadline",
                config_.server.drain_timeout >= config_.engine.request_deadline,
                "must be at least engine.request_deadline: a shutdown would cut off requests that "
                "still have time");
    }

    // The faults name neither the key nor, since somebody may have put the key there, its file.
    void find_master_key() {
        constexpr const char* variable = "CALLSIGN_MASTER_KEY";
        const std::string key = "secrets.master_key_file";
        const std::filesystem::path& file = config_.secrets.master_key_file;
        const char* const digits = source_.environment ? source_.environment(variable) : nullptr;
        const bool in_environment = digits && *digits;
        if (in_environment) take_master_key(seal::parse_master_key(digits), variable, "");
        if (!file.empty()) {
            take_master_key(seal::read_master_key(file), origins_[key], key + ": ");
        }
        if (in_environment && !file.empty()) {
            faults_.push_back({variable, "the master key is given twice, here and by " + key +
                                             " (" + origins_[key] + "): leave out one"});
        }
    }

    void take_master_key(seal::master_key found, const std::string& where,
                         const std::string& prefix) {
        if (const auto* error = std::get_if<seal::master_key_error>(&found)) {
            faults_.push_back({where, prefix + std::string(seal::to_string(*error))});
            return;
        }
        config_.secrets.master_key =
            std::make_shared<const seal::key>(std::get<seal::key>(std::move(found)));
    }

    void require(const std::string& key, const std::string& other, bool holds, const char* text) {
        if (holds || faulty_.contains(key) || faulty_.contains(other)) return;
        const auto origin = origins_.contains(key) ? origins_.find(key) : origins_.find(other);
        faults_.push_back(
            {origin == origins_.end() ? "defaults" : origin->second, key + ": " + text});
    }

    void note(const config_key& key, const std::string& where, const complaint& wrong) {
        origins_[key.dotted()] = where;
        if (wrong.empty()) {
            faulty_.erase(key.dotted());
        } else {
            faulty_.insert(key.dotted());
            faults_.push_back({where, key.dotted() + ": " + wrong});
        }
    }

    static bool is_section(std::string_view name) {
        return std::any_of(keys.begin(), keys.end(),
                           [&](const config_key& k) { return k.section == name; });
    }

    static const config_key* find(std::string_view section, std::string_view name) {
        const auto* const found = std::find_if(keys.begin(), keys.end(), [&](const config_key& k) {
            return k.section == section && k.name == name;
        });
        return found == keys.end() ? nullptr : found;
    }

    const config_source& source_;
    config config_;
    std::vector<config_fault> faults_;
    std::map<std::string, std::string> origins_;  // key -> where its value came from last
    std::set<std::string> faulty_;
};

}  // namespace

std::span<const config_key> config_keys() {
    return keys;
}

std::string value_text(const config_key& key, const config& from) {
    config copy = from;
    struct {
        config& c;
        std::string operator()(const count_key& k) const {
            return count_text(
                k, std::visit([&](auto target) { return static_cast<std::int64_t>(target(c)); },
                              k.target));
        }
        std::string operator()(const duration_key& k) const {
            return in_quotes(to_duration_text(k.target(c)));
        }
        std::string operator()(const choice_key& k) const { return in_quotes(k.target(c)); }
        std::string operator()(const address_key& k) const { return in_quotes(k.target(c)); }
        std::string operator()(const path_key& k) const { return in_quotes(k.target(c).string()); }
        std::string operator()(const attribute_key& k) const { return in_quotes(k.target(c)); }
        std::string operator()(const flag_key& k) const { return k.target(c) ? "true" : "false"; }
        std::string operator()(const uuids_key& k) const { return list_text(k.target(c)); }
        std::string operator()(const addresses_key& k) const { return list_text(k.target(c)); }
    } const write{copy};
    return std::visit(write, key.kind);
}

std::variant<config, std::vector<config_fault>> load_config(const config_source& source) {
    return loader(source).run();
}

}  // namespace callsign::setup
