#include "input.hpp"

#include "failure.hpp"
#include "text.hpp"

#include <callsign/base/describe_file_error.hpp>

#include <cerrno>
#include <fstream>

namespace callsign::cli {

std::string read_input(const cli_context& around, const std::string& file) {
    if (file == "-") return read_all(around.in);
    const auto fail = [&](int error) {
        throw failure("cannot read " + file + ": " + describe_file_error(file, error));
    };
    std::error_code unknown;
    if (std::filesystem::is_directory(file, unknown)) fail(EISDIR);
    std::ifstream in(file, std::ios::binary);
    if (!in.is_open()) fail(errno);
    std::string text = read_all(in);
    if (in.bad()) fail(errno);
    return text;
}

}  // namespace callsign::cli
