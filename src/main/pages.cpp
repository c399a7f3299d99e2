// Writes man pages and shell completions of both programs, during the build.
//   write_pages FOLDER DATE

#include "pages/pages.hpp"

#include "setup/command_line.hpp"

#include <callsign/cli/cli.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace callsign {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream out(file);
    out << text << std::flush;
    if (!out) throw std::runtime_error("cannot write " + file.string());
}

void write_all(const fs::path& folder, const pages::command& program, const pages::page_text& text,
               const pages::release& release) {
    const std::string& name = program.name;
    write(folder / "man" / (name + "." + text.section), pages::man_page(program, text, release));
    write(folder / "bash" / name, pages::bash_completion(program));
    write(folder / "zsh" / ("_" + name), pages::zsh_completion(program));
    write(folder / "fish" / (name + ".fish"), pages::fish_completion(program));
}

}  // namespace
}  // namespace callsign

int main(int argc, char** argv) {
    using namespace callsign;
    if (argc != 3) {
        std::cerr << "usage: write_pages FOLDER DATE\n";
        return 2;
    }
    const pages::release release{CALLSIGN_VERSION, argv[2]};
    try {
        cli::show_definitions([&](const CLI::App& app) {
            write_all(argv[1], pages::definition_of(app), pages::callsign_text, release);
        });
        setup::show_definitions([&](const CLI::App& app) {
            write_all(argv[1], pages::definition_of(app), pages::callsignd_text, release);
        });
    } catch (const std::exception& e) {
        std::cerr << "write_pages: " << e.what() << "\n";
        return 1;
    }
}
