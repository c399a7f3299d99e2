#include "failure.hpp"
#include "run.hpp"

#include <callsign/cli/cli.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>
#include <utility>

extern "C" char** environ;

namespace callsign::cli {

namespace {

void fill_from_system(std::span<std::uint8_t> bytes) {
    // Up to 256 bytes are returned as a whole or not at all.
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        throw failure("cannot read random bytes from the system");
    }
}

std::filesystem::path this_program() {
    std::error_code unknown;
    return std::filesystem::read_symlink("/proc/self/exe", unknown);
}

// Some terminals do not know their width.
std::size_t columns_of_terminal() {
    winsize size{};
    const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_known ? size.ws_col : 80;
}

std::vector<std::string> names_of_environment() {
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        names.emplace_back(text.substr(0, text.find('=')));
    }
    return names;
}

}  // namespace

int run(int argc, const char* const* argv, local_files files) {
    const cli_context around{
        .in = std::cin,
        .out = std::cout,
        .err = std::cerr,
        .in_is_terminal = isatty(STDIN_FILENO) == 1,
        .err_is_terminal = isatty(STDERR_FILENO) == 1,
        .environment = [](const char* name) -> const char* { return std::getenv(name); },
        .exchange = exchange,
        .files = std::move(files),
        .random = fill_from_system,
        .now = [] { return std::chrono::floor<milliseconds>(std::chrono::system_clock::now()); },
        .exchange_in_time =
            [](const server_url& server, const http_call& call, milliseconds timeout) {
                return in_time(timeout, [&] { return exchange(server, call, timeout); });
            },
        .run_program = run_program,
        .program = this_program(),
        .out_is_terminal = isatty(STDOUT_FILENO) == 1,
        .columns = columns_of_terminal,
        .elapsed =
            [] {
                return std::chrono::duration_cast<milliseconds>(
                    std::chrono::steady_clock::now().time_since_epoch());
            },
        .variables = names_of_environment(),
    };
    return run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), around);
}

}  // namespace callsign::cli
