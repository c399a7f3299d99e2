// The options. Each but --config and --check-config is a configuration key.

#include "command_line.hpp"

#include <callsign/base/nearest.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

extern "C" char** environ;

namespace callsign::setup {
namespace {

// CLI11 writes into it by reference.
struct flags {
    std::string config_file;
    std::string data_dir;
    std::string listen;
    bool check_config = false;
};

constexpr const char* about = "Sync server that gives every task a short key such as SYN-42.";

void define(CLI::App& app, flags& f) {
    app.add_option("--config", f.config_file, "Configuration file (TOML)")->type_name("FILE");
    app.add_option("--data-dir", f.data_dir, "Data directory")->type_name("DIR");
    app.add_option("--listen", f.listen,
                   "Address to listen on, as ADDRESS:PORT (port 0: any free port)");
    app.add_flag("--check-config", f.check_config, "Check the configuration and exit");
    app.set_version_flag("--version", "callsignd " CALLSIGN_VERSION);
}

// Returns a sentence on the first unknown option; empty: all are known.
std::string misspelt_option(const CLI::App& app, int argc, char** argv) {
    std::vector<std::string> known;
    for (const CLI::Option* const each : app.get_options()) {
        for (const std::string& name : each->get_lnames()) known.push_back("--" + name);
    }
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const std::string name(word.substr(0, word.find('=')));
        const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
        if (!name.starts_with("--") || is_known) continue;
        return "callsignd: unknown option '" + name + "'" + did_you_mean(name, known) +
               " (callsignd --help)\n";
    }
    return {};
}

}  // namespace

void show_definitions(const std::function<void(const CLI::App&)>& to) {
    flags f;
    CLI::App app(about, "callsignd");
    define(app, f);
    to(app);
}

std::optional<command_line> read_command_line(int argc, char** argv, int& exit_code) {
    flags f;
    CLI::App app(about);
    define(app, f);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        const std::string misspelt = misspelt_option(app, argc, argv);
        if (!misspelt.empty()) std::cerr << misspelt;
        exit_code = (misspelt.empty() ? app.exit(e) : 1) == 0 ? 0 : exit_bad_configuration;
        return std::nullopt;
    }
    command_line given;
    given.check_config = f.check_config;
    if (!f.config_file.empty()) given.source.file = f.config_file;
    given.source.environment = [](const char* name) -> const char* { return std::getenv(name); };
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        given.source.variables.emplace_back(text.substr(0, text.find('=')));
    }
    if (app.count("--data-dir") > 0) given.source.flags.emplace_back("store.data_dir", f.data_dir);
    if (app.count("--listen") > 0) given.source.flags.emplace_back("server.listen", f.listen);
    return given;
}

}  // namespace callsign::setup
