// The flags. Each but --config and --check-config is a key of the configuration.

#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

namespace callsign::setup {
namespace {

// CLI11 writes into it by reference.
struct flags {
    std::string config_file;
    std::string data_dir;
    std::string listen;
    bool check_config = false;
};

constexpr const char* about =
    "Callsign: a sync server that gives every task a number people can say.";

void define(CLI::App& app, flags& f) {
    app.add_option("--config", f.config_file, "Configuration file (TOML)")->type_name("FILE");
    app.add_option("--data-dir", f.data_dir, "Where everything is kept")->type_name("DIR");
    app.add_option("--listen", f.listen, "ADDRESS:PORT; port 0 takes a free one");
    app.add_flag("--check-config", f.check_config, "Check the configuration and end");
    app.set_version_flag("--version", "callsignd " CALLSIGN_VERSION);
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
        exit_code = app.exit(e) == 0 ? 0 : exit_bad_configuration;
        return std::nullopt;
    }
    command_line given;
    given.check_config = f.check_config;
    if (!f.config_file.empty()) given.source.file = f.config_file;
    given.source.environment = [](const char* name) -> const char* { return std::getenv(name); };
    if (app.count("--data-dir") > 0) given.source.flags.emplace_back("store.data_dir", f.data_dir);
    if (app.count("--listen") > 0) given.source.flags.emplace_back("server.listen", f.listen);
    return given;
}

}  // namespace callsign::setup
