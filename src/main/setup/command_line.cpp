// The flags. Each but --config and --check-config is a key of the configuration.

#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

namespace callsign::setup {

std::optional<command_line> read_command_line(int argc, char** argv, int& exit_code) {
    CLI::App app{"Callsign: a sync server that gives every task a number people can say."};
    std::string config_file;
    std::string data_dir;
    std::string listen;
    command_line given;
    app.add_option("--config", config_file, "Configuration file (TOML)");
    app.add_option("--data-dir", data_dir, "Where everything is kept");
    app.add_option("--listen", listen, "ADDRESS:PORT; port 0 takes a free one");
    app.add_flag("--check-config", given.check_config, "Check the configuration and end");
    app.set_version_flag("--version", "callsignd " CALLSIGN_VERSION);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        exit_code = app.exit(e) == 0 ? 0 : exit_bad_configuration;
        return std::nullopt;
    }
    if (!config_file.empty()) given.source.file = config_file;
    given.source.environment = [](const char* name) -> const char* { return std::getenv(name); };
    if (app.count("--data-dir") > 0) given.source.flags.emplace_back("store.data_dir", data_dir);
    if (app.count("--listen") > 0) given.source.flags.emplace_back("server.listen", listen);
    return given;
}

}  // namespace callsign::setup
