// Loads the configuration: the file, the environment, the flags, then checks across keys.

#include "config.hpp"

#include "config_keys.hpp"
#include "config_values.hpp"
#include "environment_names.hpp"

#include <callsign/base/describe_file_error.hpp>
#include <callsign/base/nearest.hpp>
#include <callsign/net/certificate.hpp>
#include <callsign/seal/master_key.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <toml++/toml.h>

namespace callsign::setup {
namespace {

// ---- a value of the file ----

complaint set_list(const config_key& key, const toml::node& node, const std::string& elements,
                   config& into) {
    if (!node.is_array()) return "must be a list of " + elements + ": []";
    std::string joined;
    for (const toml::node& entry : *node.as_array()) {
        const auto* const text = entry.as_string();
        if (!text) return "must be a list of " + elements + " in quotes";
        joined += (joined.empty() ? "" : ",") + text->get();
    }
    return set_text(key, joined, into);
}

complaint set_node(const config_key& key, const toml::node& node, config& into) {
    if (const auto* const flag = std::get_if<flag_key>(&key.kind)) {
        if (!node.is_boolean()) return "must be true or false";
        flag->target(into) = node.as_boolean()->get();
        return {};
    }
    if (std::holds_alternative<uuids_key>(key.kind)) return set_list(key, node, "UUIDs", into);
    if (std::holds_alternative<origins_key>(key.kind)) return set_list(key, node, "origins", into);
    if (std::holds_alternative<addresses_key>(key.kind)) {
        return set_list(key, node, "addresses", into);
    }
    if (const auto* const ratio = std::get_if<ratio_key>(&key.kind)) {
        const auto value = node.value<double>();
        if (!value || node.is_string()) return "must be a number such as 0.99";
        return set_ratio(*ratio, *value, into);
    }
    const auto* const kind = std::get_if<count_key>(&key.kind);
    if (const auto* const number = node.as_integer(); kind && number) {
        return set_number(*kind, number->get(), into);
    }
    if (const auto* const text = node.as_string(); text && (!kind || kind->bytes)) {
        return set_text(key, text->get(), into);
    }
    if (const auto* const chosen = std::get_if<chosen_duration_key>(&key.kind)) {
        return "must be \"" + std::string(chosen->word) +
               "\" or a duration with its unit, in quotes: \"250ms\", \"30s\" or \"7d\"";
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

    config_reading run() {
        if (source_.file) read_file(*source_.file);
        if (source_.environment) read_environment();
        read_flags();
        cross_check();
        find_master_key();
        find_certificate();
        return {std::move(config_), std::move(faults_)};
    }

  private:
    void read_file(const std::filesystem::path& path) {
        std::error_code unknown;
        const bool is_folder = std::filesystem::is_directory(path, unknown);
        std::ifstream in(path, std::ios::binary);
        std::string text;
        for (char c = 0; !is_folder && in.get(c);) text += c;
        if (is_folder || !in.is_open() || in.bad()) {
            const int error = is_folder ? EISDIR : errno;
            faults_.push_back(
                {path.string(), "cannot be read: " + describe_file_error(path, error)});
            return;
        }
        try {
            read_tables(toml::parse(text), path.string());
        } catch (const toml::parse_error& e) {
            faults_.push_back({path.string() + ":" + std::to_string(e.source().begin.line),
                               "is not TOML: " + std::string(e.description())});
        }
    }

    // toml++ sorts tables by name; errors are listed in the order of the file.
    void read_tables(const toml::table& root, const std::string& file) {
        std::multimap<toml::source_index, std::function<void(const std::string&)>> by_line;
        for (const auto& [section, node] : root) {
            const std::string_view outer = section.str();
            const toml::table* const table = node.as_table();
            if (!table || !is_section(outer)) {
                by_line.emplace(node.source().begin.line, [this, outer](const std::string& where) {
                    faults_.push_back({where, "unknown section or key: " + std::string(outer) +
                                                  did_you_mean(outer, section_names())});
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
        const std::string dotted = std::string(section).append(".").append(name);
        faults_.push_back({where, "unknown key: " + dotted + did_you_mean(dotted, key_names())});
    }

    // An empty variable counts as unset: that is what `NAME=` means in most places that pass an
    // environment on.
    void read_environment() {
        for (const config_key& key : config_keys()) {
            const std::string name = variable_of(key.dotted());
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

    // Checks across keys. A check is skipped if one of its keys has an error.
    void cross_check() {
        check_window();
        check_store();
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
        require("remote.answer_bytes_max", "remote.answers_bytes_max",
                config_.remote.calls.answer_bytes_max <= config_.remote.calls.answers_bytes_max,
                "must be at most remote.answers_bytes_max: there would never be room for one");
        require("engine.account_bytes_max", "engine.queue_bytes_max",
                config_.engine.account_bytes_max <= config_.engine.queue_bytes_max,
                "must be at most engine.queue_bytes_max: it is one account's part of it");
        require("server.drain_timeout", "engine.request_deadline",
                config_.server.drain_timeout >= config_.engine.request_deadline,
                "must be at least engine.request_deadline: a shutdown would cut off requests that "
                "still have time");
    }

    void check_store() {
        const bool copies = config_.postgres.url.empty() || config_.backup.directory.empty();
        require("backup.directory", "store.url", copies,
                "must be empty: a PostgreSQL database is backed up by its own tools");
    }

    void check_window() {
        const reaper_options& r = config_.reaper;
        if (r.window) {
            require("reaper.retention", "reaper.window", r.retention > *r.window,
                    "must be longer than reaper.window: a slot that is forgotten before it can be "
                    "failed would let a retry make a second task");
        } else {
            require("reaper.retention", "reaper.window_max", r.retention > r.automatic.window_max,
                    "must be longer than reaper.window_max, which the window may come to: a slot "
                    "that is forgotten before it can be failed would let a retry make a second "
                    "task");
        }
        require("reaper.window_min", "reaper.window_max",
                r.automatic.window_min <= r.automatic.window_max,
                "must be at most reaper.window_max");
    }

    // The errors contain neither the key nor the file's name, which may be the key by mistake.
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
            std::make_shared<const seal::key_ring>(std::get<seal::key_ring>(std::move(found)));
    }

    void find_certificate() {
        const tls_options& t = config_.tls;
        require("tls.certificate", "tls.key", t.key.empty() || !t.certificate.empty(),
                "must be given with tls.key");
        require("tls.key", "tls.certificate", t.certificate.empty() || !t.key.empty(),
                "must be given with tls.certificate");
        if (t.certificate.empty() || t.key.empty()) return;
        auto loaded = net::load_certificate(t.certificate, t.key);
        if (const auto* faults = std::get_if<std::vector<net::certificate_fault>>(&loaded)) {
            for (const net::certificate_fault& fault : *faults) {
                const std::string key = fault.of_key ? "tls.key" : "tls.certificate";
                const std::string file = (fault.of_key ? t.key : t.certificate).string();
                faults_.push_back({origins_[key], key + ": " + file + " " + fault.text});
            }
            return;
        }
        auto& found = std::get<net::server_certificate>(loaded);
        config_.http.tls = std::move(found.context);
        config_.tls.expires = found.expires;
        config_.api.speaks_tls = true;
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

    static std::vector<std::string> key_names() {
        std::vector<std::string> names;
        for (const config_key& key : config_keys()) names.push_back(key.dotted());
        return names;
    }

    static std::vector<std::string> section_names() {
        std::vector<std::string> names;
        for (const config_key& key : config_keys()) names.emplace_back(key.section);
        return names;
    }

    static bool is_section(std::string_view name) {
        const auto keys = config_keys();
        return std::any_of(keys.begin(), keys.end(),
                           [&](const config_key& k) { return k.section == name; });
    }

    static const config_key* find(std::string_view section, std::string_view name) {
        const auto keys = config_keys();
        const auto found = std::find_if(keys.begin(), keys.end(), [&](const config_key& k) {
            return k.section == section && k.name == name;
        });
        return found == keys.end() ? nullptr : &*found;
    }

    const config_source& source_;
    config config_;
    std::vector<config_fault> faults_;
    std::map<std::string, std::string> origins_;  // key -> source of its last value
    std::set<std::string> faulty_;
};

}  // namespace

config_reading read_config(const config_source& source) {
    return loader(source).run();
}

std::variant<config, std::vector<config_fault>> load_config(const config_source& source) {
    config_reading reading = read_config(source);
    if (!reading.faults.empty()) return std::move(reading.faults);
    return std::move(reading.read);
}

}  // namespace callsign::setup
